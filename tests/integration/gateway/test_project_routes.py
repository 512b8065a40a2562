"""Projects and grants over the interface: the way from an ask to a release, and what others cannot reach."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from asking import Gateway, problem
from factories import given_dataset, given_image, job_request_fields, policy_fields
from given_projects import given_ask, given_grant, given_project, last_day, project_fields
from waiting import PATIENCE_S

from store import projects

GRANT = "/projects/sleep/grants/heights"
JOB = "job-of-sleep"
SHARE = {"amounts": {"epsilon": "2"}}


def prepare(gateway: Gateway, *, granted: bool = False) -> None:
    """`heights` is in nobody's policy; ada leads `sleep` with bob, and has asked."""
    with gateway.database.transaction() as connection:
        given_dataset(connection, policy=policy_fields(data_users=[]))
        given_project(connection, members=("ada", "bob"))
        (given_grant if granted else given_ask)(connection)
        given_image(connection)


def submit(gateway: Gateway, *, by: str = "bob", job_id: str = JOB, **fields: Any) -> Any:
    return gateway.ask(
        "PUT", f"/jobs/{job_id}", by=by, json=job_request_fields(**{"project": "sleep", **fields})
    )


def test_from_a_new_project_to_a_job_that_it_pays(gateway: Gateway):
    with gateway.database.transaction() as connection:
        given_dataset(connection, policy=policy_fields(data_users=[]))
        given_image(connection)
    made = gateway.ask("POST", "/projects", by="ada", json=project_fields()).json()
    assert (made["lead"], made["members"], made["state"], made["grants"]) == ("ada", ["ada"], "OPEN", [])
    assert gateway.ask("PUT", "/projects/sleep/members/bob", by="ada").json()["members"] == ["ada", "bob"]
    asked = gateway.ask("PUT", GRANT, by="ada", json={"why": "Its ages."}).json()
    assert (asked["state"], asked["is_living"], asked["accounts"]) == ("ASKED", False, [])
    assert problem(submit(gateway), status=403)["field"] == "project"
    (waiting,) = gateway.ask("GET", "/grants", by="holder").json()
    assert (waiting["project"], waiting["why"]) == ("sleep", "Its ages.")
    granted = gateway.ask("POST", f"{GRANT}/approval", by="holder", json=SHARE).json()
    assert (granted["state"], granted["is_living"], granted["ends_on"]) == ("GRANTED", True, str(last_day()))
    assert submit(gateway).status_code == 201
    (account,) = gateway.ask("GET", GRANT, by="bob").json()["accounts"]
    assert (account["kind"], account["cap"], account["reserved"]) == ("project", "2", "0.5")
    budget = gateway.ask("GET", "/datasets/heights/budget", by="ada").json()
    assert [one["kind"] for one in budget["accounts"]] == ["cohort", "project"]
    # fellow members see no jobs of each other
    assert gateway.ask("GET", "/jobs", by="ada").json() == []
    problem(gateway.ask("GET", f"/jobs/{JOB}", by="ada"), status=404)
    actions = [one["action"] for one in gateway.ask("GET", "/projects/sleep/history", by="ada").json()]
    assert actions == ["grant.give", "grant.ask", "project.members", "project.make"]


def test_somebody_granted_through_a_project_names_it(gateway: Gateway):
    prepare(gateway, granted=True)
    refused = problem(submit(gateway, project=None), status=403, kind="NotAllowed")
    assert refused["problem"] == "is missing: you may use heights for sleep only."
    assert submit(gateway).status_code == 201


