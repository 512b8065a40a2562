"""The operator's commands against a running gateway: each does what its button does."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from serving import Console
from story import RUNNING, WAITING
from told_workers import DRAINS, LIVE, LOST

from domain.permissions import Role, User
from domain.states import JobState
from dpgate.cli.app import run
from dpgate.cli.exit_codes import ExitCode
from store import tokens, users
from store.database import Database
from store.tables import jobs
from store.tokens import Caller

Ask = Callable[..., tuple[int, Any]]


@pytest.fixture
def ask(console: Console, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """One command of the operator: its exit code, and its JSON document."""
    with console.database.transaction() as connection:
        monkeypatch.setenv("DPGATE_TOKEN", users.renew_token(connection, name="olga"))
        values = {"state": JobState.QUEUED, "moved_at": datetime.now(UTC) - timedelta(hours=1)}
        connection.execute(sa.update(jobs).where(jobs.c.id == WAITING).values(values))
    monkeypatch.setenv("DPGATE_URL", console.url)

    def asked(*words: str) -> tuple[int, Any]:
        code = run([*words, "--json"])
        return code, json.loads(capsys.readouterr().out)

    return asked


def test_workers(ask: Ask) -> None:
    assert {one["name"]: one["state"] for one in ask("worker", "list")[1]} == {
        LIVE: "live",
        DRAINS: "draining",
        LOST: "lost",
    }
    assert ask("worker", "drain", LIVE, "--end")[1]["drain_ends"] is True
    assert ask("worker", "resume", DRAINS)[1]["state"] == "live"
    assert ask("worker", "forget", LOST) == (0, {"forgotten": LOST})
    assert ask("worker", "forget", LIVE)[0] == ExitCode.CONFLICT
    assert ask("worker", "drain", "../../users")[0] in (ExitCode.USAGE, ExitCode.NOT_FOUND)


def test_stuck_things(ask: Ask) -> None:
    assert [one["subject"] for one in ask("stuck", "list")[1]] == [WAITING]
    assert ask("operation")[1]["stuck"][0]["mends"] == "Send its message again"
    assert [ask("stuck", "mend", WAITING)[1]["sent"] for _ in range(2)] == [True, False]
    assert ask("stuck", "mend", RUNNING)[0] == ExitCode.CONFLICT


def test_a_project_whose_lead_is_disabled(ask: Ask, console: Console) -> None:
    assert ask("project", "leadless") == (0, [])
    with console.database.transaction() as connection:
        users.disable(connection, name="ada", now=datetime.now(UTC))
    found = {"project": "sleep", "lead": "ada", "candidates": ["bob"]}
    assert ask("project", "leadless") == (0, [found])
    assert ask("project", "name-lead", "sleep", "holder")[0] == ExitCode.NOT_FOUND
    assert ask("project", "name-lead", "sleep", "bob") == (0, {"project": "sleep", "lead": "bob"})
    assert ask("project", "name-lead", "sleep", "bob")[0] == ExitCode.CONFLICT


def test_tokens_of_people(ask: Ask, console: Console) -> None:
    ada, now = User(name="ada", role=Role.DATA_USER), datetime.now(UTC)
    with console.database.transaction() as connection:
        made, _ = tokens.create(
            connection,
            Caller(ada),
            label="laptop",
            scopes=Caller(ada).scopes,
            lasts=timedelta(days=9),
            now=now,
        )
    assert [one["id"] for one in ask("user", "tokens", "ada")[1]] == [made.id]
    assert ask("user", "revoke", "bob", made.id)[0] == ExitCode.NOT_FOUND
    assert ask("user", "revoke", "ada", made.id) == (0, {"revoked": made.id})
    assert ask("user", "tokens", "ada")[1] == []


def test_maintenance(ask: Ask, monkeypatch: pytest.MonkeyPatch, console: Console) -> None:
    assert ask("maintenance", "on", "x")[0] == ExitCode.USAGE
    assert ask("maintenance", "on", "the disks", "--until", "2020-01-01T00:00")[0] == ExitCode.USAGE
    until = ask("maintenance", "on", "the disks", "--until", "2126-01-01 10:00")[1]["until"]
    assert until == "2126-01-01T10:00:00Z"
    with console.database.transaction() as connection:
        monkeypatch.setenv("DPGATE_TOKEN", users.renew_token(connection, name="ada"))
    assert ask("maintenance", "show")[1]["reason"] == "the disks"
    assert ask("maintenance", "off")[0] == ExitCode.NOT_ALLOWED
    code, said = ask("project", "close", "sleep")
    assert code == ExitCode.NOT_READY
    assert "nothing new is taken now: the disks." in said["error"]


def test_tables_are_brought_up_to_date(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"sqlite:///{tmp_path}/dpgate.db"
    for _ in range(2):
        assert run(["database", "upgrade", "--database-url", url, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["tables"] is not None
    database = Database(url)
    with database.reading() as connection:
        assert "workers" in sa.inspect(connection).get_table_names()
    database.close()
