"""One run: its file systems, one process per level, and what became of it."""

import os
import select
import signal
import time
from contextlib import ExitStack, contextmanager, suppress

from . import confine
from .answers import Answers, fifo_in
from .filesystems import INPUT, FileSystems
from .memory import processes_of_the_run, resident_bytes
from .order import CANNOT_START, read_list
from .zygote import ASKS, SetupFailed

_AGAIN_S = 0.005  # somebody may have been born while the list was read
LOOK_EVERY_S = 0.05  # without a cgroup a run can exceed its memory limit for that long
COMPLETED, EXIT, SIGNAL, START, WALL, MEMORY = "COMPLETED", "EXIT", "SIGNAL", "START", "WALL", "MEMORY"


class Run:
    """What stays the same for all runs of a slot."""

    def __init__(self, order, zygote, lock):
        self._order, self._zygote = order, zygote
        self._systems = FileSystems(order.limits, len(order.levels), lock, talks=order.talks)
        self._answers = Answers(zygote.listener, order.answered, order.limits)

    def rehearse(self):
        """A first answer takes longer, and would tell that no run has asked before."""
        with self._systems.filled(None):
            handed = self._systems.of_level(0)
            self._answers.pipes = handed[-1]
            self._level(ASKS, INPUT, handed, None, time.monotonic() + self._order.limits.wall_s)

    @contextmanager
    def on(self, block, view, before, parts, *, tell=None):
        """Gives the report and the descriptor of the output folder; both end, unread, with the context.

        `block` is a memory file, or None where `view` names a staged folder; `before` is one, or None;
        `parts` is one that holds a list of (source, place in the block, whether it is a file), or None.
        `tell` is given the end at which a twin's run is heard, or is None.
        """
        with ExitStack() as undo:
            places = () if parts is None else read_list(parts)
            folder = undo.enter_context(self._systems.filled(block, before, places))
            started = time.monotonic()
            deadline = started + self._order.limits.wall_s
            output = None if tell is None else self._talking_end(tell, undo)
            report = self._levels(view, parts, output, deadline)
            report["duration_s"] = time.monotonic() - started
            yield report, folder

    def skip(self):
        """In place of a run that is not made: as many forks."""
        for _ in self._order.levels:
            self._zygote.skip()

    def _talking_end(self, tell, undo):
        """Not a pipe of the worker's: its number would tell a researcher what runs on original data have done
        to the host's counter.
        """
        listening, talking = fifo_in(self._systems.talk)
        undo.callback(os.close, talking)
        tell(listening)
        os.close(listening)
        return talking

    def _levels(self, view, parts, output, deadline):
        usage, block = {}, INPUT if view is None else f"/run/dpgate/blocks/{view}"
        levels = self._order.levels
        for index in range(len(levels)):
            handed = self._systems.of_level(index)
            self._answers.pipes = handed[-1]
            if output is not None:
                handed = (*handed, output)
            status, stopped_for, usage = self._level(index, block, handed, parts, deadline)
            cause, code = _verdict(status, stopped_for)
            if cause != COMPLETED:
                for _ in levels[index + 1 :]:
                    self._zygote.skip()
                return {"cause": cause, "level": index, "code": code, "usage": usage}
        return {"cause": COMPLETED, "level": len(levels) - 1, "code": 0, "usage": usage}

    def _level(self, index, block, handed, parts, deadline):
        watched = self._zygote.fork(index, block, handed, parts)
        try:
            stopped_for = self._watch(watched, deadline)
        finally:
            os.close(watched)
        status, faults, cpu_s = self._zygote.reap()
        said = self._zygote.said()
        if said != confine.READY and stopped_for is None:
            raise SetupFailed(said.decode(errors="replace") or "a run ended before it was isolated")
        return status, stopped_for, {"faults": faults, "cpu_s": cpu_s}

    def _watch(self, watched, deadline):
        """Until the run ends, or must: then it is killed, and with it its whole namespace. Meanwhile its
        calls are answered, one in each turn: a run that asks without end ends at its limits like any other.
        """
        asked, zygote = self._answers.listener, self._zygote.socket
        stopped_for, now = None, time.monotonic()
        look = now + LOOK_EVERY_S
        while stopped_for is None:
            ready = select.select([watched, asked, zygote], [], [], max(min(look, deadline) - now, 0))[0]
            if watched in ready:
                return None
            if zygote in ready:
                raise self._zygote.ended()
            if ready:
                self._answers.answer()
            now = time.monotonic()
            if now >= deadline:
                stopped_for = WALL
            elif now >= look:
                look = now + LOOK_EVERY_S
                stopped_for = MEMORY if resident_bytes() > self._order.limits.memory_bytes else None
        _end(watched)
        return stopped_for


def _end(watched):
    """Everybody of the run, at once and until nobody is left. To kill process 1 would do, but the kernel ends
    the others only when that one has given back its memory: they would go on meanwhile, and die after it.
    """
    while True:
        for process in processes_of_the_run():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        if select.select([watched], [], [], _AGAIN_S)[0]:
            return


def _verdict(status, stopped_for):
    if stopped_for is not None:
        return stopped_for, None
    if os.WIFSIGNALED(status):
        return SIGNAL, -os.WTERMSIG(status)
    code = os.WEXITSTATUS(status)
    return (COMPLETED if code == 0 else START if code == CANNOT_START else EXIT), code
