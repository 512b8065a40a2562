"""The forms for trusted queries and for trainings: what they make of every kind, and what they refuse."""

from __future__ import annotations

import html
import importlib
import json
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from factories import given_dataset, policy_fields, table_fields
from page_forms import Page
from serving import Console, Visitor, running_console, words
from told_releases import MODEL, give_model

from domain.job import own_id
from domain.states import JobState
from domain.training import AskedModel, TrainingRequest
from dpgate.cli.app import run
from dpgate.cli.exit_codes import ExitCode
from store import jobs, ledger, users

DOCS = Path(__file__).parents[2] / "docs"
PLACE, TRAINING = "/datasets/heights/ask", "/datasets/heights/train"
MEAN = {"kind": "mean", "column": "age", "epsilon": "0.5", "table": "participants.tsv"}


@pytest.fixture(scope="module")
def asked_console(
    told_database: Path, redis_socket: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Console]:
    path = shutil.copy(told_database, tmp_path_factory.mktemp("asked") / "dpgate.db")
    with running_console(f"sqlite:///{path}", redis_socket) as console:
        yield console


@pytest.fixture
def ada(asked_console: Console) -> Iterator[Visitor]:
    with asked_console.visit("ada") as visitor:
        yield visitor


def send(visitor: Visitor, action: str = "check", **fields: Any) -> Any:
    data = {"csrf": visitor.hidden_field(), "action": action, **MEAN, **fields}
    return visitor.client.post(PLACE, data=data)


def accounts(console: Console) -> list[tuple[int, int]]:
    with console.database.reading() as connection:
        return [(a.reserved, a.spent) for a in ledger.list_accounts(connection, cohort="heights")]


KINDS = {
    "count": ({"kind": "count", "column": ""}, "releases: count"),
    "sum": ({"kind": "sum"}, "releases: sum"),
    "mean": ({}, "releases: mean; count"),
    "narrower": ({"lower": "20", "upper": "60"}, "releases: mean; count"),
    "variance": ({"kind": "variance"}, "releases: variance; mean; count"),
    "histogram": ({"kind": "histogram", "bins": "2"}, "releases: 16..53; 53..90"),
    "quantile": ({"kind": "quantile", "probabilities": "0.25, .5"}, "quantile 0.25; quantile 0.5"),
    "covariance": ({"kind": "covariance", "columns": ["age", "height"]}, "cov(age, height)"),
    "regression": (
        {"kind": "regression", "column": "height", "columns": ["age", "height"]},
        "releases: intercept; slope(age); count",
    ),
    "grouped": ({"by": ["sex"]}, "f: mean; f: count; m: mean"),
    "conditions": (
        {
            "where-column-0": "sex", "where-operator-0": "in", "where-value-0": "f, m",
            "where-column-1": "age", "where-operator-1": ">=", "where-value-1": "30",
        },
        "releases: mean; count",
    ),
    "many rows": (
        {"table": "visits.csv", "column": "score", "contribution": "rows", "rows": "2"},
        "releases: mean; count",
    ),
}  # fmt: skip


def test_every_kind_says_what_it_releases_and_costs(ada: Visitor, subtests: pytest.Subtests):
    for name, (fields, released) in KINDS.items():
        with subtests.test(name=name):
            answer = send(ada, **fields)
            assert answer.status_code == 200, words(answer)
            assert released in words(answer)
            assert "It costs 0.5 epsilon" in words(answer)
            left = min(map(float, re.findall(r"([0-9.]+) of [0-9.]+ epsilon left", words(answer))))
            assert f"is enough for about {left // 0.5:.0f} questions like this one" in words(answer)
            assert "Differential privacy" in words(answer), "the promise's class stands beside the number"


def test_a_first_question_takes_the_clicks_that_are_counted(ada: Visitor, monkeypatch: pytest.MonkeyPatch):
    """In the table of what it takes a person, which is made from the page that leads there."""
    monkeypatch.syspath_prepend(DOCS)
    effort = importlib.import_module("effort_table")
    _, ask, price, submit = effort.FIRST_QUESTION.clicks
    assert linked(ada.get("/").text, "Heights and memory in a small town") == "/datasets/heights"
    assert linked(ada.get("/datasets/heights").text, ask) == PLACE
    assert pressed(ada.get(PLACE).text, price) == "check"
    assert pressed(send(ada).text, submit) == "submit"
    job = send(ada, "submit", job_id="job-first-question", epsilon="0.03").headers["location"]
    assert job == f"/jobs/{own_id('ada', 'job-first-question')}"
    assert linked(ada.get(f"/jobs/{MODEL}").text, effort.READ) == f"/jobs/{MODEL}/release"
    # what somebody new is promised
    assert len(effort.FIRST_QUESTION.clicks) <= 4
    assert effort.OWN_RELEASE.commands == 4


