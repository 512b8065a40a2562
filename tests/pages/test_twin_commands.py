"""The commands about twins against a running gateway: each does what its button does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from factories import make_user
from made_counts import given_counts
from serving import Console

from domain.permissions import Role
from domain.twin import README
from dpgate.cli.app import run
from dpgate.cli.exit_codes import ExitCode
from store import datasets, users

Ask = Callable[..., tuple[int, Any]]
HOLDER = make_user("holder", Role.RIGHTS_HOLDER)


@pytest.fixture
def ask(console: Console, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """One command of somebody: its exit code, and its JSON document."""
    monkeypatch.setenv("DPGATE_URL", console.url)

    def asked(name: str, *words: str) -> tuple[int, Any]:
        with console.database.transaction() as connection:
            monkeypatch.setenv("DPGATE_TOKEN", users.renew_token(connection, name=name))
        code = run(["twin", *words, "--json"])
        return code, json.loads(capsys.readouterr().out)

    return asked


def test_planned_made_and_withdrawn(ask: Ask) -> None:
    code, plan = ask("holder", "plan", "heights", "--epsilon", "1")
    assert (code, plan["guarantee"]) == (0, "pure_dp")
    assert {table["path"] for table in plan["tables"]} == {"participants.tsv", "visits.csv"}
    code, job = ask("holder", "make", "heights", "--level", "2", "--epsilon", "1", "--column", "age")
    assert (code, job["state"], job["cost"]) == (0, "QUEUED", {"epsilon": "1"})
    assert job["choices"]["tables"] == [{"path": "participants.tsv", "level": 2, "columns": ["age"]}]
    assert ask("holder", "make", "heights", "--epsilon", "0.5")[0] == ExitCode.CONFLICT
    assert ask("holder", "make", "heights", "--table", "visits.csv=3")[0] != 0
    assert ask("holder", "cancel", "heights", job["id"])[1]["state"] == "CANCELLED"
    assert ask("ada", "make", "heights")[0] == ExitCode.NOT_ALLOWED
    assert ask("rival", "make", "heights")[0] == ExitCode.NOT_FOUND


def test_approved_and_fetched(console: Console, ask: Ask, tmp_path: Path) -> None:
    with console.database.transaction() as connection:
        given_counts(connection, datasets.newest(connection, "heights", HOLDER), level=2)
    assert ask("ada", "status", "heights")[1]["basis"]["level"] == 0
    assert ask("ada", "approve", "heights", "counts-000001")[0] == ExitCode.NOT_ALLOWED
    code, found = ask("holder", "approve", "heights")
    assert (code, found["state"], found["is_in_use"]) == (0, "approved", True)
    assert ask("holder", "approve", "heights")[0] != 0
    status = ask("ada", "status", "heights")[1]
    assert (status["basis"]["level"], status["basis"]["guarantee"], status["counts"]) == (2, "pure_dp", [])
    # the short form, another seed and size, and the blank form
    assert ask("ada", "heights", "-o", str(tmp_path / "one"))[0] == 0
    assert ask("ada", "get", "heights", "--seed", "3", "--people", "50", "-o", str(tmp_path / "two"))[0] == 0
    assert ask("ada", "get", "heights", "--level", "0", "-o", str(tmp_path / "blank"))[0] == 0
    one, two, blank = (tmp_path / name for name in ("one", "two", "blank"))
    assert "pure_dp" in (one / README).read_text()
    assert "BLANK FORM" in (blank / README).read_text()
    assert len((two / "participants.tsv").read_text().splitlines()) == 51
    assert (one / "participants.tsv").read_bytes() != (blank / "participants.tsv").read_bytes()


def test_a_delta_is_refused_where_the_policy_does_not_name_its_class(ask: Ask) -> None:
    told = ("--table", "participants.tsv", "--level", "2", "--delta", "1e-9")
    code, problem = ask("holder", "plan", "memory", *told)
    assert (code, "budget_delta" in str(problem)) == (ExitCode.USAGE, True)
    assert ask("holder", "make", "memory", "--delta", "1e-9")[0] == ExitCode.NOT_ALLOWED
    assert ask("holder", "make", "memory", "--delta", "-1")[0] == ExitCode.USAGE


def test_a_delta_where_it_may_be(ask: Ask) -> None:
    code, plan = ask("holder", "plan", "commuters", "--level", "2", "--epsilon", "0.1", "--delta", "1e-9")
    assert (code, plan["guarantee"], plan["delta"], plan["problem"]) == (0, "approx_dp", "0.000000001", None)
    assert [account["currency"] for account in plan["accounts"]] == ["rho"]
    code, job = ask("holder", "make", "commuters", "--level", "2", "--epsilon", "0.1", "--delta", "1e-9")
    assert (code, job["state"], job["guarantee"], set(job["cost"])) == (0, "QUEUED", "approx_dp", {"rho"})
    assert job["choices"]["delta"] == "0.000000001"
