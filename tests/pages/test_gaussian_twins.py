"""A twin with a delta from the command that asks for it to the file that is fetched, by a real worker zone:
whoever sees a number of it sees its class."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from heights import PEOPLE
from serving import Console, running_console, words
from zones import Bench, check_books, given_heights, open_bench

from domain.states import JobState
from domain.twin import README
from dpgate.cli.app import run
from store import users

PROMISE, PRICE = "approx_dp", "epsilon 20, delta 0.000000001"
IN_WORDS = "Approximate differential privacy"
COST = {"epsilon": "20", "delta": "0.000000001"}
Ask = Callable[..., Any]


@pytest.fixture
def bench(sqlite_url: str, tmp_path: Path) -> Iterator[Bench]:
    with open_bench(sqlite_url, tmp_path) as opened:
        policy = {"guarantees": ["pure_dp", "approx_dp"], "review_twin": True}
        given_heights(opened, budget_delta="0.00001", policy=policy)
        yield opened


@pytest.fixture
def own_console(bench: Bench, redis_socket: str) -> Iterator[Console]:
    with running_console(bench.zone.settings.database_url, redis_socket) as console:
        yield console


@pytest.fixture
def ask(own_console: Console, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """What a command of somebody prints."""
    monkeypatch.setenv("DPGATE_URL", own_console.url)

    def asked(name: str, *typed: str, as_json: bool = True) -> Any:
        with own_console.database.transaction() as connection:
            monkeypatch.setenv("DPGATE_TOKEN", users.renew_token(connection, name=name))
        assert run([*typed, *(["--json"] if as_json else [])]) == 0
        said = capsys.readouterr().out
        return json.loads(said) if as_json else " ".join(said.split())

    return asked


def drawn(bench: Bench, ask: Ask) -> str:
    """Ordered over the interface, counted and noised by the worker zone."""
    job = ask("holder", "twin", "make", "heights", "--level", "2", "--epsilon", "20", "--delta", "1e-9")
    assert (job["guarantee"], job["cost"]) == (PROMISE, COST)
    bench.deliver(("job", job["id"]))
    bench.drive()
    assert bench.job(job["id"]).state is JobState.RELEASED
    check_books(bench)
    return str(job["id"])


def test_its_class_stands_wherever_a_number_of_it_does(
    bench: Bench, own_console: Console, ask: Ask, tmp_path: Path
) -> None:
    job_id = drawn(bench, ask)
    with own_console.visit("holder") as holder:
        for place in (f"/jobs/{job_id}", f"/jobs/{job_id}/release"):
            assert IN_WORDS in words(holder.get(place)), place
        assert f"{PROMISE}, {PRICE}" in words(holder.get("/datasets/heights/twins"))
    approved = ask("holder", "twin", "approve", "heights")
    assert (approved["state"], approved["is_in_use"]) == ("approved", True)
    basis = ask("ada", "twin", "status", "heights")["basis"]
    assert (basis["guarantee"], basis["epsilon"], basis["delta"]) == (PROMISE, *COST.values())
    assert PROMISE in ask("ada", "twin", "status", "heights", as_json=False)
    with own_console.visit("ada") as ada:
        assert f"{PROMISE}, {PRICE}" in words(ada.get("/datasets/heights"))
    ask("ada", "twin", "get", "heights", "-o", str(tmp_path / "twin"))
    told = (tmp_path / "twin" / README).read_text()
    assert PROMISE in told
    assert PRICE in told
    assert "pure_dp" not in told
    assert len((tmp_path / "twin" / "participants.tsv").read_text().splitlines()) == len(PEOPLE) + 1
