"""The doctor's whole report on the host of these tests, and what a platform keeps of it."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from host_devices import host_nodes
from terminal import Answer, Platform

from store.database import Database
from store.tables import audit_events
from worker.sandbox.needs import NEEDS


@pytest.fixture(scope="module")
def here(one_platform: Platform) -> Answer:
    # its battery looks at the times of device nodes, which an attack of a test beside may be setting
    with host_nodes():
        return one_platform.operator(
            "doctor", "--home", one_platform.stack.home.root, "--platform", "default", "--json"
        )


def test_this_host_isolates(one_platform: Platform, here: Answer) -> None:
    assert here.code == 0, here.out + here.err
    assert here.json["is_isolated"]
    # it has none; how they are is what the platform answers to `oidc check` too
    assert here.json["providers"] == one_platform.operator.ok("oidc", "check", "--json").json == []
    assert {name: row["needed_from"] for row in here.json["features"] if (name := row["name"]) in NEEDS} == {
        name: need.needed_from and need.needed_from.value for name, need in NEEDS.items()
    }


def test_the_workers_of_this_host_have_one_door(one_platform: Platform, here: Answer) -> None:
    (row,) = [row for row in here.json["features"] if row["name"] == "one door for all runs of this host"]
    assert row["present"]
    assert "no worker" not in row["detail"]


def test_the_quick_battery_ran_and_nothing_got_through(here: Answer) -> None:
    battery = here.json["battery"]
    assert battery["counts"].get("passed", 0) >= 10
    assert "failed" not in battery["counts"], battery
    assert {"name", "category", "outcome", "detail"} == set(battery["probes"][0])


def test_the_report_is_in_the_audit_trail(one_platform: Platform, here: Answer) -> None:
    home = one_platform.stack.home
    assert here.json["report"] == f"The report is in the audit trail of the platform in {home.root}."
    with Database(home.database_url).reading() as connection:
        query = sa.select(audit_events).where(audit_events.c.action == "doctor.report")
        event = connection.execute(query.order_by(audit_events.c.number.desc())).first()
    assert event is not None
    assert (event.actor, event.subject) == ("operator", "host")
    assert event.details["isolation"] == "standard"
    assert event.details["features"] == len(here.json["features"])
    assert event.details["missing"] == event.details["failed"] == []
    assert event.details["battery"] == here.json["battery"]["counts"]
    assert one_platform.operator.ok("audit", "verify", "--json").json["intact"]
