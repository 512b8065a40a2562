"""A run that is slow to die tells nobody so: the next one begins at its turn, on another supervisor."""

from __future__ import annotations

from dataclasses import replace

import pytest
from open_files import open_files, opened_since
from sandbox_harness import SLOT, TIGHT
from slow_to_die import NAMES, slow_to_die
from supervisors import children_of, run_of, zygote_of
from waiting import wait_until

from domain.carrying import DYING_S, DYING_S_PER_PROCESS
from domain.schedule import Schedule
from worker.sandbox.core import ending, process, seat
from worker.sandbox.protocol import MIB, Audience, SandboxUnavailable, SlotOrder
from worker.time_grid import TimeGrid

WALL_S, MEMORY_MIB, PROCESSES = 1.5, 2048, 128
SCHEDULE = Schedule(
    runs=9, wall_s=WALL_S, slots=1, nominal_size=9, dying_s=DYING_S + DYING_S_PER_PROCESS * PROCESSES
)
DYING_FOR_S = 3.0
# whatever the run does, its end takes that long
SLOW_END = ("        _end(watched)\n", f"        _end(watched)\n        time.sleep({DYING_FOR_S})\n")
FEWER = PROCESSES // 2  # where nobody waits for a run's death at all, half the time of it is enough
SLEEPS, WATCHES = "sleeps", "many watched descriptors"
pytestmark = pytest.mark.parametrize("mode", ["warm"])


def hostile(ask, name: str, *, seats: int, processes: int = PROCESSES) -> SlotOrder:
    """An order for one of those pipelines, with as many places."""
    limits = replace(TIGHT, wall_s=WALL_S, memory_bytes=MEMORY_MIB * MIB, processes=processes)
    source = slow_to_die(name, memory_mib=MEMORY_MIB, processes=processes)
    return ask(source, limits=limits, seats=seats, audience=Audience.ORIGINAL)


def made(slot, what: str) -> str:
    """On a grid, a run for each letter, hostile for 1, and what became of it: y made, with a result; f made,
    and failed; - not made."""
    grid, became = TimeGrid(start=0.0, quantum_s=SCHEDULE.quantum_s, padded=True), ""
    for turn, letter in enumerate(what):
        if not slot.take_turn(turn, on_time=grid.wait_for(turn)):
            became += "-"
            continue
        result = slot.run({"data.csv": letter.encode()}, within_s=grid.left_s(turn))
        became += "f" if result.outputs is None else "y"
    return became


def test_who_comes_after_a_run_that_is_slow_to_die_is_made_all_the_same(supervised, ask, doctored):
    doctored("run.py", lambda source: source.replace(*SLOW_END))
    seats = SCHEDULE.seats_of(0)
    assert seats > 1
    with supervised.open_slot(hostile(ask, SLEEPS, seats=seats), slot=SLOT) as slot:
        assert made(slot, "0100100") == "yfyyfyy"


def test_on_one_supervisor_it_is_not_made(supervised, ask, doctored, monkeypatch):
    """One person's run decides about two, and about no more: that it takes long is nobody's failure."""
    monkeypatch.setattr(process, "GRACE_S", 0.0)
    doctored("run.py", lambda source: source.replace(*SLOW_END))
    with supervised.open_slot(hostile(ask, SLEEPS, seats=1), slot=SLOT) as slot:
        assert made(slot, "01000") == "yf--y"


OTHERS = [pytest.param(name, marks=pytest.mark.deep("another way")) for name in NAMES if name != WATCHES]


@pytest.mark.parametrize("name", [WATCHES, *OTHERS])
def test_no_way_to_be_slow_takes_the_next_turn(name, supervised, ask):
    with supervised.open_slot(hostile(ask, name, seats=SCHEDULE.seats_of(0)), slot=SLOT) as slot:
        became = made(slot, "01010")
    assert [became[turn] for turn in (0, 2, 4)] == ["y", "y", "y"]
    assert "-" not in became


def test_it_is_the_turn_and_no_run_that_decides_where_a_run_is_made(supervised, ask):
    """Places differ in addresses, numbers of file systems and hash seeds, which must say nothing of a run."""
    with supervised.open_slot(hostile(ask, SLEEPS, seats=3), slot=SLOT) as slot:
        zygotes = []
        for turn in range(7):
            made_ = slot.take_turn(turn, on_time=turn != 2)
            zygotes.append(zygote_of(slot))
            assert made_ == (turn != 2)
            if made_:
                slot.run({"data.csv": b"0"}, within_s=60)
    assert zygotes[:4] == zygotes[3:]
    assert len(set(zygotes)) == 3


