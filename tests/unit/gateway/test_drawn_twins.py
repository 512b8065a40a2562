"""Twins are drawn one at a time: who must wait, who need not, and who is told to come back."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event

import pytest
from factories import make_declaration
from waiting import wait_until

from desk import drawn_twins
from desk.drawn_twins import MOST_WAITING, WAIT_S, Drawing, zipped_twin
from domain.errors import TooMany

DECLARATION = make_declaration()


class Turn:
    """Stands for the lock that who draws holds; says when somebody waits for it."""

    def __init__(self) -> None:
        self.is_waited_for, self.is_over = Event(), Event()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if not blocking:
            return False
        self.is_waited_for.set()
        return self.is_over.wait(timeout)

    def release(self) -> None:
        pass


@pytest.fixture
def turn(monkeypatch: pytest.MonkeyPatch) -> Iterator[Turn]:
    """Somebody draws a large twin, until the test is over."""
    found = Turn()
    monkeypatch.setattr(drawn_twins, "_one_at_a_time", found)
    yield found
    found.is_over.set()


def waits(turn: Turn, pool: ThreadPoolExecutor, user: str, seed: int) -> Future[bytes]:
    turn.is_waited_for.clear()
    future = pool.submit(zipped_twin, Drawing(DECLARATION, seed=seed), user=user)
    wait_until(turn.is_waited_for.is_set, unless=future.done, said="somebody who waits")
    return future


def test_a_few_wait_and_the_next_is_told_at_once_to_come_back(turn: Turn):
    with ThreadPoolExecutor(MOST_WAITING) as pool:
        try:
            waiting = [waits(turn, pool, f"user-{at}", 1000 + at) for at in range(MOST_WAITING)]
            with pytest.raises(TooMany, match="many twins are being waited for") as caught:
                zipped_twin(Drawing(DECLARATION, seed=1999), user="another")
            assert caught.value.retry_after_s == WAIT_S
            assert not any(future.done() for future in waiting)
        finally:
            turn.is_over.set()
        assert all(future.result() for future in waiting)
    # nobody waits now, so there is room again
    assert zipped_twin(Drawing(DECLARATION, seed=1999), user="another")


def test_one_user_waits_for_one_twin(turn: Turn):
    with ThreadPoolExecutor(2) as pool:
        try:
            waiting = [waits(turn, pool, "ada", 2000)]
            with pytest.raises(TooMany, match="you wait for a twin already"):
                zipped_twin(Drawing(DECLARATION, seed=2001), user="ada")
            waiting.append(waits(turn, pool, "grace", 2002))
        finally:
            turn.is_over.set()
        assert all(future.result() for future in waiting)


def test_a_kept_twin_is_had_while_others_wait(monkeypatch: pytest.MonkeyPatch):
    drawing = Drawing(DECLARATION, seed=3000)
    drawn = zipped_twin(drawing, user="ada")
    turn = Turn()
    monkeypatch.setattr(drawn_twins, "_one_at_a_time", turn)
    assert zipped_twin(Drawing(DECLARATION, seed=3000), user="grace") is drawn
    assert not turn.is_waited_for.is_set()


def test_who_waited_in_vain_makes_room(turn: Turn, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(drawn_twins, "WAIT_S", 0)
    for _ in range(MOST_WAITING + 1):
        with pytest.raises(TooMany, match="other twins are being made"):
            zipped_twin(Drawing(DECLARATION, seed=4000), user="ada")
