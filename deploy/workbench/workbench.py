"""A small workbench: people log in, see data sets, try a BIDS app on twins, submit it, and read releases.

    python pages.py --port 8762 --platform http://127.0.0.1:8750 --provider http://127.0.0.1:8761 \
        --app examples/bids-means-python --secrets hooks

What is here is what it does; what it shows is in pages.py. It keeps nobody's password and no token of the
platform. The token with which somebody came is exchanged, for each thing that they ask, for one with which it
acts for them: what they may not do it cannot do either.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from dpgate.asking import build_request
from dpgate.client import Client
from dpgate.credentials import Login
from dpgate.job import Job
from dpgate.models import Dataset, Release

AUDIENCE = "dpgate"  # of the platform at the provider
SERVICE, SERVICE_SECRET = "workbench", "secret-of-the-example"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
EPSILON = "2"
OLDEST_S = 300


class Refused(Exception):
    """A sentence for the person who asked."""


class LoggedOut(Refused):
    """Nobody is here by this cookie, or the provider's word on them has run out."""


@dataclass
class Workbench:
    """Its state is in memory: who is here by cookie, and which jobs have been called back about."""

    platform: str
    provider: str
    app: Path
    hooks: Path
    work: Path
    people: dict[str, tuple[str, str]] = field(default_factory=dict)  # cookie: name, the token they came with
    ready: dict[str, set[str]] = field(default_factory=dict)  # name: jobs whose release can be read

    def log_in(self, name: str, password: str) -> str:
        """The cookie of somebody whom the provider knows."""
        token = self._ask({"grant_type": "password", "username": name, "password": password})
        cookie = secrets.token_urlsafe(32)
        self.people[cookie] = (name, token)
        return cookie

    def acting_for(self, cookie: str) -> Client:
        """A client of the platform in the name of whoever has this cookie. Close it."""
        return Client(self._login(cookie))

    def try_on_twin(self, cookie: str, dataset: str) -> str:
        """Fetch the twin and run the app on it, as its author would; what the commands say."""
        app, twin = self._app_of(cookie), self._place(cookie) / plain(dataset)
        said = "" if twin.exists() else self._dpgate(cookie, "twin", dataset, "--output", str(twin))
        return said + self._dpgate(cookie, "run", str(app), "--twin", str(twin))

    def submit(self, cookie: str, dataset: str) -> str:
        """The id of the job: theirs, with this service on record."""
        request = build_request(self._app_of(cookie), dataset=dataset, epsilon=EPSILON)
        with self.acting_for(cookie) as client:
            return client.submit(request).id

    def called_back(self, name: str, headers: dict[str, str], body: bytes) -> None:
        """A notice of the platform: believed for its signature alone, and no more than a hint."""
        secret = self.hooks / plain(name)
        if not secret.is_file():
            raise Refused("nobody is called back here under this name")
        if not is_genuine(secret.read_text().strip(), headers, body):
            raise Refused("this is not signed by the platform, or too old")
        notice = json.loads(body)
        if notice["kind"] == "release_ready":
            self.ready.setdefault(name, set()).add(notice["subject"])

    def seen(self, cookie: str) -> tuple[list[Dataset], list[Job]]:
        with self.acting_for(cookie) as client:
            return client.datasets(), client.jobs()

    def release(self, cookie: str, job_id: str) -> Release:
        with self.acting_for(cookie) as client:
            return client.release(job_id)

    def name(self, cookie: str) -> str:
        if cookie not in self.people:
            raise LoggedOut("Log in first.")
        return self.people[cookie][0]

    def _dpgate(self, cookie: str, *words: str) -> str:
        """A command in somebody's name."""
        login = self._login(cookie)
        own = {"DPGATE_URL": login.url, "DPGATE_TOKEN": login.token, "COLUMNS": "100"}
        command = [sys.executable, "-m", "dpgate", *words]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | own)
        if done.returncode:
            raise Refused(done.stderr)
        return done.stdout

    def _place(self, cookie: str) -> Path:
        return self.work / plain(self.name(cookie))

    def _app_of(self, cookie: str) -> Path:
        """A copy of their own: what the runs on the twin lock lies in it."""
        app = self._place(cookie) / "app"
        if not app.exists():
            shutil.copytree(self.app, app)
        return app

    def _login(self, cookie: str) -> Login:
        self.name(cookie)
        exchange = {
            "grant_type": EXCHANGE,
            "subject_token": self.people[cookie][1],
            "subject_token_type": "urn:ietf:params:oauth:token-type:access_token",
            "audience": AUDIENCE,
        }
        return Login(self.platform, self._ask(exchange))

    def _ask(self, form: dict[str, str]) -> str:
        answer = httpx.post(f"{self.provider}/token", data=form, auth=(SERVICE, SERVICE_SECRET))
        if answer.status_code != 200:
            raise LoggedOut("The identity provider does not know this login, or not any more: log in again.")
        return str(answer.json()["access_token"])


def plain(name: str) -> str:
    """A name that is part of a path here and a word of a command. Raises Refused for any other."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,63}", name):
        raise Refused("A name is small letters, digits and hyphens.")
    return name


def is_genuine(secret: str, headers: dict[str, str], body: bytes) -> bool:
    """Is this message the platform's, and not older than five minutes? As docs/how-to/accounts.md has it."""
    sent_at = headers.get("webhook-timestamp", "")
    if not sent_at.isdecimal() or abs(time.time() - int(sent_at)) > OLDEST_S:
        return False
    signed = f"{headers.get('webhook-id', '')}.{sent_at}.".encode() + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return any(hmac.compare_digest(expected, one) for one in headers.get("webhook-signature", "").split(" "))
