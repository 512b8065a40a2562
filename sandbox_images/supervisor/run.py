"""One run: its file systems, one child per level, and what became of it."""

import math
import os
import select
import signal
import time
from contextlib import ExitStack, contextmanager

from . import confine, kernel, payload
from .answers import Answers, fifo_in
from .filesystems import INPUT, OUTPUT, FileSystems
from .memory import resident_bytes

LOOK_EVERY_S = 0.05  # without a cgroup a run can exceed its memory limit for that long
COMPLETED, EXIT, SIGNAL, START, WALL, MEMORY = "COMPLETED", "EXIT", "SIGNAL", "START", "WALL", "MEMORY"


class SetupFailed(Exception):
    """The platform's failure, not the pipeline's: a child could not be isolated."""


class Run:
    """What stays the same for all runs of a slot."""

    def __init__(self, order, filter_, listening, lock):
        self._order, self._filter = order, filter_
        self._own_pid_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        self._ready, self._say = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._systems = FileSystems(order.limits, len(order.levels), lock)
        # after the pipe, which nobody would answer any more
        self._answers = Answers(listening, order.answered, order.limits)

    @contextmanager
    def on(self, block, view, before, parts, *, tell=None):
        """Gives the report and the descriptor of the output folder; both end, unread, with the context.

        `block` is a memory file, or None where `view` names a staged folder; `before` is one, or None;
        `parts` are (source, place in the block, whether it is a file). `tell` is given the end at which a
        twin's run is heard, or is None.
        """
        with ExitStack() as undo:
            folder = undo.enter_context(self._systems.filled(block, before, parts))
            started = time.monotonic()
            deadline = started + self._order.limits.wall_s
            output = None if tell is None else self._talking_end(tell, undo)
            report = self._levels(view, parts, output, deadline)
            report["duration_s"] = time.monotonic() - started
            yield report, folder

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
        for index, level in enumerate(self._order.levels):
            tmp, shared, self._answers.pipes = self._systems.of_level(index)
            mounts = confine.Mounts(block, parts, OUTPUT, tmp, shared)
            status, stopped_for, usage = self._level(level, mounts, output, deadline)
            cause, code = _verdict(status, stopped_for)
            if cause != COMPLETED:
                return {"cause": cause, "level": index, "code": code, "usage": usage}
        return {"cause": COMPLETED, "level": len(self._order.levels) - 1, "code": 0, "usage": usage}

    def _level(self, level, mounts, output, deadline):
        pid = self._fork(level, mounts, output)
        stopped_for = self._watch(pid, deadline)
        _, status, usage = os.wait4(pid, 0)  # the kernel has ended everybody else in there
        said = self._what_it_said()
        if said != confine.READY and stopped_for is None:
            raise SetupFailed(said.decode(errors="replace") or "a run ended before it was isolated")
        return status, stopped_for, {"faults": usage.ru_minflt, "cpu_s": usage.ru_utime + usage.ru_stime}

    def _what_it_said(self):
        """Before its first byte of untrusted code: nobody else could write to this pipe."""
        try:
            return os.read(self._ready, 1000)
        except BlockingIOError:
            return b""

    def _fork(self, level, mounts, output):
        # the next child, and only it, is PID 1 of a new namespace
        kernel.enter_namespace(self._own_pid_namespace, kernel.NEWPID)
        kernel.unshare(kernel.NEWPID)
        if self._order.script:
            payload.seed_again()
        pid = kernel.fork()
        if pid == 0:
            try:
                self._child(level, mounts, output)
            finally:
                os._exit(payload.CANNOT_START)
        return pid

    def _child(self, level, mounts, output):
        order = self._order
        command = [*order.command, "/in", "/out", level]
        try:
            confine.confine(order, mounts, self._filter, output=output)
        except BaseException as error:
            confine.complain(self._say, error)
            return
        confine.say_ready(self._say)
        (payload.run_script if order.script else payload.execute)(command, order.environment)

    def _watch(self, pid, deadline):
        """Until the child ends, or must: then it is killed, and with it its whole namespace. Meanwhile its
        calls are answered, one in each turn: a run that asks without end ends at its limits like any other.
        """
        pause = LOOK_EVERY_S if self._order.watch_memory else math.inf
        watched, asked = os.pidfd_open(pid), self._answers.listener
        stopped_for, now = None, time.monotonic()
        look = now + pause
        try:
            while stopped_for is None:
                ready = select.select([watched, asked], [], [], max(min(look, deadline) - now, 0))[0]
                if watched in ready:
                    break
                if ready:
                    self._answers.answer()
                now = time.monotonic()
                if now >= deadline:
                    stopped_for = WALL
                elif now >= look:
                    look = now + pause
                    stopped_for = MEMORY if resident_bytes() > self._order.limits.memory_bytes else None
            if stopped_for is not None:
                signal.pidfd_send_signal(watched, signal.SIGKILL)
        finally:
            os.close(watched)
        return stopped_for


def _verdict(status, stopped_for):
    if stopped_for is not None:
        return stopped_for, None
    if os.WIFSIGNALED(status):
        return SIGNAL, -os.WTERMSIG(status)
    code = os.WEXITSTATUS(status)
    return (COMPLETED if code == 0 else START if code == payload.CANNOT_START else EXIT), code
