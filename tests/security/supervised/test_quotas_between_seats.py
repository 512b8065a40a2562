"""Whoever is slow to die still holds what the kernel counts for its host user. The next run, which is made on
another seat, must not be able to tell.
"""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from sandbox_harness import SLOT, TIGHT
from slow_to_die import slow_to_die
from supervisors import supervisor_of
from waiting import wait_until

from worker.sandbox.core import slot_user
from worker.sandbox.protocol import MIB, Audience, SlotOrder

PROCESSES, WALL_S, MEMORY_MIB = 64, 4.0, 4096
pytestmark = pytest.mark.parametrize("mode", ["warm"])

# one letter in the block: 1 holds pipes and is slow to die, 0 looks how large a pipe may be
LOOKS = """
    import fcntl
    open("/out/verdict", "w").write(str(fcntl.fcntl(os.pipe()[0], fcntl.F_GETPIPE_SZ)))
    raise SystemExit
"""
HOLDS = """
be_many()
kept = []
try:
    kept += (os.pipe() for _ in range(60))
except OSError:
    pass
filled(MEMORY * 8 // 10 // PROCESSES)
"""
MANY_PIPES = ("_MOST_PIPES = 200\n", "_MOST_PIPES = 4096\n")


def watching(ask) -> SlotOrder:
    limits = replace(TIGHT, wall_s=WALL_S, memory_bytes=MEMORY_MIB * MIB, processes=PROCESSES)
    source = slow_to_die("much memory", memory_mib=MEMORY_MIB, processes=PROCESSES)
    # a process that dies gives back its memory first, and its pipes after that
    source = source.replace("    raise SystemExit\n", LOOKS).replace("filled(MEMORY * 8 // 10); ", HOLDS)
    return ask(source, limits=limits, seats=2, audience=Audience.ORIGINAL)


def seen_by_the_next(slot, first: bytes) -> bytes:
    wait_until(slot._seats[0].is_free, said="the end of the run before")
    assert slot.take_turn(0)
    slot.run({"data.csv": first}, within_s=WALL_S + 0.01)
    assert slot.take_turn(1)
    return slot.run({"data.csv": b"0"}, within_s=60).outputs["verdict"]


def test_the_next_run_sees_nothing_of_what_a_dying_one_holds(supervised, ask):
    with supervised.open_slot(watching(ask), slot=SLOT) as slot:
        quiet = seen_by_the_next(slot, b"0")
        assert seen_by_the_next(slot, b"1") == quiet


def one_user_for_all(monkeypatch) -> None:
    monkeypatch.setattr(slot_user, "SEAT_USERS", 1)


def test_one_user_and_many_pipes_would_tell(supervised, ask, monkeypatch, doctored):
    one_user_for_all(monkeypatch)
    doctored("filesystems.py", lambda source: source.replace(*MANY_PIPES))
    with supervised.open_slot(watching(ask), slot=SLOT) as slot:
        quiet = seen_by_the_next(slot, b"0")
        # a race that the attacker does not always win: a dying run is sometimes gone in time
        wait_until(lambda: seen_by_the_next(slot, b"1") != quiet)


def test_so_few_pipes_do_not_tell_where_all_have_one_user(supervised, ask, monkeypatch):
    """As for an ordinary worker."""
    one_user_for_all(monkeypatch)
    with supervised.open_slot(watching(ask), slot=SLOT) as slot:
        quiet = seen_by_the_next(slot, b"0")
        assert seen_by_the_next(slot, b"1") == quiet


def test_no_supervisor_has_the_user_of_another_that_may_be_dying(supervised, ask):
    users = []
    for _ in range(3):
        with supervised.open_slot(ask("", seats=4), slot=SLOT) as slot:
            for turn in range(4):
                assert slot.take_turn(turn)
                users.append(os.stat(f"/proc/{supervisor_of(slot)}").st_uid)
                slot.run({}, within_s=60)
    assert len(set(users)) == (12 if os.getuid() == 0 else 1)
