"""A job in an imported image, from the archive to the release; and one that is cancelled while it runs."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from base_images import base_archive
from heights import MEAN, request_fields
from shm import folder_in_memory
from waiting import wait_until
from workers import named
from zones import Bench, cancel, check_books, given_heights, open_bench, submit

from domain.channels import beyond_default
from domain.image import SyscallTable
from domain.job import Reason
from domain.pipeline import Source
from domain.release import opened
from domain.states import JobState
from domain.surroundings import Isolation
from store import images
from worker.announce import announce_images
from worker.cancelling import LOOK_EVERY_S
from worker.chunk import claim_chunk, give_back, run
from worker.execute import execute_chunk
from worker.host_turns import HostTurns
from worker.images import in_memory
from worker.images.store import ImageStore
from worker.sandbox.core.images import StoredImage
from worker.sandbox.protocol import SandboxUnavailable

WORD = f"payload-of-the-cancelled-job-{os.getpid()}"
ENDLESS = "import time; time.sleep(86_400)"
AWK = """\
BEGIN { FS = "\\t"; OFS = "\\t" }
NR == 1 { for (i = 1; i <= NF; i++) if ($i == "age") column = i; next }
{ sum += $column; count++ }
END { print "mean_age"; print sum / count }
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that users of slots can pass: pytest's own is closed to them."""
    place = Path(tempfile.mkdtemp(prefix="dpgate-store-", dir="/var/tmp"))
    place.chmod(0o711)
    yield place / "images"
    shutil.rmtree(place)


@pytest.fixture
def bench(
    database_url: str, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Bench]:
    """With a scratch folder of its own: no other test has a copy of its images there."""
    # a host of a developer may swap
    monkeypatch.setattr(in_memory, "why_not_kept", lambda _: None)
    with (
        folder_in_memory() as scratch,
        open_bench(
            database_url, tmp_path, images_folder=folder, scratch_folder=scratch, max_attempts=1
        ) as it,
    ):
        yield it


@pytest.fixture
def image(bench: Bench, folder: Path) -> StoredImage:
    """In the store, announced and approved."""
    stored = ImageStore(folder).add(base_archive("minimal"), name="minimal")
    assert announce_images(bench.database, bench.zone.images, now=bench.clock()) == 1
    approve(bench, stored.digest)
    return stored


def approve(bench: Bench, digest: str, syscalls: SyscallTable = SyscallTable.STRICT) -> None:
    with bench.database.transaction() as connection:
        images.approve(connection, digest=digest, by="operator", now=bench.clock(), syscalls=syscalls)


def awk(**changes: Any) -> dict[str, Any]:
    pipeline = request_fields(MEAN)["pipeline"]
    script = 'awk -f /pipeline/mean.awk "$1/participants.tsv" > "$2/result.tsv"\n'
    sources = [Source.of("mean.awk", AWK.encode()), Source.of("run.sh", script.encode())]
    manifest = pipeline["manifest"] | {"command": ["sh", "/pipeline/run.sh"], **changes}
    return {
        "pipeline": pipeline
        | {"manifest": manifest, "sources": [source.model_dump(mode="json") for source in sources]}
    }


