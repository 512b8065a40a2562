"""A worker killed with SIGKILL while it profiles a delivery: another one makes the profile anew, or says why
there is none; nothing of the table is left anywhere, and nothing is stored twice."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from made_profiles import ask, delivered, opened, read
from waiting import wait_until
from workers import Platform, named, open_platform

from domain.profile_request import ProfileOnRecord, ProfileProblem, ProfileState
from store.tables import audit_events

WORD = f"payload-of-the-killed-profile-test-{os.getpid()}"
CANARY = "canary5b1d"
TABLE = f"{WORD}.csv"
ROWS = 400
HEADER = "person,age,letters\n"
FILES = {TABLE: HEADER + "".join(f"{CANARY}{row},{row % 70},{CANARY}@{row}.example\n" for row in range(ROWS))}
MANY = {"dataset_description.json": "{}"} | {
    f"sub-{person}/sub-{person}_{WORD}_events.tsv": HEADER.replace(",", "\t")
    + "".join(f"{CANARY}{row}\t{row % 70}\t{CANARY}@{row}.example\n" for row in range(ROWS // 4))
    for person in range(4)
}
STEPS = (
    "after:worker.profile.route:claim",
    "before:worker.profile.confined:run_confined",
    # the sandbox is there, and nobody has let the reader begin
    "child/after:worker.images.confinement:_start",
    "before:worker.profile.route:sealed_for",
    "before:worker.profile.route:_wait_for_a_step",
    "child/before:store.profiles:finish",
    "before:store.profiles:finish",
    # in the transaction: it is not committed
    "after:store.profiles:finish",
    # stored, and its message is not acknowledged
    "after:worker.tasks:profile",
)


@dataclass(frozen=True)
class Zone:
    """A platform whose workers have a folder of their own for what they put nowhere else."""

    platform: Platform
    elsewhere: Path

    def ask(self, files: dict[str, str]) -> tuple[str, str]:
        """A profile on record and announced: its id, and the private key."""
        request, private = delivered(self.platform.bench, files)
        profile_id = ask(self.platform.bench, request)
        self.platform.queue.profile(profile_id)
        return profile_id, private

    def found(self, profile_id: str) -> ProfileOnRecord:
        return read(self.platform.bench, profile_id)

    def ended(self, profile_id: str) -> ProfileOnRecord:
        wait_until(lambda: not self.found(profile_id).state.is_open)
        return self.found(profile_id)

    def check_nothing_left(self) -> None:
        """No sandbox, and nothing of a table in any file but those that were delivered."""
        wait_until(lambda: not named(WORD))
        zone = self.platform.bench.zone.settings
        holding = [
            path
            for folder in (self.elsewhere, self.platform.folder, zone.scratch_folder)
            for path in folder.rglob("*")
            if path.is_file()
            and zone.deliveries_folder not in path.parents
            and CANARY.encode() in path.read_bytes()
        ]
        assert not holding
        assert not [path for path in self.elsewhere.rglob("*") if path.is_file()]

    def check_made(self, profile_id: str, private: str) -> None:
        """Once, and it says what there was to say."""
        assert self.found(profile_id).state is ProfileState.SEALED
        self.check_told_once(profile_id)
        profile = opened(self.platform.bench, self.found(profile_id), private)
        assert [one.found.rows for one in profile.document.tables if one.found] == [ROWS]

    def check_told_once(self, profile_id: str) -> None:
        events = [row for row in self.platform.bench.rows(audit_events) if row["subject"] == profile_id]
        assert [row["action"] for row in events].count("profile.end") == 1


def reader() -> int | None:
    """The program that reads the table, once it runs: bwrap has become it."""
    return next((pid for pid, line in named(WORD).items() if "bwrap" not in line), None)


def kill_maker() -> None:
    """The process of the worker that started the sandbox, unless it has just ended."""
    with suppress(OSError, StopIteration):
        parents = {pid: _parent(pid) for pid in named(WORD)}
        os.kill(next(parent for parent in parents.values() if parent not in parents), signal.SIGKILL)


def _parent(pid: int) -> int:
    return int(Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[1])


@contextmanager
def open_zone(database_url: str, folder: Path, **settings: str) -> Iterator[Zone]:
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    own = {"TMPDIR": str(elsewhere), "DPGATE_SLOTS": "1", **settings}
    with open_platform(database_url, folder / "platform", **own) as platform:
        platform.folder.mkdir(exist_ok=True)
        yield Zone(platform, elsewhere)


@pytest.mark.deep("two kills, half a minute; integration/worker counts what is lost")
def test_killed_while_it_reads_and_before_it_stores(sqlite_url: str, tmp_path: Path) -> None:
    with open_zone(sqlite_url, tmp_path, DPGATE_SWEEP_EVERY_S="1") as zone:
        zone.platform.start_worker()
        profile_id, private = zone.ask(FILES)
        wait_until(reader)
        zone.platform.kill_worker()
        zone.check_nothing_left()
        assert zone.found(profile_id).state is ProfileState.READING
        marker = zone.platform.start_worker("child/before:store.profiles:finish")
        wait_until(marker.exists)
        zone.check_nothing_left()
        assert zone.ended(profile_id).attempts >= 3
        zone.check_made(profile_id, private)
        zone.check_nothing_left()


@pytest.mark.deep("half a minute; integration/worker counts the attempts of a profile that is lost")
def test_workers_that_die_again_and_again_end_it_for_a_plain_reason(sqlite_url: str, tmp_path: Path) -> None:
    """The process that makes it dies each time, as when the host runs out of memory."""
    with open_zone(sqlite_url, tmp_path, DPGATE_MAX_ATTEMPTS="3", DPGATE_SWEEP_EVERY_S="1") as zone:
        zone.platform.start_worker()
        profile_id, _ = zone.ask(MANY)
        while zone.found(profile_id).state.is_open:
            wait_until(lambda: reader() or not zone.found(profile_id).state.is_open)
            kill_maker()
            zone.check_nothing_left()
        failed = zone.found(profile_id)
        assert (failed.state, failed.problem) == (ProfileState.FAILED, ProfileProblem.LOST.name)
        zone.check_told_once(profile_id)


@pytest.mark.deep("nine kills, minutes; the steps that decide are in the first test")
def test_killed_at_every_step(sqlite_url: str, tmp_path: Path) -> None:
    with open_zone(sqlite_url, tmp_path) as zone:
        platform = zone.platform
        (profile_id, private), marker = zone.ask(FILES), platform.start_worker(STEPS[0])
        for step in (*STEPS[1:], "none"):
            wait_until(marker.exists)
            # of a step where one process dies the others live on until they are stopped
            platform.stop_worker()
            zone.check_nothing_left()
            marker = platform.start_worker(step)
        zone.check_made(profile_id, private)
        with platform.redis.client() as client:
            # as if the visibility timeout had passed: the message comes again, and there is nothing to do
            assert client.hlen("unacked") >= 1
            for tag in client.zrange("unacked_index", 0, -1):
                client.zadd("unacked_index", {tag: 1})
            wait_until(lambda: not client.hlen("unacked"))
        zone.check_made(profile_id, private)
        zone.check_nothing_left()
