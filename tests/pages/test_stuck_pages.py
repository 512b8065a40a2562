"""The buttons of the operator's pages do what they say, twice if pressed twice, and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import redis
import sqlalchemy as sa
from browsing import Browser
from serving import Console, words
from story import RUNNING, WAITING
from told_workers import DRAINS, LIVE, LOST

from domain.operation import WorkerState
from domain.permissions import User
from domain.states import JobState
from store import maintenance, tokens, workers
from store.clock import database_time
from store.tables import audit_events, jobs
from store.tokens import Caller
from store.users import PREFIX

REASON = "the disks are exchanged"
LONG = timedelta(minutes=14)


@pytest.fixture
def stuck_console(console: Console) -> Console:
    """The job that waited for approval is queued, and its message was lost."""
    long_ago = datetime.now(UTC) - LONG
    with console.database.transaction() as connection:
        values = {"state": JobState.QUEUED, "moved_at": long_ago, "nudged_at": None}
        connection.execute(sa.update(jobs).where(jobs.c.id == WAITING).values(values))
    return console


def messages(socket: str) -> int:
    with redis.Redis(unix_socket_path=socket.removeprefix("redis+socket://")) as client:
        return int(client.llen("dpgate"))  # type: ignore[arg-type]


def events(console: Console, action: str) -> list[str]:
    with console.database.reading() as connection:
        query = sa.select(audit_events.c.subject).where(audit_events.c.action == action)
        return list(connection.execute(query).scalars())


def test_a_lost_message_is_sent_again_once(stuck_console: Console, redis_url: str):
    wanted = {"kind": "queued", "subject": WAITING}
    with stuck_console.visit("olga") as olga:
        shown = words(olga.get("/operation"))
        assert "1 thing is stuck." in shown
        assert f"{WAITING}" in shown
        # a job that runs for long is not stuck
        assert f"{RUNNING} {REASON}" not in shown
        answers = [olga.send("/operation/stuck", **wanted) for _ in range(2)]
        assert [answer.headers["location"].partition("?done=")[2] for answer in answers] == [
            "sent#stuck",
            "before#stuck",
        ]
        assert "on its way" in words(olga.get("/operation?done=sent"))
    assert messages(redis_url) == 1
    assert events(stuck_console, "operation.mend") == [WAITING]


def test_what_is_not_stuck_is_left_alone(stuck_console: Console, redis_url: str):
    with stuck_console.visit("olga") as olga:
        for kind in ("lease", "preparing", "overdue", "import"):
            assert olga.send("/operation/stuck", kind=kind, subject=WAITING).status_code == 409
        assert olga.send("/operation/stuck", kind="queued", subject=RUNNING).status_code == 409
        assert olga.send("/operation/stuck", kind="slow", subject=RUNNING).status_code == 422
    assert messages(redis_url) == 0
    assert events(stuck_console, "operation.mend") == []


def test_a_worker_drains_resumes_and_is_forgotten(console: Console):
    with console.visit("olga") as olga:
        assert "missing: cgroup" in words(olga.get("/operation/workers"))
        assert olga.send(f"/operation/workers/{LIVE}", decision="forget").status_code == 409
        assert olga.send(f"/operation/workers/{LIVE}", decision="reboot").status_code == 422
        assert olga.send("/operation/workers/nobody", decision="drain").status_code == 404
        for _ in range(2):
            olga.send(f"/operation/workers/{LIVE}", decision="drain", ends="yes")
            olga.send(f"/operation/workers/{DRAINS}", decision="resume")
        olga.send(f"/operation/workers/{LOST}", decision="forget")
    with console.database.reading() as connection:
        found = {one.name: one for one in workers.listed(connection, now=database_time(connection))}
    assert {name: one.state for name, one in found.items()} == {
        LIVE: WorkerState.DRAINING,
        DRAINS: WorkerState.LIVE,
    }
    assert found[LIVE].drain_ends
    assert found[LIVE].drain_asked_by == "olga"
    assert [events(console, f"worker.{what}") for what in ("resume", "forget")] == [[DRAINS], [LOST]]
    assert events(console, "worker.drain") == [DRAINS, LIVE]


def test_maintenance_is_on_every_page_and_a_refused_form_keeps_its_words(console: Console):
    with console.visit("olga") as olga, console.visit("ada") as ada, console.visit() as stranger:
        refused = olga.send(
            "/operation/maintenance", decision="begin", reason=REASON, until="2020-01-01T10:00"
        )
        assert refused.status_code == 422
        assert f'value="{REASON}"' in refused.text
        assert "has passed." in words(refused)
        assert olga.send("/operation/maintenance", decision="begin", reason="x").status_code == 422
        assert "Maintenance:" not in ada.get("/").text
        olga.send("/operation/maintenance", decision="begin", reason=f"{REASON} <b>now</b>")
        for visitor, path in ((ada, "/"), (ada, "/jobs"), (stranger, "/login"), (olga, "/operation")):
            assert "&lt;b&gt;now&lt;/b&gt;" in visitor.get(path).text
        answer = ada.send("/projects", name="new-one")
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "300"
        assert f"Nothing new is taken now: {REASON}" in words(answer)
        assert ada.send(f"/jobs/{WAITING}/cancel").status_code == 303
        olga.send("/operation/maintenance", decision="end")
        assert "Maintenance:" not in ada.get("/").text
        assert olga.send("/operation/maintenance", decision="end").status_code == 409
    with console.database.reading() as connection:
        assert maintenance.current(connection) is None


def test_tokens_of_others_are_seen_without_their_secret_and_revoked(console: Console):
    now = datetime.now(UTC)
    with console.database.transaction() as connection:
        caller = Caller(User(name="ada", role="data_user"))
        made, text = tokens.create(
            connection, caller, label="laptop", scopes=caller.scopes, lasts=timedelta(days=9), now=now
        )
    with console.visit("olga") as olga:
        page = olga.get("/operation/people")
        assert made.id in page.text
        assert text.rpartition(".")[2] not in page.text
        assert f"{PREFIX}." not in page.text
        assert olga.send(f"/operation/people/bob/tokens/{made.id}").status_code == 404
        olga.send(f"/operation/people/ada/tokens/{made.id}")
        assert made.id not in olga.get("/operation/people").text
        assert olga.send("/operation/people/olga").status_code == 403
        olga.send("/operation/people/bob")
        assert "disabled" in words(olga.get("/operation/people"))
    assert events(console, "token.revoke") == [made.id]
    assert events(console, "user.disable") == ["bob"]


def test_a_member_leads_instead_of_somebody_who_was_disabled(console: Console, browser: Browser):
    with console.visit("olga") as olga:
        assert "Projects whose lead is disabled" not in olga.get("/operation/people").text
        assert olga.send("/operation/people/ada").is_redirect
        browser.enter(console, "olga")
        browser.complaints()
        browser.look(f"{console.url}/operation/people", width=390, scheme="light")
        assert "sleep was led by ada" in browser.text("#projects")
        assert browser.overflow(width=390) == []
        assert browser.inaccessible() == []
        assert olga.send("/operation/projects/sleep", lead="holder").status_code == 404
        assert olga.send("/operation/projects/sleep", lead="bob").is_redirect
        assert "Projects whose lead is disabled" not in olga.get("/operation/people").text
        assert olga.send("/operation/projects/sleep", lead="bob").status_code == 409
    with console.visit("bob") as bob:
        page = words(bob.get("/projects/sleep"))
    assert "bob leads" in page
    assert "olga" in page


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light")])
def test_the_page_with_something_stuck_and_the_banner_can_be_used_by_everybody(
    stuck_console: Console, browser: Browser, width: int, scheme: str
):
    with stuck_console.visit("olga") as olga:
        olga.send("/operation/maintenance", decision="begin", reason=REASON, until="2126-01-01T10:00")
    browser.enter(stuck_console, "olga")
    browser.complaints()
    browser.look(f"{stuck_console.url}/operation", width=width, scheme=scheme)  # type: ignore[arg-type]
    assert REASON in browser.text(".banner")
    assert browser.overflow(width=width) == []
    assert browser.inaccessible() == []
    assert browser.complaints() == []


def test_with_older_tables_the_page_says_what_to_do(console: Console):
    with console.database.transaction() as connection:
        for table in ("workers", "maintenance"):
            connection.exec_driver_sql(f"DROP TABLE {table}")
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0010'")
    with console.visit("olga") as olga:
        page = words(olga.get("/operation"))
    assert "Its tables have form 0010" in page
    assert "run dpgate database upgrade" in page
