"""Who somebody is, as their provider said at the last login, on the pages where people decide on people."""

from __future__ import annotations

import html
import re

import pytest
from asking import Gateway
from factories import given_dataset, given_job, given_user
from form_browser import Browser
from given_projects import given_grant, given_project
from issuer import MEMBER, STEWARD, Issuer
from with_provider import gateway_with_provider

from domain.permissions import Role, User
from store import sessions
from store.clock import database_time

BOB = {
    "sub": "bob-at-idp",
    "preferred_username": "alice",
    "name": "Bob <b>Builder</b>",
    "email": "bob@example.org",
    "eduperson_scoped_affiliation": ["staff@university.example"],
}
TOLD = "Bob <b>Builder</b>, staff@university.example, bob@example.org"


gateway = gateway_with_provider(public_url=None, oidc_client_id=None)


@pytest.fixture(autouse=True)
def alice(gateway: Gateway) -> None:
    with gateway.database.transaction() as connection:
        given_user(connection, "alice", Role.RIGHTS_HOLDER)


def me(gateway: Gateway, token: str) -> dict[str, str]:
    return gateway.ask("GET", "/me", headers={"Authorization": f"Bearer {token}"}).json()


def page(gateway: Gateway, name: str, role: Role, path: str) -> str:
    """The words of a page, for a user who is logged in."""
    with gateway.database.transaction() as connection:
        token = sessions.open_session(connection, User(name=name, role=role), database_time(connection))
    browser = Browser(gateway)
    browser.http.cookies.set("dpgate_session", token)
    answer = browser.get(path)
    browser.close()
    assert answer.status_code == 200, answer.text
    assert "<b>Builder" not in answer.text
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


def test_bob_who_calls_himself_alice_is_known_to_whom_decides_about_him(gateway: Gateway, issuer: Issuer):
    assert me(gateway, issuer.token(**BOB)) == {"name": "alice-2", "role": "data_user"}
    with gateway.database.transaction() as connection:
        given_dataset(connection)
        given_project(connection, members=("alice-2", "bob"))
        given_grant(connection)
        given_job(connection, job_id="job-of-bob", author="alice-2")
    warned = "Not to be taken for alice (rights holder)"
    for name, role, path in (
        ("holder", Role.RIGHTS_HOLDER, "/reviews"),
        ("holder", Role.RIGHTS_HOLDER, "/reviews/job-of-bob"),
        ("holder", Role.RIGHTS_HOLDER, "/projects/sleep/grants/heights"),
        ("olga", Role.OPERATOR, "/operation/people"),
    ):
        shown = page(gateway, name, role, path)
        assert TOLD in shown.replace(" ,", ","), path
        assert f"bob-at-idp at {issuer.url}" in shown, path
        assert warned in shown, path
    # addresses of members are for who decides on the grant, not for each other
    assert "bob@example.org" not in page(gateway, "bob", Role.DATA_USER, "/projects/sleep/grants/heights")


def test_what_was_said_last_is_what_is_shown(gateway: Gateway, issuer: Issuer):
    me(gateway, issuer.token(**BOB))
    me(gateway, issuer.token(**BOB | {"name": "Robert", "email": None}, eduperson_entitlement=[STEWARD]))
    listed = {one["name"]: one for one in gateway.ask("GET", "/users", by="olga").json()}
    said = listed["alice-2"]["said"]
    assert (said["display_name"], said["email"]) == ("Robert", "bob@example.org")
    assert (said["issuer"], said["subject"], said["kind"]) == (issuer.url, "bob-at-idp", "person")
    assert listed["alice-2"]["near"] == ["alice"]
    assert listed["alice"]["near"] == ["alice-2"]
    assert listed["bob"] == {"name": "bob", "role": "data_user", "disabled": False, "said": None, "near": []}


def test_the_trail_keeps_whom_a_name_stands_for(gateway: Gateway, issuer: Issuer):
    me(gateway, issuer.token(**BOB, eduperson_entitlement=[MEMBER]))
    shown = page(gateway, "olga", Role.OPERATOR, "/audit?action=user.add")
    assert f"issuer {issuer.url} · known there as bob-at-idp · kind person" in shown.replace(" ·", " ·")
