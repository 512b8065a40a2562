"""Turns on a host: alone is alone, others go side by side, and nobody who waits is overtaken."""

from __future__ import annotations

import fcntl
import os
import threading
from contextlib import ExitStack
from dataclasses import replace

import pytest
from open_files import open_files
from waiting import wait_until

from domain.surroundings import Isolation
from worker import host_turns
from worker.host_turns import HostTurns

ALONE, BESIDE = Isolation.EXCLUSIVE, Isolation.SHARED


@pytest.fixture
def turns(tmp_path, monkeypatch):
    monkeypatch.setattr(host_turns, "PATIENCE_S", 0.02)
    return HostTurns(tmp_path, "supervised", end_leftovers=lambda: None)


class Waiter:
    """Somebody else who takes a turn, and keeps it until told to go."""

    def __init__(self, turns, isolation):
        self.has_turn = None
        self._go = threading.Event()
        self._thread = threading.Thread(target=self._take, args=(turns, isolation))
        self._thread.start()

    def _take(self, turns, isolation):
        with turns.taken(isolation) as self.has_turn:
            if self.has_turn:
                self._go.wait()

    def end(self):
        self._go.set()
        self._thread.join()


def is_at_the_door(turns):
    with (turns.root / "turn-door").open() as door:
        try:
            fcntl.flock(door, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_work_that_need_not_be_alone_goes_side_by_side(turns):
    with ExitStack() as held:
        taken = [held.enter_context(turns.taken(BESIDE)) for _ in range(5)]
        assert all(taken)
        assert len(list(turns.root.glob("turn-mark-*"))) == 5
    assert not list(turns.root.glob("turn-mark-*"))


@pytest.mark.parametrize(("first", "second"), [(ALONE, ALONE), (ALONE, BESIDE), (BESIDE, ALONE)])
def test_who_must_be_alone_waits_and_is_waited_for(turns, first, second):
    with turns.taken(first) as has_turn:
        assert has_turn
        other = Waiter(turns, second)
        wait_until(lambda: is_at_the_door(turns))
        assert other.has_turn is None
    wait_until(lambda: other.has_turn)
    other.end()


def test_nobody_overtakes_who_waits_and_only_one_stands_idle(turns):
    with turns.taken(BESIDE):
        waits = Waiter(turns, ALONE)
        wait_until(lambda: is_at_the_door(turns))
        for isolation in Isolation:
            with turns.taken(isolation) as has_turn:
                assert has_turn is False
        assert waits.has_turn is None
    wait_until(lambda: waits.has_turn)
    waits.end()


def test_a_turn_ends_with_an_error_too_and_the_next_looks_for_what_it_left(turns, monkeypatch):
    monkeypatch.setattr(host_turns, "DYING_S", 0)
    ended = []
    careful = replace(turns, end_leftovers=lambda: ended.append("runs"))
    with pytest.raises(ZeroDivisionError), careful.taken(ALONE):
        raise ZeroDivisionError
    assert not ended
    for _ in range(2):
        with careful.taken(ALONE) as has_turn:
            assert has_turn
        assert len(ended) == 2


@pytest.mark.parametrize("isolation", list(Isolation))
def test_only_a_worker_with_the_same_sandbox_ends_runs_of_the_dead(turns, monkeypatch, isolation):
    """Containers outlive their worker, and no other sandbox knows them."""
    monkeypatch.setattr(host_turns, "DYING_S", 0)
    mark = turns.root / "turn-mark-docker-dead"
    mark.touch()
    strict = replace(turns, end_leftovers=lambda: pytest.fail("they are not ours"))
    with strict.taken(isolation) as has_turn:
        assert not has_turn
    assert mark.exists()
    with replace(turns, sandbox="docker").taken(isolation) as has_turn:
        assert has_turn
    assert not mark.exists()
    with strict.taken(isolation) as has_turn:
        assert has_turn


@pytest.mark.parametrize("isolation", list(Isolation))
def test_runs_of_a_worker_that_died_at_work_are_ended_first(tmp_path, monkeypatch, isolation):
    monkeypatch.setattr(host_turns, "DYING_S", 0)
    ended = []
    turns = HostTurns(
        tmp_path, "supervised", end_leftovers=lambda: ended.append(sorted(tmp_path.glob("turn-mark-*")))
    )
    (tmp_path / "turn-mark-supervised-dead").touch()
    with turns.taken(isolation):
        assert ended == [[tmp_path / "turn-mark-supervised-dead"]] * 2
        assert not (tmp_path / "turn-mark-supervised-dead").exists()


def test_the_mark_of_somebody_alive_is_left_alone(tmp_path):
    turns = HostTurns(tmp_path, "supervised", end_leftovers=lambda: pytest.fail("nobody died"))
    with turns.taken(BESIDE), turns.taken(BESIDE):
        assert len(list(tmp_path.glob("turn-mark-*"))) == 2


def test_no_descriptor_reaches_what_a_worker_starts(turns):
    with turns.taken(ALONE):
        ours = [number for number, link in open_files().items() if link.startswith(str(turns.root))]
        assert len(ours) == 3
        assert not any(os.get_inheritable(number) for number in ours)
