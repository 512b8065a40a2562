"""A Celery worker that kills itself at a named step of the route, once. For tests only.

    python faulty_worker.py FAULT MARKER BEAT_SCHEDULE LOGLEVEL

Waits of profiles that no setting shortens are shortened here.

FAULT is `before:module:function`, `after:module:function`, `second:module:function` (before its second call)
or `none`; with `child/` in front only the pool process dies, not the whole worker. `no-turns` takes away the
turns that runs take on a host, and `stepped-clock` adds what MARKER holds, in seconds, to this host's clock.
The product code knows nothing of this: the function is wrapped here, in this process.
"""

from __future__ import annotations

import functools
import gc
import importlib
import os
import signal
import sys
from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

SHORT = {
    "domain.profile_request:FIRST_STEP_S": 0.5,
    "store.profiles:RESEND_AFTER": timedelta(seconds=1),
    "worker.profile.route:BEAT_S": 0.5,
    "worker.profile.route:LOST_AFTER": timedelta(seconds=4),
}


def main(fault: str, marker: Path, loglevel: str) -> None:
    # as `dpgate up` starts it; see dpgate/embedded/starter.py
    gc.disable()
    from worker.app import app

    gc.freeze()
    gc.enable()
    app.loader.import_default_modules()
    shorten()
    if fault == "no-turns":
        take_turns_away()
    elif fault == "stepped-clock":
        step_clocks(marker)
    elif fault != "none":
        install(fault, marker)
    arguments = ["worker", "--loglevel", loglevel, "--without-gossip", "--without-mingle"]
    app.worker_main([*arguments, "--pool", "prefork"])


def shorten() -> None:
    """The relations between them stay as they are. A worker that is slow loses a profile; it is made anew."""
    for place, value in SHORT.items():
        module, _, name = place.partition(":")
        assert hasattr(importlib.import_module(module), name)
        setattr(importlib.import_module(module), name, value)


def take_turns_away() -> None:
    host_turns = importlib.import_module("worker.host_turns")
    host_turns.HostTurns.taken = lambda *_: nullcontext(True)


def step_clocks(ahead: Path) -> None:
    """That of the route, and SQLite's, which is the same host's."""

    class Stepped(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime.now(tz) + timedelta(seconds=float(ahead.read_text()))

        @classmethod
        def fromisoformat(cls, text: str) -> datetime:
            return datetime.fromisoformat(text) + timedelta(seconds=float(ahead.read_text()))

    for name in ("worker.zone", "worker.heartbeat", "store.clock"):
        importlib.import_module(name).datetime = Stepped


def install(fault: str, marker: Path) -> None:
    whose, _, point = fault.rpartition("/")
    when, module_name, function = point.split(":")
    module = importlib.import_module(module_name)
    step = getattr(module, function)

    def strike() -> None:
        try:
            marker.touch(exist_ok=False)
        except FileExistsError:
            return
        os.kill(os.getpid() if whose == "child" else -os.getpgid(0), signal.SIGKILL)

    setattr(module, function, _wrapped(step, when, strike))


def _wrapped(step: Callable[..., Any], when: str, strike: Callable[[], None]) -> Callable[..., Any]:
    calls = 0

    @functools.wraps(step)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if when == "before" or (when == "second" and calls % 2 == 0):
            strike()
        result = step(*args, **kwargs)
        if when == "after":
            strike()
        return result

    return wrapped


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
