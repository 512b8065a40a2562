"""A login holds the same by whatever way, a token for metrics reads them alone, a logout ends a login."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest
from serving import Console
from story import PASSWORD

from domain.scopes import Scope
from dpgate.cli.app import run
from dpgate.client import Client
from dpgate.credentials import Login, find_login, keep_login
from dpgate.errors import NotLoggedIn
from gateway.api.tokens import OF_A_LOGIN, NewLogin
from store import users


@pytest.fixture
def logins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Logins lie in a folder of the test, and nothing comes from outside."""
    for name in ("DPGATE_URL", "DPGATE_TOKEN", "DPGATE_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DPGATE_CREDENTIALS", str(tmp_path / "logins.json"))
    return tmp_path / "logins.json"


def full_token(console: Console, name: str) -> str:
    with console.database.transaction() as connection:
        return users.renew_token(connection, name=name)


def status(console: Console, token: str, path: str) -> int:
    answer = httpx.get(f"{console.url}{path}", headers={"Authorization": f"Bearer {token}"})
    return answer.status_code


def test_all_ways_in_hold_the_same_scopes_from_one_list(console: Console) -> None:
    with Client(Login(console.url, "")) as stranger:
        # what a login from a terminal asks for, once the organisation has said who it is
        at_organisation = stranger.ways_in()["scopes"]
        by_password = stranger.exchange_password("ada", PASSWORD)["scopes"]
    assert at_organisation == by_password == list(OF_A_LOGIN) == sorted(Scope)
    # the browser's session has no scopes: what is asked for by default is the list itself
    assert NewLogin(name="ada", password="x").scopes == OF_A_LOGIN


def test_a_token_for_metrics_reads_metrics_alone(console: Console) -> None:
    with Client(Login(console.url, full_token(console, "olga"))) as olga:
        made = {scope: olga.add_token("one", scopes=[scope])["token"] for scope in ("metrics", "read")}
    assert status(console, made["metrics"], "/metrics") == 200
    assert status(console, made["read"], "/metrics") == 403
    for path in ("/api/v1/operation", "/api/v1/users", "/api/v1/me", "/api/v1/jobs"):
        assert status(console, made["metrics"], path) == 403
    with Client(Login(console.url, full_token(console, "ada"))) as ada:
        assert status(console, ada.add_token("one", scopes=["metrics"])["token"], "/metrics") == 403


def test_a_logout_ends_the_token_of_a_login(
    console: Console, logins: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Client(Login(console.url, full_token(console, "ada"))) as ada:
        token = ada.add_token("command-line", scopes=["read", "tokens"])["token"]
    keep_login(Login(console.url, "other"), profile="other")
    keep_login(Login(console.url, token))
    assert status(console, token, "/api/v1/me") == 200
    assert run(["logout", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"profile": "default", "token_ended": True}
    assert status(console, token, "/api/v1/me") == 401
    with pytest.raises(NotLoggedIn):
        find_login()
    assert token not in logins.read_text()
    assert find_login("other").token == "other"
    assert run(["logout"]) != 0


@pytest.mark.parametrize("url", [None, "http://127.0.0.1:1"])
def test_a_logout_says_when_the_token_goes_on(
    console: Console, logins: Path, capsys: pytest.CaptureFixture[str], url: str | None
) -> None:
    """The token that came with an account may be the only way in; and a platform may be away."""
    token = full_token(console, "ada")
    keep_login(Login(url or console.url, token))
    assert run(["logout"]) == 0
    assert "it did not end" in " ".join(capsys.readouterr().out.split())
    assert status(console, token, "/api/v1/me") == 200
    assert token not in logins.read_text()