@pytest.mark.parametrize(
    ("method", "path", "by", "body", "words", "code"),
    [
        (
            "POST",
            f"{GRANT}/end",
            "holder",
            {"reason": "Done."},
            "has no longer a grant of heights",
            "no_grant",
        ),
        ("DELETE", GRANT, "ada", None, "has no longer a grant of heights", "no_grant"),
        (
            "DELETE",
            "/projects/sleep/members/bob",
            "ada",
            None,
            "there is no project sleep of yours",
            "no_project",
        ),
        (
            "DELETE",
            "/projects/sleep/members/bob",
            "bob",
            None,
            "there is no project sleep of yours",
            "no_project",
        ),
        ("POST", "/projects/sleep/closing", "ada", None, "sleep is closed", "project_over"),
    ],
)
def test_what_ends_access_refuses_the_next_job_and_hides_the_data_set(
    gateway: Gateway, method: str, path: str, by: str, body: Any, words: str, code: str
):
    prepare(gateway, granted=True)
    assert submit(gateway).status_code == 201
    assert gateway.ask("GET", "/datasets/heights/twin", by="bob").is_success
    assert gateway.ask(method, path, by=by, json=body).is_success
    before = gateway.rows()
    refused = problem(submit(gateway, job_id="job-too-late"), status=403)
    assert words in refused["problem"]
    assert refused["code"] == code
    # a repeat of what is on record is answered, whatever came since
    assert submit(gateway).status_code == 200
    for part in ("", "/twin", "/budget"):
        problem(gateway.ask("GET", f"/datasets/heights{part}", by="bob"), status=404)
    assert gateway.ask("GET", "/datasets", by="bob").json() == []
    assert gateway.ask("GET", f"/jobs/{JOB}", by="bob").json()["state"] == "QUEUED"
    assert gateway.rows() == before


def test_a_grant_ends_before_a_submission_or_after_it(gateway: Gateway):
    """Whoever is second waits: a job is on record under a living grant, or refused."""
    prepare(gateway, granted=True)
    answers: dict[str, Any] = {}

    async def one(name: str, method: str, path: str, by: str, body: Any) -> None:
        answers[name] = await gateway.ask_later(method, path, by=by, json=body)

    async def together() -> None:
        with anyio.fail_after(PATIENCE_S):
            async with anyio.create_task_group() as group:
                for number in range(8):
                    fields = job_request_fields(project="sleep", epsilon=f"0.{number + 11}")
                    group.start_soon(one, f"{number}", "PUT", f"/jobs/job-race-{number}", "bob", fields)
                group.start_soon(one, "end", "POST", f"{GRANT}/end", "holder", {"reason": "Done."})

    gateway.portal.call(together)
    assert answers.pop("end").status_code == 200
    taken = sum(answer.status_code == 201 for answer in answers.values())
    assert {answer.status_code for answer in answers.values()} <= {201, 403}
    assert gateway.rows()["jobs"] == taken
    assert problem(submit(gateway, job_id="job-too-late"), status=403)


STEPS: list[tuple[str, str, Any]] = [
    ("GET", "/projects/{project}", None),
    ("GET", "/projects/{project}/history", None),
    ("PUT", "/projects/{project}/members/bob", None),
    ("DELETE", "/projects/{project}/members/ada", None),
    ("PUT", "/projects/{project}/lead", {"lead": "bob"}),
    ("POST", "/projects/{project}/closing", None),
    ("GET", "/projects/{project}/grants/{dataset}", None),
    ("PUT", "/projects/{project}/grants/{dataset}", {"why": "Mine."}),
    ("DELETE", "/projects/{project}/grants/{dataset}", None),
    ("POST", "/projects/{project}/grants/{dataset}/approval", SHARE),
    ("POST", "/projects/{project}/grants/{dataset}/refusal", {"reason": "No."}),
    ("POST", "/projects/{project}/grants/{dataset}/change", SHARE),
    ("POST", "/projects/{project}/grants/{dataset}/end", {"reason": "No."}),
]


@pytest.fixture(scope="module")
def others(shared_gateway: Gateway) -> Gateway:
    """Ada's project `sleep`, granted the holder's `heights`; bob's `dream`, which asked the rival."""
    with shared_gateway.database.transaction() as connection:
        given_dataset(connection, policy=policy_fields(data_users=[]))
        given_dataset(connection, name="bones", owner="rival", policy=policy_fields(data_users=[]))
        given_project(connection)
        given_grant(connection)
        given_project(connection, "dream", members=("bob",))
        given_ask(connection, "dream", "bones")
    return shared_gateway


