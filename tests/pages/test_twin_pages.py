"""The page of better twins: what it shows before anything is spent, and what its buttons do."""

from __future__ import annotations

import io
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from factories import make_user
from made_counts import given_counts
from serving import Console, Visitor, running_console, words

from domain.permissions import Role
from domain.states import JobState
from domain.twin import README
from store import datasets, ledger, twins

PLACE = "/datasets/heights/twins"
FORM = {"level-0": "1", "level-1": "0", "epsilon": "1", "rows": "1", "action": "plan"}
HOLDER = make_user("holder", Role.RIGHTS_HOLDER)


@pytest.fixture(scope="module")
def twin_console(
    told_database: Path, redis_socket: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Console]:
    path = shutil.copy(told_database, tmp_path_factory.mktemp("twins") / "dpgate.db")
    with running_console(f"sqlite:///{path}", redis_socket) as console:
        yield console


@pytest.fixture
def holder(twin_console: Console) -> Iterator[Visitor]:
    with twin_console.visit("holder") as visitor:
        yield visitor


def send(visitor: Visitor, path: str = PLACE, **fields: Any) -> Any:
    return visitor.client.post(path, data={"csrf": visitor.hidden_field(), **fields})


def account(console: Console) -> tuple[int, int]:
    with console.database.reading() as connection:
        (found,) = [
            a for a in ledger.list_accounts(connection, cohort="heights")
            if a.kind == "cohort" and a.currency == "epsilon"
        ]  # fmt: skip
    return found.reserved, found.spent


def test_it_says_what_data_users_get_now(holder: Visitor):
    shown = words(holder.client.get(PLACE))
    assert "level 0: Blank form" in shown
    assert "0: Blank form Made without opening your data. Shows: nothing" in shown
    assert "Each column looks right, columns do not belong together" in shown
    assert "Columns and their strongest pairs look right" in shown


def test_a_plan_names_cost_error_and_class_and_spends_nothing(twin_console: Console, holder: Visitor):
    before = account(twin_console)
    answer = send(holder, **FORM)
    shown = words(answer)
    assert answer.status_code == 200, shown
    assert "Predicted error of a column" in shown
    assert "For questions it leaves" in shown
    assert "Differential privacy" in shown
    assert account(twin_console) == before
    assert 'name="level-0" value="1" checked' in answer.text


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"epsilon": "nothing"}, "epsilon must be a number such as 1 or 0.5"),
        ({"epsilon": "1000"}, "over a fifth of the budget"),
        ({"rows": "few"}, "is not a whole number"),
        ({"rows": "3"}, "every table asked for has one row per person"),
        ({"level-0": "0"}, "tables"),
        ({"columns-0": ["participant_id"]}, "participant_id is no column of participants.tsv"),
    ],
)
def test_what_cannot_be_made_is_said_beside_what_was_typed(
    twin_console: Console, holder: Visitor, fields: dict[str, Any], said: str
):
    before = account(twin_console)
    answer = send(holder, **{**FORM, "action": "make", "job_id": "counts-refused-1", **fields})
    assert answer.status_code == 422
    assert said in words(answer)
    assert f'value="{fields.get("epsilon", "1")}"' in answer.text
    assert account(twin_console) == before


def test_made_once_however_often_the_form_is_sent(console: Console):
    with console.visit("holder") as holder:
        reserved, spent = account(console)
        fields = {**FORM, "action": "make", "job_id": "counts-of-a-form"}
        for _ in range(2):
            assert send(holder, **fields).status_code == 303
        assert account(console) == (reserved + 1_000_000, spent)
        assert "Cancel it" in words(holder.client.get(PLACE))
        assert send(holder, f"{PLACE}/counts-of-a-form/cancel").status_code == 303
        assert account(console) == (reserved, spent)


