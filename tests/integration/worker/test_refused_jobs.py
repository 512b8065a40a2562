"""What a worker refuses before data are touched: the job ends with the reason, the budget comes back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from heights import MEAN, request_fields
from zones import Bench, check_books, given_heights, host_image, open_bench, submit

from domain.dataset import DatasetState
from domain.image import SyscallTable
from domain.job import Reason
from domain.states import JobState
from store import images
from store.tables import chunks, datasets
from worker.heartbeat import Heartbeat
from worker.sandbox.profiles import Profile
from worker.start import charge, claim, prepare

PADDED = {"timing": {"mode": "padded"}}
NO_IMAGE = "sha256:" + "0" * 64
# nobody listens there, and nobody is asked: a job is refused before its sandbox is looked at
CONTAINERS = {
    "sandbox": "docker",
    "docker_socket": Path("/nowhere/docker.sock"),
    "docker_keeper_image": NO_IMAGE,
}
OF_DOCKER = ["page_faults", "pipe_count", "mount_numbers", "shared_pages", "pid_numbers"]


@contextmanager
def bench_of(url: str, folder: Path, profile: Profile = Profile.STANDARD) -> Iterator[Bench]:
    with open_bench(url, folder, isolation=profile, max_attempts=1) as bench:
        yield bench


def command(*words: str) -> dict[str, object]:
    pipeline = request_fields(MEAN)["pipeline"]
    manifest = pipeline["manifest"] | {"command": list(words)}
    return {"pipeline": pipeline | {"manifest": manifest}}


def ends(bench: Bench, job_id: str, reason: Reason | None) -> None:
    bench.drive()
    job = bench.job(job_id)
    check_books(bench)
    if reason is None:
        assert job.state is JobState.RELEASED
        return
    assert (job.state, job.reason, job.charged_at) == (JobState.ERRORED, reason, None)
    assert ("PREPARING", "RUNNING") not in bench.moves(job_id)


@pytest.mark.parametrize(("synthetic", "reason"), [(False, Reason.NOT_SYNTHETIC), (True, None)])
def test_a_worker_for_development(
    database_url: str, tmp_path: Path, synthetic: bool, reason: Reason | None
) -> None:
    with bench_of(database_url, tmp_path, Profile.DEV) as bench:
        given_heights(bench, synthetic=synthetic)
        ends(bench, submit(bench), reason)


def test_a_strict_worker_and_coarse_timing(database_url: str, tmp_path: Path) -> None:
    with bench_of(database_url, tmp_path, Profile.STRICT) as bench:
        given_heights(bench)
        ends(bench, submit(bench), Reason.TIMING_NOT_PADDED)


def test_an_image_that_is_no_more_what_was_approved_ends_its_job_after_one_look(
    database_url: str, tmp_path: Path
) -> None:
    """However many tries there would be; but while another worker is there, which may hold it, one more."""
    with open_bench(database_url, tmp_path, max_attempts=5) as bench:
        given_heights(bench)
        withdrawn, changed, elsewhere = (submit(bench, epsilon=each) for each in ("1", "2", "3"))
        looks, gone = bench.zone.images._looks, tmp_path / "gone"  # as if its interpreter had been there
        assert looks is not None
        looks.image, looks._marks = replace(looks.image, interpreter=gone), ((str(gone), 1, 1),)
        bench.deliver(("job", changed))
        another = bench.zone.settings.model_copy(update={"worker_name": "another"})
        Heartbeat(another, {}).announce(bench.database)
        bench.deliver(("job", elsewhere))
        found = bench.job(elsewhere)
        assert (found.state, found.reason, found.attempts) == (JobState.QUEUED, Reason.IMAGE_CHANGED, 1)
        with bench.database.transaction() as connection:
            images.withdraw(connection, digest=host_image().digest, by="olga", now=bench.clock())
        bench.deliver(("job", withdrawn))
        bench.deliver(("job", elsewhere))
        bench.sent.queue.clear()
        for job_id in (withdrawn, changed, elsewhere):
            ends(bench, job_id, Reason.IMAGE_CHANGED)
        assert [bench.job(job_id).attempts for job_id in (withdrawn, changed, elsewhere)] == [1, 1, 2]


def test_a_data_set_that_was_withdrawn_while_the_job_waited(database_url: str, tmp_path: Path) -> None:
    """A row that was put back behind the withdrawal; and one that comes between the look and the charge."""
    with bench_of(database_url, tmp_path) as bench:
        given_heights(bench)
        withdrawn = sa.update(datasets).values(state=DatasetState.WITHDRAWN)
        put_back, looked_at = submit(bench, epsilon="1"), submit(bench, epsilon="2")
        job = claim(bench.zone, looked_at)
        assert job is not None
        assert prepare(bench.zone, job) is None
        with bench.database.transaction() as connection:
            connection.execute(withdrawn)
        assert not charge(bench.zone, job)
        for job_id in (put_back, looked_at):
            ends(bench, job_id, Reason.DATASET_WITHDRAWN)


@pytest.mark.parametrize(
    "words", [("no-such-program",), ("/usr/bin/no-such",), ("python3", "/pipeline/no-such.py")]
)
def test_a_command_that_the_image_does_not_hold(
    database_url: str, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """Ends at the first try, however many there would be."""
    with open_bench(database_url, tmp_path, max_attempts=5) as bench:
        given_heights(bench)
        ends(bench, submit(bench, **command(*words)), Reason.COMMAND_MISSING)


def test_a_worker_with_containers_and_a_policy_that_does_not_accept_them(
    database_url: str, tmp_path: Path
) -> None:
    with open_bench(database_url, tmp_path, max_attempts=1, **CONTAINERS) as bench:
        given_heights(bench, policy={"accepted_channels": OF_DOCKER[1:]})
        ends(bench, submit(bench), Reason.CHANNELS_OF_DOCKER)


def test_an_image_that_is_not_in_memory_and_a_policy_that_does_not_accept_it(
    sqlite_url: str, tmp_path: Path
) -> None:
    """The host's own files, in which one person's row would reach all later blocks by page_faults."""
    with open_bench(sqlite_url, tmp_path, max_attempts=1) as bench:
        given_heights(bench, policy={"accepted_channels": OF_DOCKER[1:]})
        ends(bench, submit(bench), Reason.CHANNELS_OF_IMAGE)


def test_an_image_for_the_wider_table_and_a_policy_that_does_not_accept_it(
    sqlite_url: str, tmp_path: Path
) -> None:
    """Ends at the first try: no other worker reads another approval."""
    with open_bench(sqlite_url, tmp_path, max_attempts=5) as bench:
        given_heights(bench)
        with bench.database.transaction() as connection:
            standard = SyscallTable.STANDARD
            images.approve(
                connection, digest=host_image().digest, by="operator", now=bench.clock(), syscalls=standard
            )
        ends(bench, submit(bench), Reason.CHANNELS_OF_STANDARD)


@pytest.mark.parametrize("settings", [CONTAINERS, {"isolation": Profile.DEV}, {"isolation": Profile.STRICT}])
def test_a_chunk_waits_for_a_worker_that_may_run_it(
    sqlite_url: str, tmp_path: Path, settings: dict[str, Any]
) -> None:
    """A job that one worker has charged, and a chunk of it that comes to another."""
    with open_bench(sqlite_url, tmp_path) as bench, closing(bench.another(**settings)) as other:
        given_heights(bench)
        job_id = submit(bench)
        bench.deliver(bench.sent.queue.popleft())
        first, *more = bench.sent.take()
        other.deliver(first)
        assert other.sent.take() == [first]
        assert not any(row["attempts"] for row in bench.rows(chunks))
        bench.sent.queue.extend([first, *more])
        ends(bench, job_id, None)
