"""Tokens of one's own over the interface, and a password for a token."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from asking import Gateway, problem, running_gateway
from factories import job_request_fields

from store import accounts

PASSWORD = "four words that differ"
pytestmark = pytest.mark.usefixtures("swift_passwords")


@pytest.fixture
def gateway(sqlite_url: str) -> Iterator[Gateway]:
    with running_gateway(sqlite_url, "redis+socket:///none") as running:
        with running.database.transaction() as connection:
            accounts.set_password(connection, "ada", PASSWORD, datetime.now(UTC))
        yield running


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_token_reaches_as_far_as_its_scopes(gateway: Gateway):
    made = gateway.ask("POST", "/tokens", by="ada", json={"label": "laptop"}).json()
    assert made["scopes"] == ["read"]
    assert gateway.ask("GET", "/datasets", headers=bearer(made["token"])).status_code == 200
    refused = problem(
        gateway.ask("POST", "/tokens", headers=bearer(made["token"]), json={"label": "more"}), status=403
    )
    assert refused == {
        "field": "authorization",
        "problem": "this token is not made to make, list and revoke tokens of one's own.",
        "fix": "Use one with the scope tokens.",
        "code": "token",
        "sentence": "This token is not made to make, list and revoke tokens of one's own. "
        "Use one with the scope tokens.",
    }
    submitted = gateway.ask("PUT", "/jobs/job-1", headers=bearer(made["token"]), json=job_request_fields())
    assert problem(submitted, status=403)["fix"] == "Use one with the scope submit."


def test_the_list_has_no_secret(gateway: Gateway):
    made = gateway.ask("POST", "/tokens", by="ada", json={"label": "laptop", "days": 3}).json()
    (listed,) = gateway.ask("GET", "/tokens", by="ada").json()
    assert listed == {name: made[name] for name in listed}
    assert "token" not in listed
    assert gateway.ask("GET", "/tokens", by="bob").json() == []
    assert gateway.ask("DELETE", f"/tokens/{made['id']}", by="bob").status_code == 404
    assert gateway.ask("DELETE", f"/tokens/{made['id']}", by="ada").json() == []
    assert gateway.ask("GET", "/me", headers=bearer(made["token"])).status_code == 401


WRONG = [
    {"label": "My Laptop"},
    {"label": "x", "scopes": ["everything"]},
    {"label": "x", "scopes": []},
    {"label": "x", "days": 0},
    {"label": "x", "days": 367},
    {"label": "x", "days": "7"},
    {"label": "x", "user": "olga"},
    {},
]


def test_a_wrong_order_makes_no_token(gateway: Gateway, subtests: pytest.Subtests):
    before = gateway.rows()
    for body in WRONG:
        with subtests.test(str(body)):
            problem(gateway.ask("POST", "/tokens", by="ada", json=body), status=422)
            assert gateway.rows() == before


def test_a_password_for_a_token(gateway: Gateway):
    made = gateway.ask("POST", "/login", json={"name": "ada", "password": PASSWORD})
    assert made.status_code == 201
    assert gateway.ask("GET", "/me", headers=bearer(made.json()["token"])).json()["name"] == "ada"
    wrong = gateway.ask("POST", "/login", json={"name": "ada", "password": "another password"})
    problem(wrong, status=401, kind="Unauthenticated")
    assert "another password" not in wrong.text


def test_the_first_password_must_be_replaced(gateway: Gateway):
    added = gateway.ask("POST", "/users", by="olga", json={"name": "zoe", "role": "data_user"}).json()
    login = {"name": "zoe", "password": added["initial_password"]}
    refused = problem(gateway.ask("POST", "/login", json=login), status=422, kind="InvalidRequest")
    assert refused["field"] == "new_password"
    problem(gateway.ask("POST", "/login", json=login | {"new_password": "short"}), status=422)
    assert gateway.ask("POST", "/login", json=login | {"new_password": PASSWORD}).status_code == 201
    problem(gateway.ask("POST", "/login", json=login), status=401)
    assert gateway.ask("POST", "/login", json={"name": "zoe", "password": PASSWORD}).status_code == 201


def test_too_many_failures(gateway: Gateway):
    answers = [gateway.ask("POST", "/login", json={"name": "bob", "password": "x"}) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [401] * 5 + [429]
    assert int(answers[-1].headers["retry-after"]) > 0


def test_an_operator_renews_a_password_and_ends_an_account(gateway: Gateway):
    renewed = gateway.ask("POST", "/users/ada/password", by="olga").json()
    problem(gateway.ask("POST", "/login", json={"name": "ada", "password": PASSWORD}), status=401)
    again = {"name": "ada", "password": renewed["initial_password"], "new_password": PASSWORD}
    assert gateway.ask("POST", "/login", json=again).status_code == 201
    assert gateway.ask("DELETE", "/users/ada", by="olga").json()["disabled"] is True
    listed = {user["name"]: user["disabled"] for user in gateway.ask("GET", "/users", by="olga").json()}
    assert (listed["ada"], listed["bob"]) == (True, False)
    problem(gateway.ask("POST", "/login", json={"name": "ada", "password": PASSWORD}), status=401)
    problem(gateway.ask("GET", "/me", by="ada"), status=401)
    problem(gateway.ask("DELETE", "/users/olga", by="olga"), status=403)
    problem(gateway.ask("DELETE", "/users/nobody", by="olga"), status=404)


def test_the_token_that_an_operator_has_seen_can_be_ended(gateway: Gateway):
    """Whoever added somebody could otherwise vote in their name for ever."""
    added = gateway.ask("POST", "/users", by="olga", json={"name": "zoe", "role": "rights_holder"}).json()
    seen = bearer(added["token"])
    login = {"name": "zoe", "password": added["initial_password"], "new_password": PASSWORD}
    own = bearer(gateway.ask("POST", "/login", json=login).json()["token"])
    token_id = added["token"].split(".")[1]
    assert gateway.ask("DELETE", f"/tokens/{token_id}", by="bob").status_code == 404
    assert gateway.ask("GET", "/me", headers=seen).status_code == 200
    assert gateway.ask("DELETE", f"/tokens/{token_id}", headers=own).status_code == 200
    problem(gateway.ask("GET", "/me", headers=seen), status=401)
    assert gateway.ask("GET", "/me", headers=own).status_code == 200
    problem(gateway.ask("DELETE", f"/tokens/{token_id}", headers=own), status=404)


def test_nobody_is_called_as_the_platform_is(gateway: Gateway, subtests: pytest.Subtests):
    """What they did would read in the audit trail as if nobody had done it."""
    for name in ("gateway", "policy", "sweep", "worker"):
        with subtests.test(name):
            refused = gateway.ask("POST", "/users", by="olga", json={"name": name, "role": "operator"})
            assert problem(refused, status=409)["field"] == "name"
