"""Who may try a password next, where many want to."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from waiting import wait_until

from domain.errors import TooMany
from gateway.login_line import (
    BUSY_NETWORK,
    FREE_FAILURES,
    MOST_WAITING,
    LoginLine,
    address_of,
    network_of,
)

HERE, THERE = "192.0.2.1", "198.51.100.1"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def attempt(line: LoginLine, name: str, host: str, *, right: bool = False) -> bool:
    """Whether it had a turn."""
    try:
        with line.turn(name, host) as turn:
            turn.is_right = right
    except TooMany:
        return False
    return True


def test_an_address_that_fails_waits_and_whoever_is_known_there_does_not() -> None:
    clock = Clock()
    line = LoginLine(clock)
    assert attempt(line, "ada", HERE, right=True)
    assert [attempt(line, f"guess-{number}", HERE) for number in range(FREE_FAILURES + 2)] == [
        *[True] * FREE_FAILURES,
        False,
        False,
    ]
    # others are not kept out by it, nor is she; what she mistypes does not count against her colleagues
    assert attempt(line, "bob", THERE)
    with line.turn("ada", HERE) as turn:
        assert turn.origin == HERE
    with line.turn("ada", THERE) as turn:
        assert turn.origin == ""
    clock.now += 12
    assert attempt(line, "bob", HERE)
    # guesses at somebody where they are known do not go before everybody else for ever
    assert attempt(line, "eve", THERE, right=True)
    assert [attempt(line, "eve", THERE) for _ in range(FREE_FAILURES + 1)] == [*[True] * FREE_FAILURES, False]
    assert attempt(line, "bob", THERE)


def test_one_password_is_looked_at_at_a_time_and_who_is_known_goes_next() -> None:
    line = LoginLine(Clock())
    attempt(line, "ada", HERE, right=True)
    attempt(line, "x", THERE)
    with ExitStack() as stack, ThreadPoolExecutor(MOST_WAITING + 2) as threads:
        stranger = stack.enter_context(line.turn("somebody", THERE))
        guesses = [threads.submit(attempt, line, f"guess-{number}", THERE) for number in range(MOST_WAITING)]
        wait_until(lambda: len(line._waiting) == MOST_WAITING)
        ada = threads.submit(attempt, line, "ada", HERE, right=True)
        wait_until(lambda: any(each.done() for each in guesses))  # one too many
        # somebody new has not failed yet, and goes before those who have
        new = threads.submit(attempt, line, "carl", "203.0.113.5")
        wait_until(lambda: "carl" in [each.name for each in line._waiting])
        first, second, *_ = sorted(line._waiting, key=lambda each: each.rank)
        assert (first.name, second.name) == ("ada", "carl")
        stranger.is_right = True
        assert [each.name for each in line._now] == ["somebody"]
        stack.close()
        assert ada.result()
        assert new.result()


def test_whoever_tries_first_goes_before_a_crowd_that_tries_again() -> None:
    """Where a thousand addresses guess, few are looked at, so few have failed."""
    line = LoginLine(Clock())
    with ExitStack() as stack, ThreadPoolExecutor(MOST_WAITING + 2) as threads:
        stranger = stack.enter_context(line.turn("somebody", THERE))
        crowd = [f"203.0.{number}.7" for number in range(MOST_WAITING)]
        for host in crowd:
            line._rank(host)  # turned away before, as there was no room
        again = [threads.submit(attempt, line, f"guess-{host}", host) for host in crowd]
        wait_until(lambda: len(line._waiting) == MOST_WAITING)
        new = threads.submit(attempt, line, "carl", HERE, right=True)
        wait_until(lambda: sum(each.done() for each in (*again, new)) == 1)
        assert min(line._waiting, key=lambda each: each.rank).name == "carl"
        stranger.is_right = True
        stack.close()
        assert new.result()


def test_the_neighbours_of_a_crowd_go_after_everybody_else() -> None:
    line = LoginLine(Clock())
    for number in range(BUSY_NETWORK):
        line._rank(f"203.0.113.{number}")
    assert line._rank("203.0.113.77") > line._rank("192.0.2.77")


@pytest.mark.parametrize(
    ("address", "network"),
    [("192.0.2.1", "192.0.2.0/24"), ("2001:db8:1:2::/64", "2001:db8:1::/48"), ("", "")],
)
def test_neighbours_are_of_one_network(address: str, network: str) -> None:
    assert network_of(address) == network


@pytest.mark.parametrize(
    ("host", "counted"), [("192.0.2.1", "192.0.2.1"), ("2001:db8::1:2:3:4", "2001:db8::/64"), ("", "")]
)
def test_a_network_of_version_6_is_one_address(host: str, counted: str) -> None:
    assert address_of(host) == counted


def test_a_known_browser_is_known_wherever_it_is_and_after_a_restart() -> None:
    line = LoginLine(Clock())
    with line.turn("ada", THERE, browser="b" * 32) as turn:
        assert (turn.known, turn.origin) == (True, "b" * 32)
    # what is guessed from her address, or at her name from elsewhere, does not count against her there
    assert [attempt(line, "ada", THERE) for _ in range(FREE_FAILURES + 1)] == [*[True] * FREE_FAILURES, False]
    with line.turn("ada", THERE, browser="b" * 32) as turn:
        assert turn.known
    # nor may who has the browser guess for ever
    left = FREE_FAILURES - 2
    for number in range(left):
        with line.turn("ada", f"203.0.113.{number}", browser="b" * 32):
            pass
    with pytest.raises(TooMany), line.turn("ada", HERE, browser="b" * 32):
        pass


def test_who_is_new_where_others_come_in_goes_before_strangers_and_counts_by_themselves() -> None:
    line = LoginLine(Clock())
    assert attempt(line, "ada", HERE, right=True)
    with line.turn("bob", HERE) as turn:
        assert (turn.known, turn.origin) == (False, f"home {HERE}")
        at_home = turn.rank
    with line.turn("bob", THERE) as turn:
        assert (turn.origin, turn.rank > at_home) == ("", True)
