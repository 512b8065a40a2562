"""The workbench of deploy/workbench: provider, gateway and door really run, and what reaches whom."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
import uvicorn
from factories import given_dataset, given_image, job_request_fields, policy_fields
from hostile_messages import MESSAGE_KEY
from receivers import Receiver, given_webhook, sending
from waiting import wait_until

from domain.notice import NoticeKind
from dpgate.client import Client
from dpgate.credentials import Login
from dpgate.errors import DpgateError
from gateway.app import create_app
from gateway.config import GatewaySettings
from store import notices
from store.database import Database
from store.tables import jobs

KIT = Path(__file__).parents[3] / "deploy" / "workbench"


@dataclass
class Site:
    bench: Any
    door: str
    platform: str
    database: Database

    def own_token(self, name: str, password: str) -> str:
        """What somebody gets at the provider for themself."""
        form = {"grant_type": "password", "username": name, "password": password}
        return str(httpx.post(f"{self.bench.provider}/token", data=form).json()["access_token"])


@pytest.fixture
def kit(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any, Any]:
    monkeypatch.syspath_prepend(KIT)
    provider, bench, pages = map(importlib.import_module, ("provider", "workbench", "pages"))
    return provider, bench, pages


@pytest.fixture
def site(kit: tuple[Any, Any, Any], sqlite_url: str, tmp_path: Path) -> Iterator[Site]:
    provider_of, workbench, pages = kit
    with ExitStack() as stack:

        def served(server: Any) -> str:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            for end in (server.server_close, thread.join, server.shutdown):
                stack.callback(end)
            return f"http://127.0.0.1:{server.server_port}"

        provider = served(provider_of.serving(0))
        settings = GatewaySettings(
            database_url=sqlite_url, broker_url="redis+socket:///none", oidc_issuer=provider,
            oidc_audience=provider_of.AUDIENCE, oidc_acting=(provider_of.SERVICE,),
            oidc_roles={provider_of.MEMBER: "data_user"}, send_notices=False, message_key=MESSAGE_KEY,
        )  # fmt: skip
        server = uvicorn.Server(uvicorn.Config(create_app(settings), port=0, log_level="warning"))
        thread = threading.Thread(target=server.run)
        thread.start()
        stack.callback(thread.join)
        stack.callback(setattr, server, "should_exit", True)
        wait_until(lambda: server.started)
        platform = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        bench = workbench.Workbench(platform, provider, KIT, tmp_path / "hooks", tmp_path / "work")
        bench.hooks.mkdir()
        database = stack.enter_context(closing(Database(sqlite_url)))
        yield Site(bench, served(pages.serving(bench, 0)), platform, database)


def test_each_person_has_their_own_and_the_call_back_is_believed_for_its_signature(
    kit: tuple[Any, Any, Any], site: Site, now: datetime
) -> None:
    bench, refused = site.bench, kit[1].Refused
    with site.database.transaction() as connection:
        given_image(connection)
        given_dataset(connection, policy=policy_fields(data_users=["*"], approve_jobs=True))
    with pytest.raises(refused, match="does not know this login"):
        bench.log_in("researcher", "of-the-example-2")
    cookie = bench.log_in("researcher", "of-the-example-1")
    with pytest.raises(
        DpgateError, match="Log in here yourself"
    ):  # nobody is acted for who was not here themself
        bench.seen(cookie)
    for name, password in kit[0].PEOPLE.items():
        with Client(Login(site.platform, site.own_token(name, password))) as client:
            assert client.me()["name"] == name
    with bench.acting_for(cookie) as client:
        job = client.submit(job_request_fields()).id
    datasets, asked = bench.seen(cookie)
    assert [one.name for one in datasets] == ["heights"]
    assert [one.id for one in asked] == [job]
    with site.database.reading() as connection:
        assert connection.execute(sa.select(jobs.c.author, jobs.c.through)).one() == (
            "researcher",
            "workbench",
        )

    other = bench.log_in("colleague", "of-the-example-2")
    assert bench.seen(other)[1] == []
    with pytest.raises(DpgateError):
        bench.release(other, job)
    with pytest.raises(refused, match="Log in first"):
        bench.acting_for("no such cookie")
    call_back(site, job, now)


def call_back(site: Site, job: str, now: datetime) -> None:
    page = f"{site.door}/hook/researcher"
    at = datetime.now(UTC)
    with sending(site.database, receiver=Receiver(page)) as sender:
        _, secret = given_webhook(site.database, page, at, name="researcher")
        (site.bench.hooks / "researcher").write_text(secret)
        with site.database.transaction() as connection:
            notices.tell(
                connection, kind=NoticeKind.RELEASE_READY, subject=job, to=["researcher"], now=at,
                dataset="heights", state="RELEASED",
            )  # fmt: skip
        sender.send_due(at)
    assert site.bench.ready == {"researcher": {job}}
    forged = httpx.post(page, content=b'{"kind": "release_ready", "subject": "x"}')
    assert forged.status_code == httpx.post(f"{site.door}/hook/..%2Fada", content=b"{}").status_code == 403
    assert site.bench.ready == {"researcher": {job}}
    with httpx.Client(base_url=site.door) as browser:
        assert "Password" in browser.get("/").text
        assert browser.post("/submit", data={"dataset": "heights"}).status_code == 409
        shown = browser.post("/login", data={"name": "researcher", "password": "of-the-example-1"})
        assert f"{job}</a> SUBMITTED - its release can be read" in shown.text
        for elsewhere in ("../researcher", "/etc", "--help", ""):
            refused = browser.post("/try", data={"dataset": elsewhere})
            assert (refused.status_code, "A name is" in refused.text) == (409, True)
        assert "no release" in browser.get(f"/jobs/{job}").text
        assert "SameSite=Strict" in shown.headers["set-cookie"]
        for cookie in site.bench.people:  # a login ends before a long job does: the way back in is there
            site.bench.people[cookie] = ("researcher", "a token that the provider knows no more")
        for page in ("/", f"/jobs/{job}"):
            ended = browser.get(page)
            assert (ended.status_code, "log in again" in ended.text, "Password" in ended.text) == (
                409,
                True,
                True,
            )
