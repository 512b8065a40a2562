"""Is it ready? Words for whoever routes requests, the same for everybody; the page says what to do."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from asking import problem, running_gateway

from gateway import readiness
from store import sweeps, workers
from store.clock import database_time
from store.database import Database
from store.operation import database_words
from store.operation_tables import sweeps as swept
from store.schema import schema
from store.workers import Presence

READY = {
    "status": "ready",
    "database": "ok",
    "tables": "ok",
    "broker": "ok",
    "disk": "ok",
    "sweeps": "none",
    "workers": "none",
    "clock": "ok",
    "logins": "none",
}


@pytest.fixture(autouse=True)
def look_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "KEPT_S", -1.0)


def test_ready_with_everything_there(database_url: str, redis_url: str):
    with running_gateway(database_url, redis_url) as gateway:
        assert gateway.ask("GET", "/health/ready").json() == READY
        assert sweeps.take_turn(gateway.database, every_s=5)
        assert gateway.ask("GET", "/health/ready").json() == READY | {"sweeps": "late"}
        nothing = gateway.ask("GET", "/operation", by="olga").json()
        assert (nothing["last_sweep_at"], nothing["last_sweep_by"]) == (None, None)
        with gateway.database.transaction() as connection:
            sweeps.note_end(connection, by="one")
        assert gateway.ask("GET", "/health/ready").json() == READY | {"sweeps": "ok"}
        with gateway.database.transaction() as connection:
            now = database_time(connection)
            told = Presence("one", "its start", "1", "3.11", "standard", "supervised", 1, {})
            workers.announce(connection, told, now=now, skew_s=60)
            # the clock went back since a worker asked
            later = {"asked_at": now + timedelta(seconds=30), "ended_at": now + timedelta(seconds=31)}
            connection.execute(sa.update(swept).values(later))
        there = {"sweeps": "ok", "workers": "ok", "clock": "off"}
        assert gateway.ask("GET", "/health/ready").json() == READY | there
        found = gateway.ask("GET", "/operation", by="olga").json()
        assert datetime.fromisoformat(found["last_sweep_at"]) == later["ended_at"].replace(
            second=0, microsecond=0
        )
        assert found["last_sweep_by"] == "one"


def test_without_the_broker_it_goes_on_and_says_so(sqlite_url: str):
    with running_gateway(sqlite_url, "redis+socket:///nowhere/redis.sock") as gateway:
        assert gateway.ask("GET", "/health/ready").json() == READY | {"broker": "unreachable"}
        assert gateway.ask("GET", "/operation", by="olga").json()["broker"] == "unreachable"


def test_with_older_tables_it_is_not_ready(database_url: str, redis_url: str):
    with running_gateway(database_url, redis_url) as gateway:
        with gateway.database.transaction() as connection:
            assert schema(connection).fits
            connection.execute(sa.text("UPDATE alembic_version SET version_num = '0005'"))
        refused = problem(gateway.ask("GET", "/health/ready"), status=503, kind="Unready")
        assert (refused["field"], refused["problem"]) == (
            "tables",
            "not ready: database ok, tables differs, broker ok, disk unknown, sweeps unknown, "
            "workers unknown, clock unknown, logins none.",
        )
        tables = gateway.ask("GET", "/operation", by="olga").json()["tables"]
        assert tables["found"] == "0005" != tables["needed"]


def test_without_a_database_it_says_no_more_than_that(tmp_path: Path):
    lost = Database(f"sqlite:///{tmp_path}/none/dpgate.db")
    assert database_words(lost) == ("unreachable", "unknown")
    lost.close()


def test_a_crowd_that_asks_costs_one_look(sqlite_url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(readiness, "KEPT_S", 60.0)
    with running_gateway(sqlite_url, "redis+socket:///none") as gateway:
        looks = []
        monkeypatch.setattr(gateway.app.state.queue, "answers", lambda: looks.append(1) or True)
        for _ in range(20):
            gateway.ask("GET", "/health/ready")
    assert len(looks) == 1
