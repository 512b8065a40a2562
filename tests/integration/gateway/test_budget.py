"""The privacy budget over HTTP: what is refused, in which words, and who sees which account."""

from __future__ import annotations

from typing import Any

import pytest
from asking import Gateway, problem
from factories import declaration_fields, given_dataset, given_image, job_request_fields, policy_fields

SENTENCE = "Over all releases with differential privacy, epsilon is at most 1.2."


@pytest.fixture
def heights(gateway: Gateway) -> Gateway:
    with gateway.database.transaction() as connection:
        given_image(connection)
        given_dataset(connection, budget_epsilon="1.2", policy=policy_fields(data_users=["ada", "bob"]))
    return gateway


def submit(gateway: Gateway, job_id: str, *, by: str = "ada", **fields: Any):
    return gateway.ask("PUT", f"/jobs/{job_id}", by=by, json=job_request_fields(**fields))


def allot(gateway: Gateway, kind: str, holder: str, *, by: str = "holder", **body: Any):
    return gateway.ask("PUT", f"/datasets/heights/allocations/{kind}/{holder}", by=by, json=body)


def accounts(gateway: Gateway, person: str) -> dict[tuple[str, str], dict[str, str]]:
    budget = gateway.ask("GET", "/datasets/heights/budget", by=person).json()
    assert (budget["accounting"], budget["sentence"]) == ("pure_sum", SENTENCE)
    found = budget["accounts"]
    return {(account["kind"], account["holder"]): account for account in found}


def test_over_budget_is_refused_with_the_whole_account_in_words(heights: Gateway):
    assert submit(heights, "job-first", epsilon="1").status_code == 201
    before = heights.rows()
    found = problem(submit(heights, "job-second", epsilon="0.3"), status=409, kind="BudgetExceeded")
    assert found == {
        "field": "epsilon",
        "problem": "0.3 is more than the 0.2 left of the budget of this data set "
        "(cap 1.2, spent 0, reserved 1).",
        "fix": "Ask for less, or ask the rights holder. Nothing was charged.",
        "code": "over_budget",
        "sentence": "epsilon: 0.3 is more than the 0.2 left of the budget of this data set (cap 1.2, "
        "spent 0, reserved 1). Ask for less, or ask the rights holder. Nothing was charged.",
    }
    assert heights.rows() == before
    # exactly what is left is given
    assert submit(heights, "job-third", epsilon="0.2").status_code == 201
    assert accounts(heights, "ada")["cohort", "heights"]["left"] == "0"


def test_a_cancelled_job_gives_its_reservation_back(heights: Gateway):
    submit(heights, "job-first", epsilon="1")
    assert heights.ask("POST", "/jobs/job-first/cancel", by="ada").json()["state"] == "CANCELLED"
    assert accounts(heights, "ada")["cohort", "heights"] == {
        "kind": "cohort",
        "holder": "heights",
        "currency": "epsilon",
        "cap": "1.2",
        "spent": "0",
        "reserved": "0",
        "left": "1.2",
    }


def test_an_allocation_binds_its_user_in_addition(heights: Gateway):
    assert allot(heights, "user", "ada", amount="0.4").json()["cap"] == "0.4"
    found = problem(submit(heights, "job-first", epsilon="0.5"), status=409, kind="BudgetExceeded")
    assert "of the user ada" in found["problem"]
    assert submit(heights, "job-of-bob", by="bob", epsilon="0.9").status_code == 201
    found = problem(submit(heights, "job-first", epsilon="0.4"), status=409, kind="BudgetExceeded")
    assert "of this data set" in found["problem"]


def test_a_projects_budget_is_for_its_members(heights: Gateway):
    assert allot(heights, "project", "moon", amount="0.4", members=["ada"]).is_success
    found = problem(submit(heights, "job-of-bob", by="bob", project="moon", epsilon="0.1"), status=403)
    assert (found["field"], found["problem"]) == ("project", "there is no project moon of yours.")
    assert submit(heights, "job-first", project="moon", epsilon="0.3").status_code == 201
    found = problem(submit(heights, "job-second", project="moon", epsilon="0.2"), status=409)
    assert "of the project moon" in found["problem"]
    assert allot(heights, "project", "moon", amount="0.4", members=["bob"]).is_success
    problem(submit(heights, "job-second", project="moon", epsilon="0.1"), status=403)