def test_noise_that_drowns_the_answer_is_asked_back(ada: Visitor, asked_console: Console) -> None:
    said = "The noise on mean, count reaches half of the range"
    before = accounts(asked_console)
    assert "each number by" in words(send(ada, kind="count"))
    assert said not in words(send(ada))
    assert said in words(send(ada, epsilon="0.001"))
    told = send(ada, "submit", job_id="job-drowned", epsilon="0.001")
    assert told.status_code == 200
    assert said in words(told)
    assert 'name="anyway" value="yes"' in told.text
    assert accounts(asked_console) == before
    assert send(ada, "submit", job_id="job-drowned", epsilon="0.001", anyway="yes").status_code == 303


def linked(page: str, label: str) -> str:
    """Where the link with this label leads."""
    found = re.search(rf'<a [^>]*href="([^"]+)"[^>]*>(?:(?!</a>).)*{re.escape(label)}', page, re.DOTALL)
    assert found, f"no link {label!r}"
    return found[1]


def pressed(page: str, label: str) -> str:
    """What the button with this label sends as the action."""
    found = re.search(
        rf'<button [^>]*value="(\w+)"[^>]*>(?:(?!</button>).)*{re.escape(label)}', page, re.DOTALL
    )
    assert found, f"no button {label!r}"
    return found[1]


REFUSED = {
    "no epsilon": ({"epsilon": ""}, "epsilon"),
    "epsilon as words": ({"epsilon": "a little"}, "epsilon"),
    "too much": ({"epsilon": "1.5"}, "over the 1 that the policy"),
    "no kind": ({"kind": "secret"}, "kind: "),
    "a column of another table": ({"column": "score"}, "is not a column of participants.tsv"),
    "bounds that are wider": ({"lower": "-5"}, "are not inside those declared"),
    "bounds reversed": ({"lower": "60", "upper": "20"}, "lower must be less than upper"),
    "bounds that are none": ({"upper": "old"}, "is not a number"),
    "bins that are none": ({"kind": "histogram", "bins": "ten"}, "is not a whole number"),
    "a share beyond one": ({"kind": "quantile", "probabilities": "1.5"}, "between 0 and 1"),
    "one column together": ({"kind": "covariance", "columns": ["age"]}, "columns: "),
    "an unknown category": (
        {"where-column-0": "sex", "where-operator-0": "=", "where-value-0": "x"},
        "is not a declared category",
    ),
    "an order of categories": (
        {"where-column-0": "sex", "where-operator-0": "<", "where-value-0": "f"},
        "which have no order",
    ),
    "a word for a number": (
        {"where-column-0": "age", "where-operator-0": "<", "where-value-0": "old"},
        "is compared with a number",
    ),
    "too many groups": ({"by": ["sex", "site", "sex"]}, "named twice"),
}


def test_a_wrong_field_is_named_kept_and_costs_nothing(
    asked_console: Console, ada: Visitor, subtests: pytest.Subtests
):
    before = accounts(asked_console)
    for name, (fields, problem) in REFUSED.items():
        for action in ("check", "submit"):
            with subtests.test(name=name, action=action):
                answer = send(ada, action, job_id="job-asked-0000", **fields)
                assert answer.status_code == 422, words(answer)
                assert problem in words(answer)
                epsilon = fields.get("epsilon", "0.5")
                kept = f'name="epsilon" inputmode="decimal" autocomplete="off" value="{epsilon}"'
                assert kept in answer.text
    assert accounts(asked_console) == before


UNTRAINABLE = {
    "epsilon of nearly nothing": ({"epsilon": "0.000000001"}, "epsilon"),
    "epsilon that no noise gives": ({"epsilon": "0.00001"}, "below 0.001, the smallest"),
    "too much": ({"epsilon": "1.5"}, "over the 1 that the policy"),
    "a delta that is large": ({"delta": "0.001"}, "a tenth of one in the nominal size"),
    "more than all people": ({"batch": "601"}, "expected batch is from 1 to the nominal number"),
    "three told as two": ({"kind": "logistic"}, "logistic tells two apart"),
    "a number as a class": ({"target": "age"}, "not categorical"),
    "no feature": ({"feature": []}, "features: "),
    "only the target": ({"feature": ["sex"]}, "features: "),
    "bounds that are wider": ({"upper-0": "1000"}, "features, age: the bounds"),
    "bounds reversed": ({"lower-0": "60", "upper-0": "20"}, "features, age: lower must be less"),
    "bounds that are none": ({"lower-2": "nan"}, "features, height, lower: is not a number"),
    "a million nodes": ({"hidden": "1000000"}, "hidden: "),
    "half a step": ({"steps": "1.5"}, "steps: is not a whole number"),
    "a clip without end": ({"clip": "inf"}, "clip: is not a number"),
}


