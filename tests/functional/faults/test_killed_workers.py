"""A worker killed with SIGKILL at every step of the route; the next worker takes up what it left.

Each worker of the series is killed at one step while it mends what the one before left; the last is sound.
"""

from __future__ import annotations

import itertools
import json
import os
from collections import Counter
from pathlib import Path

import pytest
from heights import MEAN, PEOPLE, request_fields, table_text
from hostile_messages import DROPPED, HOSTILE
from waiting import let_pass, wait_until
from workers import Platform, named, open_platform
from zones import check_books, given_delivery, given_heights, imported, submit

from domain.dataset import DatasetState
from domain.messages import Queue, WhyDropped
from domain.states import JobState, is_terminal
from store.operation_tables import workers
from store.tables import accounts, ledger_entries, releases

_numbers = itertools.count()
WORD = f"payload-of-the-killed-worker-test-{os.getpid()}"
JOBS = (
    "before:worker.execute:claim",
    "after:worker.execute:claim",
    "after:worker.execute:prepare",
    "before:worker.execute:charge",
    "after:worker.books:enter_charge",
    "after:worker.execute:charge",
    "after:worker.execute:send",
    "after:worker.execute:claim_chunk",
    "after:worker.chunk:stage",
    "second:worker.chunk:collect",
    "before:worker.execute:keep",
    "after:worker.execute:keep",
    "after:worker.execute:arrange_release",
    "after:worker.publish:begin",
    "before:worker.publish:draw",
    "after:worker.publish:draw",
    "after:worker.books:drawn_once",
    "before:worker.books:forget_drawn",
    "after:worker.tasks:publish",
    "child/second:worker.chunk:collect",
    "child/after:worker.publish:draw",
)
DECISIVE = (
    "after:worker.execute:charge",
    "second:worker.chunk:collect",
    "after:worker.execute:keep",
    "after:worker.publish:draw",
    "after:worker.tasks:publish",
)
IMPORTS = (
    "after:worker.importing:join_cohort",
    "before:worker.importing:finish",
    "after:worker.importing:finish",
)


def ask(platform: Platform) -> str:
    """A job whose command line can be found again among the host's processes."""
    pipeline = request_fields(MEAN, wall_s=0.4)["pipeline"]
    # each asks something else: the identical question would be answered by the first release
    pipeline["manifest"]["command"].append(f"{WORD}-{next(_numbers)}")
    job_id = submit(platform.bench, epsilon="1", pipeline=pipeline)
    platform.bench.sent.take()
    platform.queue.run_job(job_id)
    return job_id


def kill_at_each(platform: Platform, faults: tuple[str, ...]) -> list[str]:
    asked = []
    for fault in faults:
        marker = platform.start_worker(fault)
        asked.append(ask(platform))
        wait_until(marker.exists)
        if fault.startswith("child/"):
            platform.stop_worker()
        else:
            platform.wait_for_death()
        wait_until(lambda: not named(WORD))
    return asked


def check_all_released(platform: Platform, asked: list[str]) -> None:
    bench = platform.bench
    wait_until(lambda: all(is_terminal(bench.job(job_id).state) for job_id in asked))
    assert {bench.job(job_id).state for job_id in asked} == {JobState.RELEASED}
    assert sorted(row["job_id"] for row in bench.rows(releases)) == sorted(asked)
    charges = [entry["job_id"] for entry in bench.rows(ledger_entries) if entry["action"] == "charge"]
    assert sorted(charges) == sorted(asked)
    assert not [entry for entry in bench.rows(ledger_entries) if entry["action"] == "refund"]
    assert {row["spent"] for row in bench.rows(accounts) if row["kind"] == "cohort" and row["spent"]} == {
        1_000_000 * len(asked)
    }
    check_books(bench)


def check_nothing_left(platform: Platform) -> None:
    assert not named(WORD)
    # the sweep of the living worker removes what the dead ones had staged
    wait_until(lambda: len(list(platform.scratch.glob("*.lock"))) <= 3)
    assert not list(platform.scratch.rglob("participants.tsv"))


@pytest.mark.deep("twenty-one kills, two minutes; one is below, and integration/worker mends every state")
def test_killed_at_every_step(sqlite_url: str, tmp_path: Path) -> None:
    with open_platform(sqlite_url, tmp_path) as platform:
        given_heights(platform.bench)
        asked = kill_at_each(platform, JOBS)
        platform.start_worker()
        check_all_released(platform, asked)
        check_nothing_left(platform)


def test_killed_between_the_two_ledgers(sqlite_url: str, tmp_path: Path) -> None:
    """The zone has a charge, and then a release, that the platform does not have. What the last worker finds
    in Redis is hostile: it drops that, and goes on."""
    with open_platform(sqlite_url, tmp_path) as platform:
        given_heights(platform.bench)
        asked = kill_at_each(platform, ("after:worker.books:enter_charge", "after:worker.books:drawn_once"))
        with platform.redis.client() as client:
            client.lpush(Queue.MAIN.value, *(raw for _, raw in HOSTILE.values()))
        platform.start_worker()
        check_all_released(platform, asked)
        assert not platform.has_ended()
        assert DROPPED in platform.log.read_text()
        counted = Counter(str(why) for why, _ in HOSTILE.values())
        wait_until(lambda: platform.bench.rows(workers)[0]["dropped"] == counted, said="what was dropped")
        with platform.bench.zone.ledger.reading() as page:
            page.entries()
            assert page.spent("heights") == {"epsilon": 1_000_000 * len(asked)}


