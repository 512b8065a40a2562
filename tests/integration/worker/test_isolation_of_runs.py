"""What a policy's isolation does on the route: to the schedule, to a chunk, to the certificate."""

from __future__ import annotations

import os
from pathlib import Path

from heights import MEAN, request_fields
from zones import Bench, given_heights, host_image, open_bench, submit

from domain.channels import left_open
from domain.image import SyscallTable
from domain.release import opened
from domain.states import JobState
from domain.surroundings import Backend, Isolation, Surroundings
from store import images
from worker.chunk import claim_chunk
from worker.execute import execute

ALONE, BESIDE = Isolation.EXCLUSIVE, Isolation.SHARED


def charged(bench: Bench) -> str:
    job_id = submit(bench)
    execute(bench.zone, job_id)
    assert bench.job(job_id).state is JobState.RUNNING
    return job_id


def test_a_job_counts_on_one_run_at_a_time_for_each_host(sqlite_url: str, tmp_path: Path) -> None:
    rows = ((ALONE, 1, 1), (ALONE, 2, 2), (ALONE, 9, 4), (BESIDE, 1, 4))
    with open_bench(sqlite_url, tmp_path, slots=4) as bench:
        takes = []
        for number, (isolation, hosts, wanted) in enumerate(rows):
            name = f"heights-{number}"
            padded = {"timing": {"mode": "padded"}, "isolation": isolation}
            people = {f"person-{number}-{one}": 150 + one for one in range(12)}
            dataset = given_heights(bench, people, name=name, policy=padded)
            with_hosts = bench.another(hosts=hosts, processes=1)  # how many are its own changes no promise
            job_id = submit(bench, dataset=name)
            execute(with_hosts.zone, job_id)
            with_hosts.close()
            job = bench.job(job_id)
            assert job.slots == wanted
            assert job.due_at is not None
            assert job.charged_at is not None
            takes.append((job.due_at - job.charged_at).total_seconds())
            schedule = job.request.schedule(dataset.declaration, slots=wanted)
            assert abs(takes[-1] - schedule.visible_after_s) < 0.001
            bench.clock.forward(takes[-1])  # the next one is not due after this one
        assert takes[0] > takes[1] > takes[2] == takes[3]


def test_the_certificate_says_where_runs_were_made(sqlite_bench: Bench) -> None:
    given_heights(sqlite_bench, policy={"isolation": ALONE})
    warm = request_fields(MEAN)["pipeline"]
    warm["manifest"]["command"] = ["python3", "/pipeline/main.py"]
    jobs = {
        "supervised, cold": submit(sqlite_bench, epsilon="100"),
        "supervised, warm": submit(sqlite_bench, epsilon="100", pipeline=warm),
    }
    sqlite_bench.drive()
    for backend, job_id in jobs.items():
        said = opened(sqlite_bench.release(job_id).certificate)["predicate"]["runs"]
        assert (said["isolation"], said["backends"], said["systemCalls"]) == (ALONE, [backend], ["strict"])
        assert said["placesKnown"]
        where = Surroundings(Backend(backend), SyscallTable.STRICT, ALONE, "coarse", os.getuid() == 0)
        assert tuple(said["openChannels"]) == left_open(where)


def test_an_approval_for_the_wider_table_does_not_reach_a_job_that_is_charged(sqlite_bench: Bench) -> None:
    bench = sqlite_bench
    given_heights(bench)
    job_id = charged(bench)
    with bench.database.transaction() as connection:
        images.approve(
            connection,
            digest=host_image().digest,
            by="operator",
            now=bench.clock(),
            syscalls=SyscallTable.STANDARD,
        )
    assert claim_chunk(bench.zone, job_id, 0) is None
    with bench.database.transaction() as connection:
        images.approve(connection, digest=host_image().digest, by="operator", now=bench.clock())
    chunk = claim_chunk(bench.zone, job_id, 0)
    assert chunk is not None
    assert chunk.image is not None
    assert chunk.image.syscalls is SyscallTable.STRICT