ASKED_ELSEWHERE: dict[str, tuple[dict[str, Any], str, str]] = {
    "no bounds": ({"features": ["age", "participant_id"]}, "0.5", "participant_id is not integer or number"),
    "one class": ({"kind": "logistic"}, "0.5", "logistic tells two apart"),
    "more than all people": ({"batch": 601}, "0.5", "expected batch is from 1 to the nominal number"),
    "a million features": ({"features": ["age"] * 10**6}, "0.5", "4096 KiB"),
    "a clip that is no number": ({"clip": float("nan")}, "0.5", "number"),
    "epsilon of nearly nothing": ({}, "0.000000001", "epsilon"),
}
"""The same by the interface and by the command; a program and a file may say more than a form."""


def train(visitor: Visitor, action: str, job_id: str = "job-trained-00", **fields: Any) -> Any:
    """The form as the page shows it, with what was changed."""
    shown = visitor.get(TRAINING)
    form = next(form for form in Page(shown.text).forms if form.method == "post" and "target" in form.names)
    data: dict[str, Any] = {name: value for name, kind, value in form.fields if kind == "text"}
    data |= {"table": "participants.tsv", "target": "sex", "kind": "softmax", "average": "yes"}
    data |= {"feature": ["age", "height", "sex"], "epsilon": "0.5", "job_id": job_id, "action": action}
    return visitor.client.post(TRAINING, data=data | {"csrf": visitor.hidden_field()} | fields)


def test_a_training_that_cannot_be_names_what_is_wrong_and_costs_nothing(
    asked_console: Console,
    ada: Visitor,
    subtests: pytest.Subtests,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
):
    before = accounts(asked_console)
    for name, (fields, problem) in UNTRAINABLE.items():
        with subtests.test(name=name):
            answer = train(ada, "submit", **fields)
            assert answer.status_code == 422, words(answer)
            assert problem in words(answer)
    monkeypatch.setenv("DPGATE_URL", asked_console.url)
    with asked_console.database.transaction() as connection:
        token = users.renew_token(connection, name="ada")
    monkeypatch.setenv("DPGATE_TOKEN", token)
    price = {"dataset": "heights", "delta": "0.000001"}
    for name, (changed, epsilon, problem) in ASKED_ELSEWHERE.items():
        with subtests.test(name=name):
            model = {"kind": "softmax", "target": "sex", "features": ["age"], "batch": 64, **changed}
            body = json.dumps(price | {"model": model, "epsilon": epsilon})
            told = httpx.put(
                f"{asked_console.url}/api/v1/jobs/job-trained-02",
                content=body,
                headers={"authorization": f"Bearer {token}", "content-type": "application/json"},
            )
            assert told.status_code in (413, 422)
            assert problem in told.text
            (tmp_path / "model.yaml").write_text(json.dumps(model))
            options = ("--dataset", "heights", "--epsilon", epsilon, "--delta", "0.000001", "--json")
            assert run(["train", "submit", str(tmp_path / "model.yaml"), *options]) == ExitCode.USAGE
            assert problem in capsys.readouterr().out
    assert accounts(asked_console) == before
    # one line, and no form, where the policy admits none
    refused = ada.get("/datasets/commuters/train")
    assert "No model can be asked for here: commuters accounts in rho" in words(refused)
    assert 'name="target"' not in refused.text
    data = {"csrf": ada.hidden_field(), "action": "submit", "epsilon": "0.5", "job_id": "job-trained-01"}
    assert ada.client.post("/datasets/commuters/train", data=data).status_code == 422


def test_a_training_is_proposed_priced_and_submitted_once(asked_console: Console, ada: Visitor):
    told = words(train(ada, "check"))
    for part in (
        "softmax model of sex", "Approximate differential privacy",
        "and releases 9 weights over 2 inputs", "0.00001 delta",
        "seconds from its turn", "The rights holder approves it first.", "dpgate train try",
    ):  # fmt: skip
        assert part in told
    for _ in range(2):
        answer = train(ada, "submit", **{"lower-0": "18", "hidden": "8, 4", "delta": "0.000001"})
        assert answer.headers["location"] == f"/jobs/{own_id('ada', 'job-trained-00')}", words(answer)
    with asked_console.database.reading() as connection:
        asked = jobs.get(connection, own_id("ada", "job-trained-00")).request
    assert isinstance(asked, TrainingRequest)
    # declared bounds are left out: the same question is free, however it was asked
    assert asked.model == AskedModel.model_validate(
        {
            "kind": "softmax",
            "target": "sex",
            "batch": 64,
            "hidden": [8, 4],
            "features": [{"name": "age", "lower": 18}, "height"],
        }
    )  # fmt: skip
    assert "Steps 500" in words(ada.get(f"/jobs/{own_id('ada', 'job-trained-00')}"))


