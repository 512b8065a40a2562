"""One run: its file systems, one child per level, and what became of it."""

import os
import select
import signal
import time
from contextlib import contextmanager

from . import confine, kernel, payload
from .filesystems import INPUT, OUTPUT, RunFileSystems
from .memory import resident_bytes

LOOK_EVERY_S = 0.05  # without a cgroup a run can exceed its memory limit for that long
COMPLETED, EXIT, SIGNAL, START, WALL, MEMORY = "COMPLETED", "EXIT", "SIGNAL", "START", "WALL", "MEMORY"


class SetupFailed(Exception):
    """The platform's failure, not the pipeline's: a child could not be isolated."""


class Run:
    """What stays the same for all runs of a slot."""

    def __init__(self, order, filter_):
        self._order, self._filter = order, filter_
        self._own_pid_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)

    @contextmanager
    def on(self, block, view, before, parts, output):
        """Gives the report and the descriptor of the output folder; both end, unread, with the context.

        `block` is a memory file, or None where `view` names a staged folder; `before` is one, or None;
        `parts` are (source, place in the block, whether it is a file); `output` may be None.
        """
        systems = RunFileSystems(block, self._order.limits, before, parts)
        try:
            started = time.monotonic()
            deadline = started + self._order.limits.wall_s
            report = self._levels(systems, view, parts, output, deadline)
            report["duration_s"] = time.monotonic() - started
            yield report, systems.output_folder
        finally:
            systems.close()

    def _levels(self, systems, view, parts, output, deadline):
        usage, block = {}, INPUT if view is None else f"/run/dpgate/blocks/{view}"
        for index, level in enumerate(self._order.levels):
            tmp, shared = systems.for_level()
            mounts = confine.Mounts(block, parts, OUTPUT, tmp, shared)
            status, stopped_for, usage = self._level(level, mounts, output, deadline)
            systems.forget(tmp, shared)
            cause, code = _verdict(status, stopped_for)
            if cause != COMPLETED:
                return {"cause": cause, "level": index, "code": code, "usage": usage}
        return {"cause": COMPLETED, "level": len(self._order.levels) - 1, "code": 0, "usage": usage}

    def _level(self, level, mounts, output, deadline):
        ready, say = os.pipe2(os.O_CLOEXEC)
        try:
            try:
                pid = self._fork(level, mounts, output, say)
            finally:
                os.close(say)
            stopped_for = self._watch(pid, deadline)
            _, status, usage = os.wait4(pid, 0)  # the kernel has ended everybody else in there
            complaint = os.read(ready, 1000)
        finally:
            os.close(ready)
        if complaint != confine.READY and stopped_for is None:
            raise SetupFailed(complaint.decode(errors="replace") or "a run ended before it was isolated")
        return status, stopped_for, {"faults": usage.ru_minflt, "cpu_s": usage.ru_utime + usage.ru_stime}

    def _fork(self, level, mounts, output, say):
        # the next child, and only it, is PID 1 of a new namespace
        kernel.enter_namespace(self._own_pid_namespace, kernel.NEWPID)
        kernel.unshare(kernel.NEWPID)
        if self._order.script:
            payload.seed_again()
        pid = kernel.fork()
        if pid == 0:
            try:
                self._child(level, mounts, output, say)
            finally:
                os._exit(payload.CANNOT_START)
        return pid

    def _child(self, level, mounts, output, say):
        order = self._order
        command = [*order.command, "/in", "/out", level]
        try:
            confine.confine(order, mounts, self._filter, output=output)
        except BaseException as error:
            confine.complain(say, error)
            return
        confine.say_ready(say)
        (payload.run_script if order.script else payload.execute)(command, order.environment)

    def _watch(self, pid, deadline):
        """Until the child ends, or must: then it is killed, and with it its whole namespace."""
        limits, stopped_for = self._order.limits, None
        watched = os.pidfd_open(pid)
        try:
            while stopped_for is None:
                left = deadline - time.monotonic()
                pause = min(left, LOOK_EVERY_S) if self._order.watch_memory else left
                if select.select([watched], [], [], max(pause, 0))[0]:
                    break
                if time.monotonic() >= deadline:
                    stopped_for = WALL
                elif self._order.watch_memory and resident_bytes() > limits.memory_bytes:
                    stopped_for = MEMORY
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
