"""Groups of people's organisations: what they give, to whom, by whose choice, and that it ends with them."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from asking import Gateway, problem, running_gateway
from factories import given_dataset, given_job
from form_browser import Browser
from given_projects import given_grant, given_project
from issuer import AUDIENCE, CLI, CLIENT, MEMBER, ROLES, SECRET, STEWARD, Issuer, running_issuer

from store import audit
from store.account_tables import identities
from store.tables import audit_events, metadata

GROUP = "urn:mace:example:group:heart:sleep:role=member#idp.example"
LEADS = "urn:mace:example:group:heart:sleep:role=lead#idp.example"
BOARD = "urn:mace:example:group:heart:board#idp.example"
OPERATORS = "urn:mace:example:group:operators#idp.example"
NAME = "ada-lovelace"


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with running_issuer() as running:
        yield running


@contextmanager
def one_gateway(url: str, issuer: Issuer, folder: Path) -> Iterator[Gateway]:
    (folder / "client-secret").write_text(SECRET)
    settings = {
        "public_url": "http://127.0.0.1",
        "oidc_issuer": issuer.url,
        "oidc_audience": AUDIENCE,
        "oidc_client_id": CLIENT,
        "oidc_client_secret_file": folder / "client-secret",
        "oidc_cli_client_id": CLI,
        "oidc_roles": ROLES,
    }
    with running_gateway(url, "redis+socket:///none", **settings) as running:
        yield running


@contextmanager
def prepared(url: str, issuer: Issuer, folder: Path) -> Iterator[Gateway]:
    """With a data set that was granted to the project sleep, which bob leads."""
    issuer.id_claims = {}
    with one_gateway(url, issuer, folder) as running:
        with running.database.transaction() as connection:
            given_dataset(connection)
            given_project(connection, members=("bob",))
            given_grant(connection)
        yield running


@pytest.fixture
def gateway(sqlite_url: str, issuer: Issuer, tmp_path: Path) -> Iterator[Gateway]:
    with prepared(sqlite_url, issuer, tmp_path) as running:
        yield running


@pytest.fixture
def either(database_url: str, issuer: Issuer, tmp_path: Path) -> Iterator[Gateway]:
    """On each of the two databases."""
    with prepared(database_url, issuer, tmp_path) as running:
        yield running


@pytest.fixture(scope="module")
def refusing(
    sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory, issuer: Issuer
) -> Iterator[Gateway]:
    """One gateway for what is refused and changes nothing."""
    folder = tmp_path_factory.mktemp("entitlements")
    path = shutil.copy(sqlite_template, folder / "dpgate.db")
    with prepared(f"sqlite:///{path}", issuer, folder) as running:
        yield running


def ask(gateway: Gateway, token: str, path: str, method: str = "GET", **request: Any):
    return gateway.ask(method, path, headers={"Authorization": f"Bearer {token}"}, **request)


def rule(gateway: Gateway, by: str, path: str, entitlement: str, **fields: Any) -> str:
    answer = gateway.ask("POST", path, by=by, json={"entitlement": entitlement, **fields})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def actions(gateway: Gateway, *, subject: str | None = None) -> list[str]:
    with gateway.database.reading() as connection:
        rows = connection.execute(audit_events.select().order_by(audit_events.c.number)).all()
        assert audit.verify(connection).intact
    return [row.action for row in rows if subject in (None, row.subject)]


def test_a_group_makes_members_who_leave_when_they_leave_it(either: Gateway, issuer: Issuer):
    rule(either, "bob", "/projects/sleep/entitlements", GROUP)
    inside, outside = issuer.token(eduperson_entitlement=[MEMBER, GROUP]), [MEMBER]
    assert [one["name"] for one in ask(either, inside, "/projects").json()] == ["sleep"]
    # what a member sees: the data set that a rights holder granted to the project
    assert ask(either, inside, "/datasets/heights").status_code == 200
    shown = either.ask("GET", "/projects/sleep", by="bob").json()
    assert (shown["members"], shown["further_leads"]) == ([NAME, "bob"], [])
    assert either.ask("GET", "/projects/sleep/entitlements", by="bob").json()[0]["holds_for"] == [NAME]
    assert ask(either, issuer.token(eduperson_entitlement=outside), "/projects").json() == []
    assert ask(either, issuer.token(eduperson_entitlement=outside), "/datasets/heights").status_code == 404
    assert either.ask("GET", "/projects/sleep", by="bob").json()["members"] == ["bob"]
    told = [one for one in actions(either) if one.startswith("entitlement") or one == "project.members"]
    assert told[-5:] == [
        "entitlement.map", "entitlement.gain", "project.members", "entitlement.lose", "project.members",
    ]  # fmt: skip


def test_an_entitlement_that_nothing_names_is_not_kept(gateway: Gateway, issuer: Issuer):
    rule(gateway, "bob", "/projects/sleep/entitlements", GROUP)
    token = issuer.token(eduperson_entitlement=[MEMBER, GROUP, "urn:mace:example.org:group:chess"])
    assert len(ask(gateway, token, "/projects").json()) == 1
    with gateway.database.reading() as connection:
        rows = {table.name: str(connection.execute(table.select()).all()) for table in metadata.sorted_tables}
    assert GROUP in rows["entitlement_rules"]
    assert not [name for name, text in rows.items() if "group:chess" in text]


def test_an_older_token_does_not_bring_back_what_was_withdrawn(gateway: Gateway, issuer: Issuer):
    rule(gateway, "bob", "/projects/sleep/entitlements", GROUP)
    older = issuer.token(eduperson_entitlement=[MEMBER, GROUP], iat=int(time.time()) - 60)
    assert len(ask(gateway, older, "/projects").json()) == 1
    assert ask(gateway, issuer.token(), "/projects").json() == []
    # kept for a minute by this process, and valid at the provider: both without what was lost since
    refused = problem(ask(gateway, older, "/projects"), status=401, kind="Unauthenticated")
    assert "older than what the provider said since" in refused["problem"]
    assert gateway.ask("GET", "/projects/sleep", by="bob").json()["members"] == ["bob"]


def test_whom_somebody_added_by_hand_stays(gateway: Gateway, issuer: Issuer):
    rule(gateway, "bob", "/projects/sleep/entitlements", GROUP)
    ask(gateway, issuer.token(eduperson_entitlement=[MEMBER, GROUP]), "/me")
    left = gateway.ask("DELETE", f"/projects/sleep/members/{NAME}", by="bob")
    assert "a group of their organisation" in problem(left, status=409)["problem"]
    assert gateway.ask("PUT", f"/projects/sleep/members/{NAME}", by="bob").status_code == 200
    ask(gateway, issuer.token(), "/me")
    assert gateway.ask("GET", "/projects/sleep", by="bob").json()["members"] == [NAME, "bob"]


def test_a_rule_that_is_removed_takes_back_what_it_gave(gateway: Gateway, issuer: Issuer):
    made = rule(gateway, "bob", "/projects/sleep/entitlements", GROUP)
    token = issuer.token(eduperson_entitlement=[MEMBER, GROUP])
    assert len(ask(gateway, token, "/projects").json()) == 1
    assert gateway.ask("DELETE", f"/projects/sleep/entitlements/{made}", by="bob").json() == []
    assert ask(gateway, token, "/projects").json() == []


def test_who_leads_by_a_group_adds_people_and_gives_nothing_away(gateway: Gateway, issuer: Issuer):
    rule(gateway, "bob", "/projects/sleep/entitlements", LEADS, leads=True)
    token = issuer.token(eduperson_entitlement=[MEMBER, LEADS])
    ask(gateway, token, "/me")
    assert gateway.ask("GET", "/projects/sleep", by="bob").json()["further_leads"] == [NAME]
    assert ask(gateway, token, "/projects/sleep/members/ada", "PUT").status_code == 200
    for method, path, body in (
        ("PUT", "/projects/sleep/lead", {"lead": NAME}),
        ("POST", "/projects/sleep/closing", None),
        ("POST", "/projects/sleep/entitlements", {"entitlement": GROUP}),
    ):
        request = {} if body is None else {"json": body}
        problem(ask(gateway, token, path, method, **request), status=403, kind="NotAllowed")
    ask(gateway, issuer.token(), "/me")
    assert gateway.ask("GET", "/projects/sleep", by="bob").json()["further_leads"] == []


def test_a_board_reviews_a_data_set_while_its_members_are_rights_holders(either: Gateway, issuer: Issuer):
    with either.database.transaction() as connection:
        given_job(connection, job_id="job-to-review")
    rule(either, "holder", "/datasets/heights/entitlements", BOARD)
    # a data user of the board sees nothing by it
    assert ask(either, issuer.token(eduperson_entitlement=[MEMBER, BOARD]), "/jobs").json() == []
    on_board = issuer.token(eduperson_entitlement=[STEWARD, BOARD])
    assert [one["id"] for one in ask(either, on_board, "/jobs").json()] == ["job-to-review"]
    assert ask(either, on_board, "/datasets/heights").status_code == 200
    assert ask(either, on_board, "/datasets/heights/policy/history").status_code == 404
    off_board = issuer.token(eduperson_entitlement=[STEWARD])
    assert ask(either, off_board, "/jobs").json() == []
    assert ask(either, off_board, "/datasets/heights").status_code == 404


def test_a_rule_does_not_tell_who_else_is_in_a_group(gateway: Gateway, issuer: Issuer):
    """A lead could otherwise name any group, and read who of all users is in it."""
    rule(gateway, "bob", "/projects/sleep/entitlements", BOARD)
    rule(gateway, "holder", "/datasets/heights/entitlements", BOARD)
    on_board = issuer.token(eduperson_entitlement=[STEWARD, BOARD])
    assert ask(gateway, on_board, "/me").json()["name"] == NAME
    of_project = gateway.ask("GET", "/projects/sleep/entitlements", by="bob").json()
    of_dataset = gateway.ask("GET", "/datasets/heights/entitlements", by="holder").json()
    assert ([one["holds_for"] for one in of_project], [one["holds_for"] for one in of_dataset]) == (
        [[]],
        [[NAME]],
    )


def test_a_role_that_came_by_a_group_ends_with_it_in_every_session_and_token(either: Gateway, issuer: Issuer):
    made = rule(either, "olga", "/entitlements/roles", OPERATORS, role="operator")
    issuer.id_claims = {"eduperson_entitlement": [OPERATORS]}
    browser = Browser(either, base_url="http://127.0.0.1")
    leaving = browser.get("/login/oidc", params={"next": "/account"})
    browser.get("/login/oidc/back", params=issuer.approve(leaving.headers["location"]))
    assert "operator" in browser.get("/account").text
    token = issuer.token(eduperson_entitlement=[OPERATORS])
    own = ask(either, token, "/tokens", "POST", json={"label": "laptop", "scopes": ["read", "administer"]})
    own_token = own.json()["token"]
    assert ask(either, own_token, "/users").status_code == 200
    # the next word of the provider is without the group, through whatever door it comes
    gone = issuer.token(eduperson_entitlement=["urn:mace:example:group:operators#elsewhere.example"])
    problem(ask(either, gone, "/me"), status=403, kind="NotAllowed")
    problem(ask(either, own_token, "/users"), status=401, kind="Unauthenticated")
    assert browser.get("/account").status_code == 303
    assert actions(either, subject=NAME)[-1] == "user.unentitled"
    problem(ask(either, gone, "/me"), status=403)
    assert actions(either).count("user.unentitled") == 1
    # and back: a new login, while what they held before stays ended
    time_passes(either)
    assert ask(either, issuer.token(eduperson_entitlement=[OPERATORS]), "/users").status_code == 200
    problem(ask(either, own_token, "/users"), status=401)
    either.ask("DELETE", f"/entitlements/roles/{made}", by="olga")
    problem(ask(either, issuer.token(eduperson_entitlement=[OPERATORS]), "/users"), status=403)
    browser.close()


def time_passes(gateway: Gateway) -> None:
    """What was heard last lies a minute back; nobody waits for it."""
    with gateway.database.transaction() as connection:
        past = datetime.now(UTC) - timedelta(minutes=1)
        connection.execute(sa.update(identities).values(heard_at=past))


def test_a_word_counts_only_so_long(gateway: Gateway, issuer: Issuer):
    token = issuer.token()
    made = ask(gateway, token, "/tokens", "POST", json={"label": "laptop", "scopes": ["read"]}).json()
    assert ask(gateway, made["token"], "/me").json()["name"] == NAME
    with gateway.database.transaction() as connection:
        kept = connection.execute(sa.select(identities)).one()
        assert kept.counts_until - kept.heard_at == timedelta(days=30)
        connection.execute(sa.update(identities).values(counts_until=datetime.now(UTC)))
    problem(ask(gateway, made["token"], "/me"), status=401, kind="Unauthenticated")
    # the provider was asked again: the token, which was not revoked, goes on
    assert ask(gateway, token, "/me").status_code == 200
    assert ask(gateway, made["token"], "/me").status_code == 200


def test_settings_come_before_rules_and_older_rules_before_newer_ones(gateway: Gateway, issuer: Issuer):
    rule(gateway, "olga", "/entitlements/roles", GROUP, role="operator")
    rule(gateway, "olga", "/entitlements/roles", BOARD, role="rights_holder")
    for held, role in (
        ([MEMBER, GROUP, BOARD], "data_user"),
        ([BOARD, GROUP], "operator"),
        ([BOARD], "rights_holder"),
    ):
        assert ask(gateway, issuer.token(eduperson_entitlement=held), "/me").json()["role"] == role
    # of what no rule names nothing is kept
    assert gateway.rows()["entitled"] == 1


@pytest.mark.parametrize(
    ("by", "path", "status"),
    [
        ("ada", "/projects/sleep/entitlements", 404),
        ("holder", "/projects/sleep/entitlements", 403),
        ("olga", "/projects/sleep/entitlements", 403),
        ("rival", "/datasets/heights/entitlements", 404),
        ("olga", "/datasets/heights/entitlements", 403),
        ("bob", "/datasets/heights/entitlements", 403),
        ("holder", "/entitlements/roles", 403),
        ("bob", "/entitlements/roles", 403),
    ],
)
def test_nobody_maps_to_what_is_not_theirs(refusing: Gateway, by: str, path: str, status: int):
    body = {"entitlement": GROUP} | ({"role": "operator"} if path.endswith("roles") else {})
    before = refusing.rows()
    problem(refusing.ask("POST", path, by=by, json=body), status=status)
    problem(refusing.ask("DELETE", f"{path}/0123456789abcdef", by=by), status=status)
    assert refusing.rows() == before


@pytest.mark.parametrize(
    "entitlement",
    ["", "urn:mace:example:group:*", "two words", "client:nightly", "urn:a:group:x#a#b", "x" * 513, "é" * 9],
)
def test_what_is_no_entitlement_is_refused(refusing: Gateway, entitlement: str):
    body = {"entitlement": entitlement, "role": "operator"}
    answer = refusing.ask("POST", "/entitlements/roles", by="olga", json=body)
    assert problem(answer, status=422)["field"] == "entitlement"


def test_the_same_rule_twice_and_a_rule_of_something_else(gateway: Gateway):
    made = rule(gateway, "bob", "/projects/sleep/entitlements", GROUP)
    again = gateway.ask("POST", "/projects/sleep/entitlements", by="bob", json={"entitlement": GROUP})
    problem(again, status=409, kind="Conflict")
    # a rule is removed where it belongs, and nowhere else
    problem(gateway.ask("DELETE", f"/entitlements/roles/{made}", by="olga"), status=404)
    problem(gateway.ask("DELETE", f"/datasets/heights/entitlements/{made}", by="holder"), status=404)
    assert gateway.rows()["entitlement_rules"] == 1


@pytest.mark.parametrize(
    "almost",
    [
        "urn:mace:example:group:heart:sleep:role=member#IDP.example",
        "urn:mace:example:group:heart:sleep:role=member",
        "urn:mace:example:group:heart:sleep:role=member#idp.example ",
        "URN:mace:example:group:heart:sleep:role=member#idp.example",
        "urn:mace:example:group:heart:sleep:role=member#idp.example.evil",
        "urn:mace:example:group:heart:sleep%3Arole=member#idp.example",
    ],
)
def test_an_entitlement_is_compared_letter_by_letter(refusing: Gateway, issuer: Issuer, almost: str):
    if refusing.rows()["entitlement_rules"] == 0:
        rule(refusing, "bob", "/projects/sleep/entitlements", GROUP)
    token = issuer.token(sub="subject-almost", eduperson_entitlement=[MEMBER, almost])
    assert ask(refusing, token, "/projects").json() == []
    # control: the very same is a place
    exact = issuer.token(sub=f"subject-exact-{len(almost)}", eduperson_entitlement=[MEMBER, GROUP])
    assert len(ask(refusing, exact, "/projects").json()) == 1