def test_a_wide_table_sends_no_more_fields_than_a_form_may_have(asked_console: Console, ada: Visitor):
    person, sex = {"name": "participant_id", "kind": "person"}, {"name": "sex", "kind": "categorical"}
    for size in (899, 900):
        numbers = [{"name": f"c{number}", "kind": "number", "lower": 0, "upper": 1} for number in range(size)]
        columns = [person, sex | {"categories": ["f", "m"]}, *numbers]
        tables = [table_fields(columns=columns)]
        policy = policy_fields(guarantees=["approx_dp"])
        with asked_console.database.transaction() as connection:
            given_dataset(
                connection, name=f"wide-{size}", tables=tables, policy=policy, budget_delta="0.00001"
            )
    unit = "participants.tsv has 901 columns to choose from, more than a form sends"
    assert unit in words(ada.get("/datasets/wide-900/train"))
    place = "/datasets/wide-899/train"
    form = next(form for form in Page(ada.get(place).text).forms if "feature" in form.names)
    data = {name: value for name, _, value in form.fields} | {"kind": "logistic", "target": "sex"}
    data |= {"feature": [value for name, _, value in form.fields if name == "feature"], "epsilon": "0.5"}
    answer = ada.client.post(place, data=data | {"action": "check"})
    assert "over 899 inputs" in words(answer), words(answer)[:600]


def test_a_training_whose_release_comes_late_asks_for_a_tick(asked_console: Console, ada: Visitor):
    with asked_console.database.transaction() as connection:
        policy = policy_fields(guarantees=["approx_dp"])
        given_dataset(connection, name="nation", nominal_size=25_000_000, policy=policy, budget_delta="1e-8")
    place = "/datasets/nation/train"
    form = next(form for form in Page(ada.get(place).text).forms if "target" in form.names)
    data = {name: value for name, kind, value in form.fields if kind in ("text", "hidden")}
    data |= {"target": "sex", "kind": "softmax", "feature": "age", "epsilon": "0.5", "delta": "1e-9"}
    data |= {"batch": "64", "job_id": "job-nation-1"}
    for action in ("check", "submit"):
        told = words(ada.client.post(place, data=data | {"action": action}))
        assert "The release is due after about" in told, told[:800]
        assert "Submit it all the same" in told
    answer = ada.client.post(place, data=data | {"action": "submit", "anyway": "yes"})
    assert answer.headers["location"] == f"/jobs/{own_id('ada', 'job-nation-1')}", words(answer)


def test_a_released_model_has_its_card_also_in_review(asked_console: Console, ada: Visitor):
    shown = words(ada.get(f"/jobs/{MODEL}/release"))
    for part in (
        "Model card",
        "2 to 4 to 3, 27 weights",
        "1.5 to 2",
        "model.npz",
        "gradient is clipped 1",
        "Steps 500",
    ):
        assert part in shown
    assert "[{'age': 53.0, 'height': 1.75}]" in html.unescape(shown)
    assert ada.get(f"/jobs/{MODEL}/files/model.npz").content[:2] == b"PK"
    with asked_console.database.transaction() as connection:
        give_model(connection, datetime.now(UTC), "job-model-read", JobState.IN_REVIEW, epsilon="0.25")
    with asked_console.visit("holder") as holder:
        review = words(holder.get("/reviews/job-model-read"))
    assert "2 to 4 to 3, 27 weights" in review
    assert "dpgate review job-model-read --json" in review


def test_sent_twice_it_is_one_job(console: Console):
    with console.visit("ada") as visitor:
        shown = visitor.get(PLACE)
        found = re.search(r'name="job_id" value="([0-9a-f-]{36})"', shown.text)
        assert found
        for _ in range(2):
            answer = send(visitor, "submit", job_id=found[1])
            assert answer.headers["location"] == f"/jobs/{own_id('ada', found[1])}"
        assert console.state(own_id("ada", found[1])) is JobState.SUBMITTED
        with console.database.reading() as connection:
            asked = jobs.get(connection, own_id("ada", found[1])).request
        assert asked.title == "mean of age"


def test_the_id_of_another_job_is_not_taken(asked_console: Console, ada: Visitor):
    from story import RELEASED

    assert send(ada, "submit", job_id=RELEASED).status_code == 409
    assert send(ada, "submit", job_id="../x").status_code == 422
