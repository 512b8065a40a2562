"""The same logins against a provider that others wrote and certified: npm's oidc-provider, really running."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from asking import Gateway, running_gateway
from base_images import _cache
from factories import given_dataset
from form_browser import Browser
from given_projects import given_grant, given_project
from issuer import MEMBER
from waiting import wait_until

from dpgate.device_login import Confirmation, access_token

SOURCE = Path(__file__).parent / "oidc_provider"
INSTALL = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the provider runs, and reads what people are entitled to."""
    return tmp_path_factory.mktemp("provider")


@pytest.fixture(autouse=True)
def entitled(folder: Path) -> None:
    entitle(folder, MEMBER)


def entitle(folder: Path, *entitlements: str) -> None:
    """From now on the provider says this of everybody."""
    (folder / "entitlements.json").write_text(json.dumps(entitlements))


def installed() -> Path:
    """The provider's packages. Sessions side by side install once, and later ones find what is there."""
    lock = (SOURCE / "package-lock.json").read_bytes()
    place = _cache() / f"oidc-provider-{hashlib.sha256(lock).hexdigest()[:16]}"
    place.mkdir(parents=True, exist_ok=True)
    with (place / "lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        if not (place / "installed").exists():
            for file in SOURCE.glob("package*.json"):
                shutil.copy(file, place)
            subprocess.run(INSTALL, cwd=place, check=True, capture_output=True)
            (place / "installed").touch()
    os.utime(place)  # what nobody used for long is removed
    return place / "node_modules"


@dataclass
class Heard:
    """Where the provider sends logout tokens; each is handed on to the gateway of the test."""

    address: str = ""
    gateway: Gateway | None = None
    answers: list[int] = field(default_factory=list)

    def hand_on(self, body: bytes) -> None:
        assert self.gateway is not None
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        answer = self.gateway.ask("POST", "/login/ended", content=body, headers=form)
        self.answers.append(answer.status_code)


@pytest.fixture(scope="module")
def heard() -> Iterator[Heard]:
    found = Heard()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            found.hand_on(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    found.address = f"http://127.0.0.1:{server.server_address[1]}/"
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def provider(folder: Path, heard: Heard) -> Iterator[str]:
    """Its address."""
    (folder / "node_modules").symlink_to(installed())
    shutil.copy(SOURCE / "package.json", folder)
    shutil.copy(SOURCE / "provider.mjs", folder)
    # Node.js comes with it: what a host has may be older than the provider takes
    (node,) = (folder / "node_modules").glob("node-linux-*/bin/node")
    command = [str(node), "provider.mjs"]
    log = folder / "log"
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            command,
            cwd=folder,
            env=os.environ | {"LOGOUT_URI": heard.address},
            stdout=subprocess.PIPE,
            stderr=errors,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            ready, _, port = process.stdout.readline().decode().strip().partition(" ")
            assert ready == "ready", log.read_text()
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


@pytest.fixture
def gateway(provider: str, sqlite_url: str, tmp_path: Path) -> Iterator[Gateway]:
    (tmp_path / "secret").write_text("web secret & more")
    settings = {
        "public_url": "http://127.0.0.1",
        "oidc_issuer": provider,
        "oidc_audience": "https://dpgate.example",
        "oidc_client_id": "dpgate-web",
        "oidc_client_secret_file": tmp_path / "secret",
        "oidc_cli_client_id": "dpgate-cli",
        "oidc_acting": ["workbench"],
        "oidc_roles": {MEMBER: "data_user", "client:nightly": "data_user"},
    }
    with running_gateway(sqlite_url, "redis+socket:///none", **settings) as running:
        yield running


def person(address: str, opened: httpx.Client | None = None) -> str:
    """Somebody called grace clicks through the provider's pages; where their browser is sent at the end."""
    with nullcontext(opened) if opened is not None else httpx.Client() as browser:
        page = browser.get(address)
        while True:
            while page.is_redirect:
                onward = str(page.url.join(page.headers["location"]))
                if onward.startswith("http://127.0.0.1/"):
                    return onward
                page = browser.get(onward)
            form = re.search(r'<form[^>]*action="([^"]+)"', page.text)
            if form is None:
                return str(page.url)
            fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', page.text))
            if 'name="login"' in page.text:
                fields |= {"login": "grace", "password": "x"}
            page = browser.post(page.url.join(form[1].replace("&amp;", "&")), data=fields)


def me(gateway: Gateway, token: str) -> dict[str, str]:
    return gateway.ask("GET", "/me", headers={"Authorization": f"Bearer {token}"}).json()


def test_a_browser_with_code_and_pkce(gateway: Gateway):
    browser = Browser(gateway, base_url="http://127.0.0.1")
    leaving = browser.get("/login/oidc?next=/account")
    back = httpx.URL(person(leaving.headers["location"])).raw_path.decode()
    answer = browser.get(back)
    assert (answer.status_code, answer.headers["location"]) == (303, "/account")
    assert "You are grace, researcher." in browser.get("/account").text
    assert browser.get(back).status_code == 401
    browser.close()


def test_a_terminal_with_a_device_code(gateway: Gateway):
    def confirm(asked: Confirmation) -> None:
        assert asked.code in asked.address
        person(asked.address)

    ways_in = gateway.ask("GET", "/login").json()
    token = access_token(ways_in, tell=confirm, wait=lambda _: None)
    assert token.count(".") == 0
    assert me(gateway, token) == {"name": "grace", "role": "data_user"}


def test_a_logout_at_the_provider_is_a_logout_here(gateway: Gateway, provider: str, heard: Heard):
    """The provider's own logout token, sent by itself: no request of ours comes between."""
    heard.gateway = gateway
    browser = Browser(gateway, base_url="http://127.0.0.1")
    with httpx.Client() as at_provider:
        back = person(browser.get("/login/oidc").headers["location"], at_provider)
        browser.get(httpx.URL(back).raw_path.decode())
        assert "You are grace, researcher." in browser.get("/account").text
        asking = at_provider.get(f"{provider}/session/end")
        fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', asking.text)) | {"logout": "yes"}
        at_provider.post(f"{provider}/session/end/confirm", data=fields)
    wait_until(lambda: heard.answers, said="the provider has told of it")
    assert heard.answers == [200]
    assert browser.get("/account").status_code == 303
    browser.close()


def test_a_service_with_its_own_secret(gateway: Gateway, provider: str):
    form = {"grant_type": "client_credentials"}
    token = httpx.post(f"{provider}/token", data=form, auth=("nightly", "service%20secret")).json()
    assert token["access_token"].count(".") == 2
    assert me(gateway, token["access_token"]) == {"name": "nightly", "role": "data_user"}


def test_a_service_that_acts_for_a_person(gateway: Gateway, provider: str):
    """It exchanges the token with which the person came to it; what it asks is theirs, and says by whom."""
    ways_in = gateway.ask("GET", "/login").json()
    own = access_token(ways_in, tell=lambda asked: [person(asked.address)], wait=lambda _: None)
    form = {
        "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
        "subject_token": own,
        "subject_token_type": "urn:ietf:params:oauth:token-type:access_token",
    }
    asked = httpx.post(f"{provider}/token", data=form, auth=("workbench", "workbench%20secret"))
    acting = asked.json()["access_token"]
    first = gateway.ask("GET", "/me", headers={"Authorization": f"Bearer {acting}"})
    assert first.status_code == 403
    assert "Log in here yourself once" in first.text
    assert me(gateway, own) == {"name": "grace", "role": "data_user"}
    assert me(gateway, acting) == {"name": "grace", "role": "data_user", "through": "workbench"}


def test_an_opaque_token_that_the_provider_never_made(gateway: Gateway):
    answer = gateway.ask("GET", "/me", headers={"Authorization": "Bearer made-up"})
    assert answer.status_code == 401


GROUP = "urn:mace:example:group:heart:sleep:role=member#idp.example"


def test_a_group_gives_a_place_and_takes_it_back(gateway: Gateway, folder: Path):
    """Over a browser's login and a terminal's: what the provider says last is what holds."""
    with gateway.database.transaction() as connection:
        given_dataset(connection)
        given_project(connection, members=("bob",))
        given_grant(connection)
    mapped = gateway.ask("POST", "/projects/sleep/entitlements", by="bob", json={"entitlement": GROUP})
    assert mapped.status_code == 201
    entitle(folder, MEMBER, GROUP)
    browser = Browser(gateway, base_url="http://127.0.0.1")
    back = person(browser.get("/login/oidc").headers["location"])
    browser.get(httpx.URL(back).raw_path.decode())
    assert "Sleep and memory" in browser.get("/projects").text
    ways_in = gateway.ask("GET", "/login").json()
    token = access_token(ways_in, tell=lambda asked: [person(asked.address)], wait=lambda _: None)
    bearer = {"Authorization": f"Bearer {token}"}
    made = gateway.ask("POST", "/tokens", headers=bearer, json={"label": "laptop", "scopes": ["read"]}).json()
    mine = {"Authorization": f"Bearer {made['token']}"}
    assert gateway.ask("GET", "/datasets/heights", headers=mine).status_code == 200

    entitle(folder, MEMBER)
    # a minute later: what was kept of the token is over, and the provider is asked about it again
    gateway.app.state.providers.main.clock = lambda: time.time() + 61
    assert gateway.ask("GET", "/datasets/heights", headers=bearer).status_code == 404
    assert gateway.ask("GET", "/datasets/heights", headers=mine).status_code == 404
    assert "Sleep and memory" not in browser.get("/projects").text

    entitle(folder)
    gateway.app.state.providers.main.clock = lambda: time.time() + 122
    assert gateway.ask("GET", "/me", headers=bearer).status_code == 403
    assert gateway.ask("GET", "/me", headers=mine).status_code == 401
    assert browser.get("/projects").status_code == 303
    browser.close()