def test_a_job_in_shell_and_awk_is_released(
    bench: Bench, image: StoredImage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a host that begins to swap, and that no policy accepts, its chunks wait until that is over."""
    given_heights(bench, policy={"accepted_channels": []})
    job_id = submit(bench, image_digest=image.digest, **awk())
    bench.deliver(bench.sent.queue.popleft())
    chunk, *others = bench.sent.take()
    with monkeypatch.context() as host:
        host.setattr(in_memory, "why_not_kept", lambda _: "it swaps")
        bench.deliver(chunk)
        assert bench.sent.take() == [chunk]
        host.setattr(in_memory, "why_not_kept", lambda _: None)
        claimed = claim_chunk(bench.zone, job_id, chunk[2])
        assert claimed is not None
        host.setattr(in_memory, "why_not_kept", lambda _: "it swaps")
        with pytest.raises(SandboxUnavailable, match="page_faults"):
            run(bench.zone, claimed)
        give_back(bench.zone, claimed, was_tried=False)
    bench.sent.queue.extend([chunk, *others])
    bench.drive()
    assert bench.job(job_id).state is JobState.RELEASED
    check_books(bench)
    said = opened(bench.release(job_id).certificate)["predicate"]["runs"]
    assert "caches" in said["openChannels"]
    assert "page_faults" not in said["openChannels"], "the image was copied to memory"


@dataclass(frozen=True)
class NotingTurns(HostTurns):
    """The real ones, and a word when one is asked for."""

    note: Callable[[], None] = field(kw_only=True)

    def taken(self, isolation: Isolation) -> AbstractContextManager[bool]:
        self.note()
        return super().taken(isolation)


def test_a_worker_has_the_image_ready_before_it_takes_a_turn(bench: Bench, image: StoredImage) -> None:
    """A large image takes longer than a lease has room for, and nobody else should wait for it."""
    given_heights(bench)
    job_id = submit(bench, image_digest=image.digest, **awk())
    bench.deliver(bench.sent.queue.popleft())
    other, ready = bench.another(), []
    is_ready = partial(other.zone.images.is_in_memory, image.digest)
    turns = NotingTurns(**vars(other.zone.turns), note=lambda: ready.append(is_ready()))
    try:
        assert not is_ready()
        execute_chunk(replace(other.zone, turns=turns), job_id, 0)
    finally:
        other.close()
    assert ready == [True]


def test_the_standard_table_can_be_approved_too(bench: Bench, image: StoredImage) -> None:
    """While the image is gone from the store, chunks wait: the one try that there is would end the job."""
    approve(bench, image.digest, SyscallTable.STANDARD)
    given_heights(bench, policy={"accepted_channels": beyond_default(Isolation.SHARED)})
    job_id = submit(bench, image_digest=image.digest, **awk())
    bench.deliver(bench.sent.queue.popleft())
    stored, chunk = image.rootfs.parent, bench.sent.queue[0]
    away = stored.rename(stored.with_name("away"))
    bench.deliver(chunk)
    assert bench.sent.queue.pop() == chunk
    away.rename(stored)
    bench.drive()
    assert bench.job(job_id).state is JobState.RELEASED


def test_an_image_that_was_changed_on_disk_is_not_run(bench: Bench, image: StoredImage) -> None:
    given_heights(bench)
    program = image.rootfs / "usr" / "bin" / "mawk"
    program.chmod(0o755)
    with program.open("ab") as file:
        file.write(b"\0")
    os.utime(program, (0, 0))
    job_id = submit(bench, image_digest=image.digest, **awk())
    bench.drive()
    job = bench.job(job_id)
    assert (job.state, job.reason, job.charged_at) == (JobState.ERRORED, Reason.IMAGE_CHANGED, None)


def test_a_missing_command_is_found_before_data_are_touched(bench: Bench, image: StoredImage) -> None:
    given_heights(bench)
    job_id = submit(bench, image_digest=image.digest, **awk(command=["Rscript", "/pipeline/run.sh"]))
    bench.drive()
    job = bench.job(job_id)
    assert (job.state, job.reason, job.charged_at) == (JobState.ERRORED, Reason.COMMAND_MISSING, None)


def test_cancelling_ends_the_runs_that_go_on(bench: Bench) -> None:
    given_heights(bench)
    job_id = submit(bench, **endless())
    bench.deliver(bench.sent.queue.popleft())
    chunk = bench.sent.queue.popleft()
    worker = threading.Thread(target=bench.deliver, args=(chunk,), daemon=True)
    worker.start()
    wait_until(lambda: named(WORD), unless=lambda: not worker.is_alive(), said="a run")
    cancel(bench, job_id)
    wait_until(lambda: not worker.is_alive(), said="the end of the runs")
    assert not named(WORD)
    assert bench.job(job_id).state is JobState.CANCELLED
    bench.drive()
    check_books(bench)


def test_whoever_cancels_is_heard_within_a_second() -> None:
    assert LOOK_EVERY_S < 1


def endless() -> dict[str, Any]:
    """A day in each run, in a process that can be found among this host's."""
    fields = request_fields(f"import os, sys\nos.execv(sys.executable, {['python3', '-c', ENDLESS, WORD]})\n")
    manifest = fields["pipeline"]["manifest"]
    manifest["resources"] |= {"wall_seconds": 86_400}
    return {"pipeline": fields["pipeline"]}
