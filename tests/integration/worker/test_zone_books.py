"""The zone's ledger and the platform's: one of them written, and then the worker dies."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from gateway_intruder import put_back, refusals, remember
from heights import MEAN
from zones import Bench, cancel, check_books, given_heights, move, open_bench, submit

from domain.job import Reason
from domain.release import Release
from domain.states import Actor, JobState
from dpgate.cli.app import run
from dpgate.cli.exit_codes import ExitCode
from store import datasets
from store import jobs as stored_jobs
from store.tables import accounts, chunks, releases
from store.zone_ledger import Head, Kind
from worker import books, publish
from worker.certificate import key_id_of


class Died(Exception):
    """In place of a kill: the platform's transaction ends as it would."""


def dying(monkeypatch: pytest.MonkeyPatch, step: str) -> list[Any]:
    """Once, after this step; what it gave."""
    real: Callable[..., Any] = getattr(books, step)
    given: list[Any] = []

    def after(*args: Any) -> Any:
        given.append(real(*args))
        monkeypatch.setattr(books, step, real)
        raise Died

    monkeypatch.setattr(books, step, after)
    return given


def spent(bench: Bench) -> tuple[int, int]:
    """Of epsilon, by the platform and by the zone."""
    (there,) = [row["spent"] for row in bench.rows(accounts) if row["currency"] == "epsilon"]
    with bench.zone.ledger.reading() as page:
        page.entries()
        return there, page.spent("heights").get("epsilon", 0)


def until(bench: Bench, kind: str) -> tuple[Any, ...]:
    """Every message before the first of this kind."""
    while bench.sent.queue[0][0] != kind:
        bench.deliver(bench.sent.queue.popleft())
    return bench.sent.queue.popleft()


def waiting_again(bench: Bench, job_id: str) -> None:
    """As the sweep does with a job whose worker is gone."""
    with bench.database.transaction() as connection:
        assert move(connection, job_id, JobState.PREPARING, JobState.QUEUED, Actor.SWEEP, bench.clock())
    bench.sent.run_job(job_id)