def test_keys_of_another_kind_end_no_worker(sqlite_url: str, tmp_path: Path) -> None:
    """Whoever writes to Redis puts a text where a queue is, and where Celery keeps what it has handed out."""
    with open_platform(sqlite_url, tmp_path) as platform, platform.redis.client() as client:
        given_heights(platform.bench)
        platform.start_worker()

        def is_met() -> bool:
            client.mset({"unacked": "text", Queue.MAIN.value: "text"})
            return "onnection to broker lost" in platform.log.read_text()

        def is_released() -> bool:
            return platform.bench.job(job_id).state is JobState.RELEASED

        wait_until(is_met, unless=platform.has_ended, said="a key that the worker cannot use")
        client.flushall()
        job_id = submit(platform.bench)
        wait_until(is_released, unless=platform.has_ended, said="the worker takes messages again")


def test_what_was_put_among_messages_that_are_handed_out_ends_no_worker(
    sqlite_url: str, tmp_path: Path
) -> None:
    """Each start looks there for what dead workers had: one thing that cannot be read ended every start."""
    with open_platform(sqlite_url, tmp_path) as platform, platform.redis.client() as client:
        given_heights(platform.bench)
        platform.queue.run_job("no-such-job")
        ours = json.loads(client.rpop(Queue.MAIN.value))
        info = ours["properties"]["delivery_info"]
        kept = [ours, info["exchange"], info["routing_key"]]
        hostile = [b"\xff\xfe", b"7", b"[1,2]", b"[null,null,null]", b'[{},"dpgate","dpgate"]']
        hostile += [
            json.dumps(each).encode() for each in ([ours, "x", "dpgate"], [ours, "", "x"], [ours, [], {}])
        ]
        for number, raw in enumerate([*hostile, json.dumps(kept).encode()]):
            client.hset("unacked", f"{number}", raw)
            client.zadd("unacked_index", {f"{number}": 1 + number})
        platform.start_worker()
        wait_until(lambda: not client.exists("unacked_index"), unless=platform.has_ended)
        counted = {str(WhyDropped.UNREADABLE): len(hostile)}
        wait_until(lambda: platform.bench.rows(workers)[0]["dropped"] == counted, unless=platform.has_ended)
        job_id = submit(platform.bench)
        platform.queue.run_job(job_id)
        wait_until(lambda: platform.bench.job(job_id).state is JobState.RELEASED, unless=platform.has_ended)


@pytest.mark.deep("the steps are those of SQLite; integration/store has both databases")
def test_killed_at_the_decisive_steps_on_postgresql(postgresql_url: str, tmp_path: Path) -> None:
    with open_platform(postgresql_url, tmp_path) as platform:
        given_heights(platform.bench)
        asked = kill_at_each(platform, DECISIVE)
        platform.start_worker()
        check_all_released(platform, asked)
        check_nothing_left(platform)


@pytest.mark.deep("one more step of a kill; the one mid run is below")
@pytest.mark.parametrize("database", ["sqlite_url"])
def test_killed_while_importing(database: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    with open_platform(request.getfixturevalue(database), tmp_path) as platform:
        bench, asked = platform.bench, []
        for number, fault in enumerate(IMPORTS):
            marker = platform.start_worker(fault)
            people = {f"person-{number}-{name}": height for name, height in PEOPLE.items()}
            given = given_delivery(bench, {"participants.tsv": table_text(people)}, name=f"set-{number}")
            asked.append(given.id)
            platform.queue.import_dataset(given.id)
            wait_until(marker.exists)
            platform.wait_for_death()
        platform.start_worker()
        wait_until(lambda: {imported(bench, one).state for one in asked} == {DatasetState.READY})
        wait_until(lambda: not list(bench.zone.settings.deliveries_folder.iterdir()))


@pytest.mark.deep("the store decides, not Redis; what is lost there integration/worker sends again")
def test_redis_killed_and_back_empty(sqlite_url: str, tmp_path: Path) -> None:
    with open_platform(sqlite_url, tmp_path) as platform:
        given_heights(platform.bench)
        platform.start_worker()
        asked = [ask(platform) for _ in range(6)]
        wait_until(lambda: platform.bench.job(asked[0]).state is JobState.RUNNING)
        platform.redis.kill()
        asked += [ask(platform)]  # the gateway takes it although it cannot tell the workers
        let_pass(2, because="workers end what they have in hand, and cannot acknowledge it")
        platform.redis.start()
        check_all_released(platform, asked)
        check_nothing_left(platform)


def test_a_worker_killed_mid_run_acknowledged_nothing(sqlite_url: str, tmp_path: Path) -> None:
    """Its message is still with Redis, unacknowledged; it comes again and finds nothing to do."""
    with open_platform(sqlite_url, tmp_path) as platform:
        given_heights(platform.bench)
        marker = platform.start_worker("second:worker.chunk:collect")
        job_id = ask(platform)
        wait_until(marker.exists)
        platform.wait_for_death()
        with platform.redis.client() as client:
            assert client.hlen("unacked") >= 1
            # as if the visibility timeout had passed: old enough to be handed out again
            for tag in client.zrange("unacked_index", 0, -1):
                client.zadd("unacked_index", {tag: 1})
        platform.start_worker()
        check_all_released(platform, [job_id])