def test_each_sees_the_accounts_that_bind_them(heights: Gateway):
    allot(heights, "user", "ada", amount="0.4")
    allot(heights, "user", "bob", amount="0.5")
    allot(heights, "project", "moon", amount="0.3", members=["bob"])
    whole = ("cohort", "heights")
    assert set(accounts(heights, "ada")) == {whole, ("user", "ada")}
    assert set(accounts(heights, "bob")) == {whole, ("user", "bob"), ("project", "moon")}
    assert set(accounts(heights, "holder")) == {
        whole,
        ("user", "ada"),
        ("user", "bob"),
        ("project", "moon"),
    }
    problem(heights.ask("GET", "/datasets/heights/budget", by="olga"), status=403)
    problem(heights.ask("GET", "/datasets/heights/budget", by="rival"), status=404)


WRONG: list[tuple[str, str, dict[str, Any], int, str]] = [
    ("user", "ada", {"amount": "1.3"}, 422, "amount"),
    ("user", "ada", {"amount": "0"}, 422, "amount"),
    ("user", "ada", {"amount": "-1"}, 422, "amount"),
    ("user", "ada", {}, 422, "amount"),
    ("user", "ada", {"amount": True}, 422, "amount"),
    ("user", "ada", {"amount": "1", "currency": "euro"}, 422, "currency"),
    ("user", "ada", {"amount": "1.5", "currency": "releases"}, 422, "amount"),
    ("user", "ada", {"amount": "0.1", "currency": "nats"}, 409, "mechanism"),
    ("user", "ada", {"amount": "1", "member": ["ada"]}, 422, "member"),
    ("user", "ada", {"amount": "1", "members": ["bob"]}, 422, "members"),
    ("user", "ada", {"amount": "1", "members": ["nobody-known"]}, 422, "members"),
    ("user", "nobody-known", {"amount": "1"}, 404, "members"),
    ("project", "moon", {"amount": "1", "members": ["nobody-known"]}, 404, "members"),
    ("project", "moon", {"amount": "1", "members": ["NOT A NAME"]}, 422, "members.0"),
    ("project", "NOT-A-NAME", {"amount": "1"}, 422, "holder"),
    ("cohort", "heights", {"amount": "1"}, 422, "kind"),
    ("user", "ada%00", {"amount": "1"}, 422, "holder"),
]


def test_a_wrong_allocation_is_refused(heights: Gateway, subtests: pytest.Subtests):
    before = heights.rows()
    for kind, holder, body, status, field in WRONG:
        with subtests.test(f"{kind} {holder} {body}"):
            assert problem(allot(heights, kind, holder, **body), status=status)["field"] == field
            assert heights.rows() == before


def test_an_allocation_cannot_shrink_below_what_is_taken(heights: Gateway):
    allot(heights, "user", "ada", amount="0.9")
    submit(heights, "job-first", epsilon="0.5")
    found = problem(allot(heights, "user", "ada", amount="0.4"), status=422)
    assert found["fix"] == "Allot 0.5 or more."
    assert allot(heights, "user", "ada", amount="0.5").json()["left"] == "0"


def test_an_allocation_of_another_currency(gateway: Gateway):
    with gateway.database.transaction() as connection:
        given_dataset(connection, budget_nats="0.5")
    found = allot(gateway, "user", "ada", currency="nats", amount="0.2").json()
    assert (found["currency"], found["cap"], found["left"]) == ("nats", "0.2", "0.2")
    problem(allot(gateway, "user", "ada", currency="nats", amount="0.51"), status=422)


def test_registering_again_does_not_refill_the_budget(heights: Gateway):
    delivery = "00000000-0000-4000-8000-000000000000"
    submit(heights, "job-first", epsilon="1")
    policy = policy_fields(data_users=["ada"])
    for epsilon, status in (("2", 422), ("1.2", 201)):
        body = {
            "declaration": declaration_fields(budget_epsilon=epsilon, policy=policy),
            "delivery": delivery,
        }
        assert heights.ask("POST", "/datasets", by="holder", json=body).status_code == status
    assert accounts(heights, "ada")["cohort", "heights"]["left"] == "0.2"
