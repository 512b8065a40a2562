"""A data set is withdrawn or erased while a job on it is reserved, charged, at its runs, or about to come
out: the job ends, the books are right, and of what was erased nothing opens and nothing comes out.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from factories import make_user
from heights import MEAN, request_fields
from waiting import wait_until
from workers import Platform, named, open_platform
from zones import check_books, given_heights, imported, submit

from domain.dataset import DatasetState
from domain.permissions import Role
from domain.states import JobState
from store import erasures, jobs, withdrawals
from store.tables import accounts, run_outputs
from store.tables import releases as release_rows
from store.zone_ledger import Kind

WORD = f"payload-of-the-ended-test-{os.getpid()}"
HOLDER = make_user("holder", Role.RIGHTS_HOLDER)
TIMING = {
    "padded": {"timing": {"mode": "padded"}, "isolation": "exclusive"},
    "coarse": {"isolation": "shared"},
}
ENDED = {JobState.RELEASED, JobState.CANCELLED}


def moments(platform: Platform, job_id: str, name: str) -> dict[str, Callable[[], bool]]:
    def publish_at() -> bool:
        with platform.bench.database.reading() as connection:
            return jobs.publish_time(connection, job_id) is not None

    def state(*states: JobState) -> Callable[[], bool]:
        return lambda: platform.bench.job(job_id).state in states

    return {
        "reserved": state(JobState.QUEUED),
        "charged": state(JobState.RUNNING, *ENDED),
        "at its runs": lambda: bool(named(f"{WORD}-{name}")),
        "done": lambda: publish_at() or platform.bench.job(job_id).state in ENDED,
        "coming out": state(JobState.AGGREGATING, *ENDED),
    }


def ask(platform: Platform, name: str) -> str:
    slow = f"import time\ntime.sleep(0.3)\n{MEAN}"
    pipeline = request_fields(slow, wall_s=1)["pipeline"]
    pipeline["manifest"]["command"].append(f"{WORD}-{name}")
    job_id = submit(platform.bench, epsilon="1", pipeline=pipeline, dataset=name)
    platform.bench.sent.take()
    return job_id


def end(platform: Platform, name: str, way: str) -> None:
    now = platform.bench.clock()
    with platform.bench.database.transaction() as connection:
        if way == "erase":
            erasures.ask(connection, name=name, user=HOLDER, now=now)
        else:
            cancels = way == "cancel"
            withdrawals.withdraw(connection, name=name, user=HOLDER, cancels_running=cancels, now=now)


def check_account(platform: Platform, job_id: str, name: str) -> None:
    """What stands is the charge of a job that saw data; the zone has it, too."""
    (account,) = [
        row for row in platform.bench.rows(accounts)
        if (row["cohort"], row["currency"], row["kind"]) == (name, "epsilon", "cohort")
    ]  # fmt: skip
    was_charged = platform.bench.job(job_id).charged_at is not None
    assert (account["reserved"], account["spent"]) == (0, 1_000_000 * was_charged)
    with platform.bench.zone.ledger.reading() as page:
        assert page.spent(name).get("epsilon", 0) == 1_000_000 * was_charged


def check_erased(platform: Platform, job_id: str, name: str, dataset_id: str) -> None:
    bench = platform.bench
    wait_until(
        lambda: imported(bench, dataset_id).state is DatasetState.ERASED,
        unless=platform.has_ended, said=f"the end of {name}",
    )  # fmt: skip
    assert name not in bench.zone.sealed.keys.names()
    assert not [row for row in bench.rows(run_outputs) if row["job_id"] == job_id]
    key = str(imported(bench, dataset_id).data_key)
    folders = (bench.zone.settings.snapshots_folder, bench.zone.settings.participants_folder)
    wait_until(
        lambda: not any((folder / "own" / key).exists() for folder in folders),
        unless=platform.has_ended, said="the end of its files",
    )  # fmt: skip
    with bench.zone.ledger.reading() as page:
        drawn, (erased,) = page.find(Kind.DRAW, job_id), [
            entry for entry in page.having(Kind.ERASED) if entry.body["dataset"] == name
        ]  # fmt: skip
    assert drawn is None or drawn.number < erased.number, "no draw after the end of its key"


MOMENTS = ("reserved", "charged", "at its runs", "done", "coming out")


@pytest.mark.parametrize(("timing", "way"), [("padded", "erase"), ("coarse", "cancel"), ("coarse", "finish")])
def test_whatever_a_job_was_at_it_ends_and_the_books_are_right(
    timing: str, way: str, sqlite_url: str, tmp_path: Path
) -> None:
    with open_platform(sqlite_url, tmp_path) as platform:
        platform.start_worker()
        ended: dict[str, JobState] = {}
        for moment in MOMENTS:
            name = f"{way}-{moment.replace(' ', '-')}"
            people = {f"{name}-{number}": 150 + number for number in range(12)}
            dataset = given_heights(platform.bench, people, name=name, cohort=name, policy=TIMING[timing])
            job_id = ask(platform, name)
            if moment != "reserved":
                platform.queue.run_job(job_id)
            wait_until(moments(platform, job_id, name)[moment], unless=platform.has_ended, said=name)
            end(platform, name, way)
            if moment == "reserved":
                platform.queue.run_job(job_id)
            wait_until(
                lambda job=job_id: platform.bench.job(job).state in ENDED,
                unless=platform.has_ended, said=f"the end of the job of {name}",
            )  # fmt: skip
            ended[moment] = platform.bench.job(job_id).state
            if way == "erase":
                check_erased(platform, job_id, name, dataset.id)
            check_account(platform, job_id, name)
            has_release = job_id in {row["job_id"] for row in platform.bench.rows(release_rows)}
            assert has_release is (ended[moment] is JobState.RELEASED)
        check_books(platform.bench)
        assert ended["reserved"] is JobState.CANCELLED
        assert ended["at its runs"] is (JobState.RELEASED if way == "finish" else JobState.CANCELLED)
