"""The route of a job, every step called directly: what comes out, and what hostile pipelines can do to it."""

from __future__ import annotations

from statistics import fmean

import pytest
from heights import LOWER, MEAN, PEOPLE, UPPER
from zones import Bench, check_books, given_heights, submit

from domain.states import JobState
from dpgate.verification import check_release
from privacy.partition import assign_blocks, derive_key
from store.tables import audit_events, chunks, releases, run_outputs
from worker.certificate import public_key_pem
from worker.execute import execute
from worker.publish import publish

MIDDLE = (LOWER + UPPER) / 2
# 2 or 4 blocks, epsilon 1000: the noise has a scale of (220 - 100) / 2 / 1000 = 0.06 at most
NEAR = 1.0
FAILURES = {
    "exits with 7": "raise SystemExit(7)",
    "hangs": "import time\ntime.sleep(60)",
    "hangs deaf": "import signal, time\nsignal.signal(15, signal.SIG_IGN)\nwhile True: time.sleep(1)",
    "crashes": "import ctypes\nctypes.string_at(0)",
    "writes nothing": "",
    "writes garbage": "open('/out/result.tsv', 'wb').write(bytes(range(256)) * 100)",
    "writes too much": "open('/out/result.tsv', 'w').write('mean_height\\n' + '1' * 70_000)",
    "writes another shape": "open('/out/result.tsv', 'w').write('mean_height\\n180\\n180\\n')",
    "writes no number": "open('/out/result.tsv', 'w').write('mean_height\\nnan\\n')",
    "links out": "import os\nos.symlink('/in/participants.tsv', '/out/result.tsv')",
    "forks": "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass",
    "eats memory": "x = []\nwhile True: x.append(bytearray(10**7))",
}


def expected_mean(bench: Bench, job_id: str) -> float:
    """The mean of the blocks' means, by plain Python over the same partition."""
    job = bench.job(job_id)
    key = derive_key(bench.zone.keys.partition, dataset_id=job.dataset_id, job_id=job_id)
    blocks: dict[int, list[float]] = {number: [] for number in range(4)}
    for name, block in zip(PEOPLE, assign_blocks(PEOPLE, key=key, blocks=4, people=12), strict=True):
        assert block is not None
        blocks[block].append(PEOPLE[name])
    return fmean(fmean(heights) if heights else MIDDLE for heights in blocks.values())


def test_the_release_is_the_mean_of_the_blocks_within_noise(bench: Bench) -> None:
    given_heights(bench)
    job_id = submit(bench)
    bench.drive()
    release = bench.release(job_id)
    assert release.values[0].value == pytest.approx(expected_mean(bench, job_id), abs=NEAR)
    assert release.files["result.tsv"].startswith("mean_height\n")
    assert check_release(release.model_dump(mode="json"), public_key_pem(bench.zone.keys.signing))
    assert [after for _, after in bench.moves(job_id)] == [
        "QUEUED",
        "PREPARING",
        "RUNNING",
        "AGGREGATING",
        "IN_REVIEW",
        "RELEASED",
    ]
    check_books(bench)


@pytest.mark.parametrize("failure", FAILURES)
def test_a_pipeline_that_fails_everywhere_is_released_with_defaults(bench: Bench, failure: str) -> None:
    given_heights(bench)
    job_id = submit(bench, FAILURES[failure], wall_s=0.3, block_size=6)
    bench.drive()
    job = bench.job(job_id)
    assert (job.state, job.reason, job.attempts) == (JobState.RELEASED, None, 0)
    assert bench.release(job_id).values[0].value == pytest.approx(MIDDLE, abs=NEAR)
    check_books(bench)


def test_a_block_that_fails_costs_only_itself(bench: Bench) -> None:
    given_heights(bench)
    trap = "if 'sub-7\\t' in open('/in/participants.tsv').read(): raise SystemExit(7)\n"
    job_id = submit(bench, trap + MEAN)
    bench.drive()
    key = derive_key(bench.zone.keys.partition, dataset_id=bench.job(job_id).dataset_id, job_id=job_id)
    blocks = dict(zip(PEOPLE, assign_blocks(PEOPLE, key=key, blocks=4, people=12), strict=True))
    own = [height for name, height in PEOPLE.items() if blocks[name] == blocks["sub-7"]]
    expected = expected_mean(bench, job_id) + (MIDDLE - fmean(own)) / 4
    assert bench.release(job_id).values[0].value == pytest.approx(expected, abs=NEAR)


def test_every_message_twice_changes_nothing(bench: Bench) -> None:
    given_heights(bench)
    job_id = submit(bench)
    bench.drive(times=2)
    assert bench.job(job_id).state is JobState.RELEASED
    assert len(bench.rows(releases)) == 1
    assert len(bench.moves(job_id)) == 6
    check_books(bench)


def test_messages_in_odd_orders_change_nothing(bench: Bench) -> None:
    given_heights(bench)
    job_id = submit(bench)
    every = [("publish", job_id, 0), ("chunk", job_id, 1), ("chunk", job_id, 0), ("job", job_id)]
    every += [("chunk", job_id, 99), ("chunk", job_id, -1), ("publish", job_id, 0)]
    for _ in range(4):
        for message in every:
            bench.deliver(message)
    bench.clock.forward(1)
    for message in every:
        bench.deliver(message)
    assert bench.job(job_id).state is JobState.RELEASED
    assert len(bench.moves(job_id)) == 6
    after = len(bench.rows(audit_events))
    bench.sent.take()
    for message in every:
        bench.deliver(message)
    assert len(bench.rows(audit_events)) == after
    assert not bench.sent.queue
    check_books(bench)


def test_publish_before_its_time_does_nothing(bench: Bench) -> None:
    given_heights(bench, policy={"timing": {"mode": "coarse", "step_seconds": 3600}})
    job_id = submit(bench)
    execute(bench.zone, job_id)
    bench.sent.queue.popleft()
    publish(bench.zone, job_id)  # no block is done
    for message in [message for message in bench.sent.take() if message[0] == "chunk"]:
        bench.deliver(message)
        publish(bench.zone, job_id)
    assert bench.job(job_id).state is JobState.RUNNING
    assert not bench.rows(releases)
    (message,) = bench.sent.take()
    assert 0 < message[2] <= 3600
    bench.deliver(message)
    assert bench.job(job_id).state is JobState.RELEASED


def test_a_release_in_review_waits_and_its_outputs_are_gone(bench: Bench) -> None:
    given_heights(bench, policy={"review_releases": True})
    job_id = submit(bench)
    bench.drive(times=2)
    assert bench.job(job_id).state is JobState.IN_REVIEW
    assert not bench.rows(run_outputs)
    assert not bench.rows(chunks)
    assert len(bench.rows(releases)) == 1
