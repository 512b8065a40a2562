"""Who may try a password next: addresses that have failed wait, and whoever came in before goes first, then
whoever has tried least of late: a flood from very many addresses tries more than once from each.

A hash is slow on purpose, so a few guesses a second are all that this machine can look at. Nothing here is
kept longer than the process lives, and nothing says whether a name has an account.
"""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil
from typing import TypeVar

from domain.errors import TooMany

Key = TypeVar("Key")
What = TypeVar("What")
FREE_FAILURES = 10
"""So often an address may be wrong at once; then once in so many seconds."""
FAILURE_EVERY_S = 6.0
TRY_EVERY_S = 60.0
"""A stranger who tries more often goes after those who do not, also where nobody had time to look."""
BUSY_NETWORK = 16
"""So many tries of late from neighbouring addresses count before those of the address itself."""
MOST_WAITING = 16
PATIENCE_S = 10.0
REMEMBERED = 4096
_CROWD = ("login", "many people log in right now.", "Try again soon.")


@dataclass(eq=False)
class Try:
    """One attempt. `known`: this name has logged in from this place before; a place is a browser that says
    so, or an address."""

    name: str
    address: str
    place: str
    known: bool
    at_home: bool
    rank: tuple[float, ...]
    is_right: bool = False
    is_out: bool = False

    @property
    def origin(self) -> str:
        """What wrong passwords from elsewhere must not take from somebody who is known here, or is new where
        others come in."""
        if self.known:
            return self.place
        return f"home {self.address}" if self.at_home else ""


@dataclass
class LoginLine:
    """Of one process. One is looked at at a time: a hash takes 64 MiB, and who is known goes next."""

    clock: Callable[[], float] = time.monotonic
    _waiting: list[Try] = field(default_factory=list)
    _now: list[Try] = field(default_factory=list)
    _known: OrderedDict[tuple[str, str], None] = field(default_factory=OrderedDict)
    # where people came in from, with a password or otherwise
    _homes: OrderedDict[str, None] = field(default_factory=OrderedDict)
    # by address, or by name and address of who is known: how many failures are not yet forgotten, and of when
    # that number is
    _failures: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)
    # the same of tries of strangers, by address and by network
    _tries: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    @contextmanager
    def turn(self, name: str, host: str, *, browser: str = "") -> Iterator[Try]:
        """For one look at a password; whoever has seen that it is right says so. `browser`: one in which this
        person has logged in before, wherever it is now. Raises TooMany."""
        mine = self._enter(name, address_of(host), browser)
        try:
            yield mine
        finally:
            with self._changed:
                self._now.remove(mine)
                self._note(mine)
                self._changed.notify_all()

    def greet(self, host: str) -> None:
        """Somebody came in from there, by a token or a session."""
        address = address_of(host)
        if address not in self._homes:
            with self._changed:
                _remember(self._homes, address, None)

    def is_home(self, host: str) -> bool:
        """Whether somebody came in from there since this process began."""
        return address_of(host) in self._homes

    def _enter(self, name: str, address: str, browser: str) -> Try:
        place = browser or address
        with self._changed:
            known = bool(browser) or (name, address) in self._known
            # whoever is known here counts by themselves: nobody's guesses at them count against the others
            failed = self._failed(_origin(name, place, known=known))
            if failed >= FREE_FAILURES:
                wait_s = int((failed - FREE_FAILURES + 1) * FAILURE_EVERY_S) + 1
                raise TooMany(
                    "login", "too many failed logins from there.", "Try again then.", retry_after_s=wait_s
                )
            at_home = address in self._homes
            rank = (-2.0, self.clock()) if known else self._rank(address)
            mine = Try(name, address, place, known, at_home, rank)
            self._waiting.append(mine)
            if len(self._waiting) > MOST_WAITING:
                last = max(self._waiting, key=lambda each: each.rank)
                last.is_out = True
                self._waiting.remove(last)
                self._changed.notify_all()
            self._changed.wait_for(lambda: mine.is_out or self._is_next(mine), PATIENCE_S)
            if mine.is_out or not self._is_next(mine):
                if not mine.is_out:
                    self._waiting.remove(mine)
                raise TooMany(*_CROWD, retry_after_s=5)
            self._waiting.remove(mine)
            self._now.append(mine)
            # who stands behind may have a place of another kind
            self._changed.notify_all()
            return mine

    def _is_next(self, mine: Try) -> bool:
        return not self._now and mine is min(self._waiting, key=lambda each: each.rank)

    def _rank(self, address: str) -> tuple[float, ...]:
        """The lowest goes first, and the highest when there are too many. The try counts from now on."""
        now, ranks = self.clock(), []
        for key in (network_of(address), address):
            tries = _left(self._tries, key, now, TRY_EVERY_S)
            _remember(self._tries, key, (tries + 1, now))
            ranks.append(tries)
        return -1.0 * (address in self._homes), ranks[0] // BUSY_NETWORK, ceil(ranks[1]), now

    def _failed(self, origin: str) -> float:
        return _left(self._failures, origin, self.clock(), FAILURE_EVERY_S)

    def _note(self, tried: Try) -> None:
        if tried.is_right:
            _remember(self._known, (tried.name, tried.address), None)
            _remember(self._homes, tried.address, None)
        else:
            origin = _origin(tried.name, tried.place, known=tried.known)
            _remember(self._failures, origin, (self._failed(origin) + 1, self.clock()))


def _origin(name: str, place: str, *, known: bool) -> str:
    return f"{place} {name}" if known else place


def address_of(host: str) -> str:
    """Of a version 6 address the network, which one customer has as a whole."""
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((found, 64), strict=False))
    return host


def network_of(address: str) -> str:
    """The neighbourhood of an address, as `address_of` gives it: addresses are rented by the network."""
    try:
        found = ipaddress.ip_network(address)
    except ValueError:
        return address
    return str(found.supernet(new_prefix=24 if found.version == 4 else 48))


def _left(
    counted: OrderedDict[str, tuple[float, float]], key: str, now: float, forgotten_every_s: float
) -> float:
    """How many of what was counted are not forgotten yet."""
    count, at = counted.get(key, (0.0, 0.0))
    return max(0.0, count - (now - at) / forgotten_every_s)


def _remember(kept: OrderedDict[Key, What], key: Key, value: What) -> None:
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > REMEMBERED:
        kept.popitem(last=False)