def test_a_charge_that_only_the_zone_has_is_found_again(
    sqlite_bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = sqlite_bench
    given_heights(bench)
    job_id = submit(bench, epsilon="1")
    dying(monkeypatch, "enter_charge")
    with pytest.raises(Died):
        bench.drive()
    assert spent(bench) == (0, 1_000_000)
    ledger = bench.zone.ledger.path
    away = ledger.rename(ledger.with_name("elsewhere"))
    waiting_again(bench, job_id)
    bench.drive()
    assert (bench.job(job_id).state, bench.job(job_id).reason) == (JobState.QUEUED, Reason.LEDGER_MISSING)
    assert not ledger.exists()
    away.rename(ledger)
    bench.sent.run_job(job_id)
    chunk = until(bench, "chunk")
    away = ledger.rename(away)
    bench.deliver(chunk, times=10)  # charged: however long the ledger is away, the job does not end of it
    assert {row["attempts"] for row in bench.rows(chunks)} == {0}
    away.rename(ledger)
    bench.sent.run_chunk(*chunk[1:])
    bench.drive()
    assert bench.job(job_id).state is JobState.RELEASED
    assert spent(bench) == (1_000_000, 1_000_000)
    check_books(bench)


def test_a_charge_that_only_the_zone_has_ends_with_a_refund(
    sqlite_bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = sqlite_bench
    given_heights(bench)
    job_id = submit(bench, epsilon="1")
    dying(monkeypatch, "enter_charge")
    with pytest.raises(Died):
        bench.drive()
    cancel(bench, job_id)
    other = submit(bench, epsilon="2")
    bench.drive()
    assert bench.job(other).state is JobState.RELEASED
    assert spent(bench) == (2_000_000, 2_000_000)
    # a worker that has looked just before sees no data of it either
    stale, looked = [None], books._not_charged
    monkeypatch.setattr(books, "_not_charged", lambda *asked: stale.pop() if stale else looked(*asked))
    with bench.database.reading() as connection:
        dataset = datasets.of_job(connection, bench.job(job_id))
    assert books.why_no_data(bench.zone, bench.job(job_id), dataset) is Reason.NOT_IN_LEDGER
    with bench.zone.ledger.reading() as page:
        assert page.find(Kind.VOID, job_id) is not None
        assert page.find(Kind.TOUCHED, job_id) is None


def test_a_release_that_only_the_zone_has_is_the_one_that_comes_out(
    sqlite_bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = sqlite_bench
    given_heights(bench)
    job_id = submit(bench, epsilon="1")
    message = until(bench, "publish")
    drawn = dying(monkeypatch, "drawn_once")
    with pytest.raises(Died):
        bench.deliver(message)
    assert bench.rows(releases) == []
    bench.deliver(message)
    assert bench.job(job_id).state is JobState.RELEASED
    assert [bench.release(job_id)] == drawn
    check_books(bench)


def test_a_worker_that_stood_still_while_another_published_accuses_nobody(
    sqlite_bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = sqlite_bench
    given_heights(bench)
    job_id = submit(bench, epsilon="1")
    message, before, looked = until(bench, "publish"), [bench.job(job_id)], stored_jobs.get
    bench.deliver(message)
    monkeypatch.setattr(
        stored_jobs, "get", lambda *asked, **how: before.pop() if before else looked(*asked, **how)
    )
    publish.publish(bench.zone, job_id)
    assert before == []
    assert (bench.job(job_id).state, bench.job(job_id).reason) == (JobState.RELEASED, None)
    assert refusals(bench) == []


def test_of_two_draws_at_one_moment_the_first_comes_out(sqlite_bench: Bench) -> None:
    bench = sqlite_bench
    given_heights(bench)
    job_id = submit(bench, epsilon="1")
    bench.clock.forward(until(bench, "publish")[2] + 0.001)
    assert publish.begin(bench.zone, job_id)
    first: list[Release] = []
    with bench.database.transaction() as connection:
        job = stored_jobs.get(connection, job_id, lock=True)
        dataset = datasets.of_job(connection, job)

        def draw(head: Head) -> Release:
            return publish.draw(bench.zone, connection, job, dataset, head)

        def second(head: Head) -> Release:
            first.append(books.drawn_once(bench.zone, connection, job, dataset, draw))
            return draw(head)

        given = books.drawn_once(bench.zone, connection, job, dataset, second)
    assert [given] == first


def kept_elsewhere(
    bench: Bench, folder: Path, job_id: str, capsys: pytest.CaptureFixture[str]
) -> list[list[str]]:
    """Options for a mark of now, and for the release of a job."""
    zone, url = str(bench.zone.settings.zone_folder), bench.database.url
    capsys.readouterr()
    assert run(["ledger", "mark", "--zone-folder", zone, "--database-url", url]) == 0
    (folder / "marks.jsonl").write_text(capsys.readouterr().out)
    (folder / "release.json").write_text(bench.release(job_id).model_dump_json())
    return [["--marks", str(folder / "marks.jsonl")], ["--release", str(folder / "release.json")]]


def test_a_database_of_an_earlier_day_is_noticed_and_caught_up_with(
    sqlite_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_bench(sqlite_url, tmp_path) as bench:
        given_heights(bench)
        backup, ledger = remember(bench, tmp_path), bench.zone.ledger.path
        shutil.copy(ledger, tmp_path / "ledger-before")
        first = submit(bench, epsilon="1")
        bench.drive()
        assert bench.job(first).state is JobState.RELEASED
        zone, url = str(bench.zone.settings.zone_folder), sqlite_url
        verify = ["ledger", "verify", "--zone-folder", zone, "--database-url", url, "--json"]
        kept = kept_elsewhere(bench, tmp_path, first, capsys)
        assert [run([*verify, *each]) for each in kept] == [0, 0]
        put_back(bench, backup)
        newer = shutil.move(ledger, tmp_path / "ledger-after")
        shutil.copy(tmp_path / "ledger-before", ledger)
        assert run(verify) == 0  # both of an earlier day: they agree, and say nothing
        assert [run([*verify, *each]) for each in kept] == [ExitCode.BROKEN_CHAIN] * 2
        said = [line for line in capsys.readouterr().out.splitlines() if '"kept"' in line]
        assert [" is not the one of " in said[-2], " is not there" in said[-1]] == [True, True]
        shutil.copy(newer, ledger)
        assert spent(bench) == (0, 1_000_000)
        second = submit(bench, epsilon="2")
        bench.drive()
        job = bench.job(second)
        assert (job.state, job.reason) == (JobState.QUEUED, Reason.LEDGER_BEHIND)
        assert run(verify) == ExitCode.BROKEN_CHAIN
        assert json.loads(capsys.readouterr().out)["broken_at"] is not None
        asked = ["ledger", "catch-up", "--zone-folder", zone, "--database-url", url, "--json"]
        assert run(asked) == 0
        said = json.loads(capsys.readouterr().out)
        assert said == {"written_off": {"heights": {"epsilon": 1_000_000}}}
        assert run(["ledger", "show", "--zone-folder", zone]) == 0
        shown = capsys.readouterr().out
        assert f"{second} " in shown
        assert key_id_of(bench.zone.keys.signing) in shown
        assert spent(bench) == (1_000_000, 1_000_000)
        bench.sent.run_job(second)
        bench.drive()
        assert bench.job(second).state is JobState.RELEASED
        assert spent(bench) == (3_000_000, 3_000_000)
        assert run(verify) == 0


def test_a_job_that_was_drawn_again_after_both_books_were_put_back_is_noticed(
    sqlite_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first release's event is there, and whoever kept that release has two noised answers of one job."""
    with open_bench(sqlite_url, tmp_path) as bench:
        given_heights(bench)
        first = submit(bench, epsilon="1")
        message = until(bench, "publish")
        bench.clock.forward(message[2] + 0.001)
        assert publish.begin(bench.zone, first)
        backup, ledger = remember(bench, tmp_path), bench.zone.ledger.path
        shutil.copy(ledger, tmp_path / "ledger-before")
        bench.deliver(message)
        (tmp_path / "first.json").write_text(bench.release(first).model_dump_json())
        put_back(bench, backup)
        shutil.copy(tmp_path / "ledger-before", ledger)
        bench.deliver(message)
        (tmp_path / "second.json").write_text(bench.release(first).model_dump_json())
        zone = str(bench.zone.settings.zone_folder)
        verify = ["ledger", "verify", "--zone-folder", zone, "--database-url", sqlite_url, "--json"]
        codes = [run([*verify, "--release", str(tmp_path / name)]) for name in ("second.json", "first.json")]
        assert codes == [0, ExitCode.BROKEN_CHAIN]
        assert "first.json is not the release of its job that is on record" in capsys.readouterr().out
        with bench.database.transaction() as connection:  # by whoever would hide it
            first_id = json.loads((tmp_path / "first.json").read_text())["id"]
            connection.execute(sa.update(releases).values(id=first_id))
        assert run([*verify, "--release", str(tmp_path / "first.json")]) == ExitCode.BROKEN_CHAIN


def test_a_pac_state_that_was_put_back_is_noticed(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_bench(sqlite_url, tmp_path) as bench:
        policy = {"guarantees": ["pac"], "timing": {"mode": "coarse", "step_seconds": 0.001}}
        given_heights(bench, budget_nats="0.6", policy=policy)
        asked = {"name": "pac", "nats": "0.1"}
        first = submit(bench, mechanism=asked)
        message = until(bench, "publish")
        dying(monkeypatch, "drawn_once")  # with it the cohort's first state, which the zone alone has then
        with pytest.raises(Died):
            bench.deliver(message)
        bench.deliver(message)
        before = remember(bench, tmp_path)
        second = submit(bench, MEAN + "# again", mechanism=asked)
        bench.drive()
        third = submit(bench, MEAN + "# once more", mechanism=asked)
        message = until(bench, "publish")
        put_back(bench, before, only=("pac_states",))
        bench.deliver(message)
        assert [bench.job(each).state for each in (first, second)] == [JobState.RELEASED] * 2
        held = bench.job(third)
        assert (held.state, held.reason) == (JobState.RUNNING, Reason.LEDGER_BEHIND)