@pytest.mark.parametrize(
    ("person", "project", "dataset"),
    [("bob", "sleep", "heights"), ("rival", "sleep", "heights"), ("holder", "dream", "bones")],
)
def test_anothers_project_looks_absent(others: Gateway, person: str, project: str, dataset: str):
    before = others.rows()
    for method, path, body in STEPS:
        answer = others.ask(method, path.format(project=project, dataset=dataset), by=person, json=body)
        absent = others.ask(method, path.format(project="absent", dataset=dataset), by=person, json=body)
        assert answer.status_code == absent.status_code, f"{method} {path}"
        assert answer.status_code in (403, 404)
        assert answer.text.replace(project, "absent") == absent.text
    assert others.rows() == before


@pytest.mark.parametrize(
    ("person", "project", "dataset"), [("rival", "dream", "heights"), ("holder", "sleep", "bones")]
)
def test_another_rights_holders_ask_looks_absent(others: Gateway, person: str, project: str, dataset: str):
    """They see the project, for it asked for theirs; what it asked of others is not there."""
    before = others.rows()
    for method, path, body in STEPS:
        if "grants" in path and method != "PUT":
            answer = others.ask(method, path.format(project=project, dataset=dataset), by=person, json=body)
            absent = others.ask(method, path.format(project=project, dataset="absent"), by=person, json=body)
            assert answer.status_code == absent.status_code, f"{method} {path}"
            assert answer.status_code in (403, 404)
            assert answer.text.replace(dataset, "absent") == absent.text
    assert others.rows() == before


def test_a_rights_holder_sees_of_a_project_what_is_about_their_data(others: Gateway):
    with others.database.transaction() as connection:
        given_ask(connection, "sleep", "bones")
    seen = {
        name: [grant["dataset"] for grant in others.ask("GET", "/projects/sleep", by=name).json()["grants"]]
        for name in ("ada", "holder", "rival")
    }
    assert seen == {"ada": ["bones", "heights"], "holder": ["heights"], "rival": ["bones"]}
    history = others.ask("GET", "/projects/sleep/history", by="rival").json()
    assert {event["dataset"] for event in history} == {None, "bones"}
    assert [one["name"] for one in others.ask("GET", "/projects", by="holder").json()] == ["sleep"]


def test_allotting_does_not_open_anothers_project(gateway: Gateway):
    """A rights holder may allot to a project of their own; a name that is taken is no way into it."""
    prepare(gateway)
    with gateway.database.transaction() as connection:
        given_dataset(connection, name="bones", owner="rival", policy=policy_fields(data_users=[]))
    body = {"amount": "1", "members": ["ada", "bob"]}
    refused = gateway.ask("PUT", "/datasets/bones/allocations/project/sleep", by="rival", json=body)
    assert problem(refused, status=409)["problem"] == "the name sleep is taken."
    problem(gateway.ask("GET", "/projects/sleep", by="rival"), status=404)
    asked = gateway.ask(
        "PUT", "/datasets/heights/allocations/project/sleep", by="holder", json={"amount": "1"}
    )
    assert "has no grant of heights; it is ASKED" in problem(asked, status=409)["problem"]
    assert gateway.ask("POST", f"{GRANT}/approval", by="holder", json=SHARE).is_success
    kept = gateway.ask("PUT", "/datasets/heights/allocations/project/sleep", by="holder", json=body)
    assert "kept by ada" in problem(kept, status=403)["problem"]
    more = gateway.ask(
        "PUT", "/datasets/heights/allocations/project/sleep", by="holder", json={"amount": "3"}
    )
    assert more.json()["cap"] == "3"
    own = gateway.ask("PUT", "/datasets/bones/allocations/project/walk", by="rival", json=body)
    assert own.status_code == 200
    assert [one["name"] for one in gateway.ask("GET", "/datasets", by="bob").json()] == ["bones", "heights"]
    with gateway.database.reading() as connection:
        assert projects.get(connection, "walk").members == ("ada", "bob")
