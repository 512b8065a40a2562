"""One clock and one seed for a whole process, and noise that does not depend on what it is added to.

Of two lives of a platform that are made like this, whatever differs comes from their data. For a process of
its own: nothing of it can be taken back.
"""

from __future__ import annotations

import ctypes
import gc
import hashlib
import importlib
import math
import os
import random
import sqlite3
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from fractions import Fraction
from types import FrameType
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from sqlalchemy import event
from sqlalchemy.pool import Pool

BEGIN = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
# whoever draws is told by the first caller outside of these
_GENERAL = ("os", "uuid", "secrets", "random", "stillness", "kombu", "celery")
# names of folders and control groups, which other processes of the host must not have; nobody is shown one
_OF_THE_HOST = "worker.sandbox."


class StillClock:
    """The time of everybody. It goes on when somebody says so, or sleeps, and only then."""

    def __init__(self) -> None:
        self._at = BEGIN

    def now(self) -> datetime:
        return self._at

    def forward(self, seconds: float) -> None:
        self._at += timedelta(seconds=seconds)

    def forward_to(self, moment: datetime) -> None:
        self._at = max(self._at, moment)

    # what modules use of `time` that measure or wait for the route, not for the operating system
    def monotonic(self) -> float:
        return (self._at - BEGIN).total_seconds()

    def time(self) -> float:
        return self._at.timestamp()

    def sleep(self, seconds: float) -> None:
        """At least as long: what is left of a microsecond would never pass."""
        self._at += timedelta(microseconds=math.ceil(seconds * 1e6))

    def stop(self) -> None:
        """Every `datetime.now` and `time.time` of this process shows this time, and the database's clock."""
        _replace_in_type(datetime, "now", classmethod(self._shown))
        time.time = self.time
        event.listen(Pool, "connect", self._stop_sqlite)

    def take_over(self, *modules: str) -> None:
        """These measure and wait with this clock."""
        for name in modules:
            assert hasattr(sys.modules[name], "time"), name
            sys.modules[name].time = self

    def _shown(self, _kind: type[datetime], tz: tzinfo | None = None) -> datetime:
        return self._at.astimezone(tz) if tz else self._at.replace(tzinfo=None)

    def _stop_sqlite(self, connection: Any, _record: Any) -> None:
        if isinstance(connection, sqlite3.Connection):
            connection.create_function(
                "strftime", 2, lambda *_: self._at.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]
            )


def _replace_in_type(kind: type, name: str, new: object) -> None:
    """`datetime` is written in C and bound by name in every module: it is changed where all of them look."""
    gc.get_referents(kind.__dict__)[0][name] = new
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


class Draws:
    """Ids, tokens, nonces and keys: of each place in the code the first, the second and so on, by one seed.

    By place, so that one more draw somewhere moves nothing elsewhere.
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def install(self) -> None:
        self._drawn_by_the_system = os.urandom
        os.urandom = self.bytes
        random._urandom = self.bytes  # which `secrets` draws from
        _replace_generate(lambda: self.bytes(32))

    def bytes(self, size: int) -> bytes:
        place = _place(sys._getframe(1))
        if place.startswith(_OF_THE_HOST):
            return self._drawn_by_the_system(size)
        with self._lock:
            self._counts[place] += 1
            number = self._counts[place]
        return hashlib.shake_256(f"{place} {number}".encode()).digest(size)


def _replace_generate(draw: Callable[[], bytes]) -> None:
    """Keys for sealing come from OpenSSL."""
    from store import profile_box

    class Fixed(X25519PrivateKey):  # its own bytes only: all else is the original's
        @classmethod
        def generate(cls) -> X25519PrivateKey:
            return X25519PrivateKey.from_private_bytes(draw())

    profile_box.X25519PrivateKey = Fixed


def _place(frame: FrameType | None) -> str:
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] not in _GENERAL:
            return f"{module}:{frame.f_code.co_qualname}"
        frame = frame.f_back
    return "nobody"


NOISED = {
    "privacy.sample_aggregate:SampleAggregate": "outputs",
    "privacy.trusted.sums:Mean": "outputs",
    "privacy.pac:Pac": "pac",
    "privacy.stability:StabilityCalibrated": "empirical",
    "privacy.twin.column_counts:ColumnCounts": "counts",
    "privacy.training.trainer:Trainer": "weights",
}
"""The mechanisms of the lives. What each releases is the drawn noise, the one thing that may depend on data:
here it is the same in all lives, as every release is possible for every data set."""


def couple_noise() -> None:
    """After the true release was made of the data, its numbers are replaced; everything else of it stays."""
    for place, kind in NOISED.items():
        module, _, name = place.partition(":")
        mechanism = getattr(importlib.import_module(module), name)
        name = "train" if kind == "weights" else "release"
        setattr(mechanism, name, _coupled(getattr(mechanism, name), kind))


def _coupled(release: Callable[..., Any], kind: str) -> Callable[..., Any]:
    def coupled(self: Any, *arguments: Any, **named: Any) -> Any:
        released = release(self, *arguments, **named)
        if kind == "weights":
            return np.full_like(released, 0.5)
        if kind == "counts":
            return replace(released, ones=tuple(tuple(range(3, 3 + len(row))) for row in released.ones))
        if kind == "pac":
            return _other_numbers(released[0]), released[1]
        numbers = _other_numbers(released)
        if kind == "empirical":  # whose scale is a power of two that the data decide, and says so
            return tuple(replace(number, noise_scale=Fraction(16)) for number in numbers)
        return numbers

    return coupled


def _other_numbers(outputs: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(_other_number(output, Fraction(3 + place)) for place, output in enumerate(outputs))


def _other_number(output: Any, value: Fraction) -> Any:
    """What follows from released numbers is replaced with them; that it is there or not must not depend on
    anything."""
    return replace(
        output,
        value=value,
        sampling_95=None if output.sampling_95 is None else (value - 2, value + 3),
        half_width_95=None if output.half_width_95 is None else Fraction(1),
        half_width_99=None if output.half_width_99 is None else Fraction(2),
    )