def test_approved_here_it_is_what_researchers_download(console: Console):
    with console.database.transaction() as connection:
        dataset = datasets.newest(connection, "heights", HOLDER)
        job_id = given_counts(connection, dataset, level=2)
    with console.visit("ada") as ada, console.visit("holder") as holder:
        assert "level 0: Blank form" in words(ada.client.get("/datasets/heights"))
        assert ada.client.get("/datasets/heights/twin", params={"counts": job_id}).status_code == 404
        assert holder.client.get("/datasets/heights/twin", params={"counts": job_id}).status_code == 200
        refused = send(holder, f"{PLACE}/{job_id}/decision", decision="refuse")
        assert refused.status_code == 422
        assert "reason" in words(refused)
        approved = send(holder, f"{PLACE}/{job_id}/decision", decision="approve")
        assert approved.status_code == 303
        shown = words(ada.client.get("/datasets/heights"))
        assert "level 2: Patterns" in shown
        assert "pure_dp, epsilon 1" in shown
        assert "What is not protected" in shown
        with zipfile.ZipFile(io.BytesIO(ada.client.get("/datasets/heights/twin").content)) as archive:
            readme = archive.read(README).decode()
        for fact in (
            "pure_dp",
            "epsilon 1",
            "| participants.tsv | 2 |",
            "| visits.csv | 0 |",
            job_id,
            "Not protected",
        ):
            assert fact in readme
        blank = ada.client.get("/datasets/heights/twin", params={"level": "0"})
        with zipfile.ZipFile(io.BytesIO(blank.content)) as archive:
            assert "BLANK FORM" in archive.read(README).decode()
    with console.database.reading() as connection:
        assert twins.basis(connection, dataset.id).job_id == job_id


def test_a_job_of_counts_and_its_release_have_pages(console: Console):
    with console.database.transaction() as connection:
        dataset = datasets.newest(connection, "heights", HOLDER)
        job_id = given_counts(connection, dataset)
        waiting = given_counts(
            connection, dataset, job_id="counts-000002", epsilon="0.5", again=True, state=JobState.QUEUED
        )
    with console.visit("holder") as holder:
        for path in (
            f"/jobs/{job_id}",
            f"/jobs/{job_id}/release",
            f"/jobs/{waiting}",
            "/jobs",
            "/reviews",
            "/budget/heights",
        ):
            assert holder.client.get(path).status_code == 200, path
        assert "from released counts" in words(holder.client.get("/reviews"))
        assert "wait for approval" in words(holder.client.get("/reviews/twins/heights"))
        assert send(holder, f"{PLACE}/{job_id}/decision", decision="approve").status_code == 303
        decided = words(holder.client.get("/reviews"))
        assert "twin counts of participants.tsv" in decided
        assert "from released counts" not in decided
        assert "Counts for a twin" in words(holder.client.get(f"/jobs/{job_id}"))


def test_a_delta_is_asked_for_where_the_policy_allows_its_class(console: Console):
    place, form = "/datasets/commuters/twins", {"level-0": "2", "epsilon": "0.1", "action": "plan"}
    with console.visit("holder") as holder:
        assert "Delta, if noise shall be Gaussian" not in words(holder.client.get("/datasets/memory/twins"))
        assert "Delta, if noise shall be Gaussian" in words(holder.client.get(place))
        planned = send(holder, place, delta="1e-9", **form)
        shown = words(planned)
        assert planned.status_code == 200
        assert "Approximate differential privacy" in shown
        assert "2 epsilon and (1 + e^epsilon) delta" in shown
        make = {**form, "action": "make", "job_id": "counts-with-delta"}
        for wrong in ("-1", "nan", "0.5"):
            refused = send(holder, place, **make, delta=wrong)
            assert refused.status_code == 422
            assert 'aria-invalid="true"' in refused.text
            assert f'value="{wrong}"' in refused.text
        assert send(holder, place, **make, delta="1e-9").status_code == 303
        assert "approx_dp, epsilon 0.1, delta 0.000000001" in words(holder.client.get(place))
