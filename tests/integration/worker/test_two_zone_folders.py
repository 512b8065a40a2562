"""Two workers of one platform with one master key and a zone folder each: whichever takes which message, no
job is charged in vain, and nothing is said to be erased that the other still has.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from test_draining_rehearsals import announce
from test_erasing import ask_for_it, found
from test_query_route import TALL, ask
from zones import Bench, check_books, given_heights, imported

from domain.dataset import DatasetState
from domain.job import Reason
from domain.states import JobState
from store.tables import chunks as chunk_rows
from store.tables import datasets as version_rows
from worker import erasing
from worker.sweep import sweep


def tall(than: int) -> dict[str, object]:
    return {"kind": "count", "where": [{"column": "height", "operator": ">", "value": than}]}


OWN = {"what a new folder has": ("master.key", "ledger.sqlite"), "a copy of all": None}


@pytest.fixture(params=OWN)
def apart(request: pytest.FixtureRequest, sqlite_bench: Bench, tmp_path: Path) -> Iterator[Bench]:
    """The second worker: its folder was set up, or copied, before the first job."""
    given_heights(sqlite_bench)
    zone, folder = sqlite_bench.zone.settings.zone_folder, tmp_path / "apart"
    if (names := OWN[request.param]) is None:
        shutil.copytree(zone, folder)
    else:
        folder.mkdir(mode=0o700)
        for name in names:
            shutil.copy(zone / name, folder / name)
    other = sqlite_bench.another(zone_folder=folder)
    announce(sqlite_bench, "first")
    announce(sqlite_bench, "second")
    yield other
    other.close()


def test_what_one_has_charged_waits_for_it_whatever_the_other_tries(sqlite_bench, apart):
    bench = sqlite_bench
    job_id = ask(bench, TALL)
    bench.deliver(bench.sent.queue.popleft())
    chunk = bench.sent.queue.popleft()
    for _ in range(2 * apart.zone.settings.max_attempts):
        apart.deliver(chunk)
        sweep(apart.zone)
    assert bench.job(job_id).state is JobState.RUNNING
    assert {row["attempts"] for row in bench.rows(chunk_rows)} == {0}
    due_at = bench.job(job_id).due_at
    assert due_at is not None
    bench.clock.forward((due_at - bench.clock() + timedelta(minutes=11)).total_seconds())
    apart.deliver(chunk)
    assert bench.job(job_id).reason in {Reason.SNAPSHOT_MISSING, Reason.NOT_IN_LEDGER}
    bench.deliver(chunk)
    publish = bench.sent.queue.popleft()
    for _ in range(2 * apart.zone.settings.max_attempts):
        apart.deliver(publish)
        sweep(apart.zone)
    bench.deliver(publish)
    assert (bench.job(job_id).state, bench.job(job_id).reason) == (JobState.RELEASED, None)
    check_books(bench)


@pytest.mark.parametrize("seed", range(3))
def test_no_order_of_messages_charges_in_vain(sqlite_bench, apart, seed):
    bench, lot = sqlite_bench, random.Random(seed)
    asked = [ask(bench, tall(150 + number)) for number in range(5)]
    for _ in range(40 * len(asked)):
        one, other = lot.sample((bench, apart), 2)
        waiting = [*bench.sent.take(), *apart.sent.take()]
        for message in waiting:
            one.deliver(message) if lot.random() < 0.5 else other.deliver(message)
        bench.clock.forward(bench.zone.settings.resend_after_s + 1)
        sweep(lot.choice((bench, apart)).zone)
        states = {bench.job(job_id).state for job_id in asked}
        if states == {JobState.RELEASED}:
            break
    ended = {job_id: (bench.job(job_id).state, bench.job(job_id).reason) for job_id in asked}
    assert set(ended.values()) == {(JobState.RELEASED, None)}, ended
    check_books(bench)


def test_the_one_without_the_key_does_not_say_erased(sqlite_bench, apart):
    bench = sqlite_bench
    (dataset,) = bench.rows(version_rows)
    ask_for_it(bench)
    if not apart.zone.sealed.keys.names():
        for _ in range(2):
            sweep(apart.zone)
        assert found(bench).done_at is None
        assert bench.zone.sealed.keys.names() == ["heights"]
    erasing.erase(bench.zone)
    assert imported(bench, dataset["id"]).state is DatasetState.ERASED
    assert bench.zone.sealed.keys.names() == []