MANY = "import os, time\nfor _ in range(20):\n    if os.fork() == 0:\n        break\ntime.sleep(100)"
# spares process 1: what is left of a run are those whom the supervisor does not kill
ONLY_OTHERS = "for process in [number for number in processes_of_the_run() if number != 3]:"


def test_all_of_a_run_are_killed_and_not_process_1_alone(supervised, ask, doctored):
    """The kernel ends the others when that one is gone: until it is, they would go on."""
    doctored("run.py", lambda source: source.replace("for process in processes_of_the_run():", ONLY_OTHERS))
    limits = replace(TIGHT, wall_s=0.5)
    with supervised.open_slot(ask(MANY, limits=limits, audience=Audience.ORIGINAL), slot=SLOT) as slot:
        assert slot.run({}, within_s=1.0).outputs is None
        first = run_of(slot)
        wait_until(lambda: all(map(is_dead, children_of(first))))
        assert not is_dead(first)
        slot.cancel()


def is_dead(process: int) -> bool:
    """Or a zombie: its parent, which waits for nobody, has not been told."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_what_an_unfinished_run_was_given_stays_until_it_has_ended(supervised, ask, doctored):
    doctored("run.py", lambda source: source.replace(*SLOW_END))
    with supervised.open_slot(hostile(ask, SLEEPS, seats=2), slot=SLOT) as slot:
        before = open_files()
        assert slot.take_turn(0)
        assert slot.run({"data.csv": b"1"}, within_s=WALL_S + 0.4).outputs is None
        given = opened_since(before)
        assert given
        assert not slot.take_turn(0)
        wait_until(lambda: slot.take_turn(0), said="the end of the run")
        assert not given.items() & open_files().items()
        assert slot.run({"data.csv": b"0"}, within_s=60).outputs is not None


def test_without_turns_a_run_that_does_not_die_is_one_that_failed(supervised, ask, doctored, monkeypatch):
    monkeypatch.setattr(process, "GRACE_S", 0.2)
    doctored("run.py", lambda source: source.replace(*SLOW_END))
    with supervised.open_slot(hostile(ask, SLEEPS, seats=1), slot=SLOT) as slot:
        became = [slot.run({"data.csv": letter}).outputs is not None for letter in (b"0", b"1", b"0")]
    assert became == [True, False, True]


def how_a_slot_ends(supervised, ask, what: str, *, processes: int = PROCESSES) -> str:
    """With one run, as its worker sees it, and so everybody who sees its job."""
    try:
        order = hostile(ask, WATCHES, seats=1, processes=processes)
        with supervised.open_slot(order, slot=SLOT) as slot:
            assert slot.take_turn(0)
            slot.run({"data.csv": what.encode()}, within_s=WALL_S)
    except SandboxUnavailable:
        return "given back"
    return "kept"


def test_a_slot_ends_in_the_same_way_however_long_its_last_run_takes_to_die(supervised, ask, monkeypatch):
    """If it was too long, the chunk was given back, and in the end its job failed for all to see."""
    monkeypatch.setattr(ending, "PATIENCE_S", 0.0)
    ways = [how_a_slot_ends(supervised, ask, what, processes=FEWER) for what in "01"]
    assert ways == ["kept", "kept"]


def test_where_it_is_a_failure_a_slot_tells_what_its_last_run_did(supervised, ask, monkeypatch):
    """As it was with half a minute, so that not every trial has to take that long to die."""

    def or_else(end):
        (thread := ending.ending(end)).join(0.3)
        if thread.is_alive():
            raise SandboxUnavailable("a run could not be ended")
        return thread

    monkeypatch.setattr(seat, "ending", or_else)
    assert [how_a_slot_ends(supervised, ask, what) for what in "01"] == ["kept", "given back"]


def test_who_dies_slowly_is_in_nobodys_way(supervised, ask, monkeypatch):
    """The next slot opens with the same number meanwhile, with a control group of its own."""
    monkeypatch.setattr(ending, "PATIENCE_S", 0.0)
    for what in "11":
        order = hostile(ask, WATCHES, seats=1, processes=FEWER)
        with supervised.open_slot(order, slot=SLOT) as slot:
            assert made(slot, what) == "f"
    with supervised.open_slot(hostile(ask, SLEEPS, seats=1), slot=SLOT) as slot:
        assert made(slot, "0") == "y"
