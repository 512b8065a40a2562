"""Whoever dies, whenever: the platform's fault and never a result, nothing is left, and the slot goes on."""

import os
import signal
import threading
from contextlib import nullcontext
from dataclasses import replace

import pytest
from open_files import nothing_stays_open
from sandbox_harness import SLOT, TIGHT
from supervisors import bwrap_of, is_gone, name_of, processes_of, run_of, supervisor_of, zygote_of
from waiting import wait_until

from worker.sandbox.core import process as processes
from worker.sandbox.core import seat as seats
from worker.sandbox.protocol import Audience, Cause, SandboxUnavailable, SlotCancelled

# by its name others see that the script is under way; after that nothing but what a test does ends its run
SHOW = "import ctypes; ctypes.CDLL(None).prctl(15, b'under way', 0, 0, 0)"
WAIT = f"{SHOW}; import time; time.sleep(600)"
LASTING = replace(TIGHT, wall_s=600)
ECHO = "open('/out/verdict', 'w').write(open('/in/a').read())"
# waits where its block says so
EITHER = f"if open('/in/a').read() == 'wait':\n    {WAIT}\n{ECHO}"
VICTIMS = {"supervisor": supervisor_of, "bwrap": bwrap_of}


def is_under_way(slot) -> bool:
    return "under way" in map(name_of, processes_of(slot))


class later:  # noqa: N801 - reads as a function
    """Does it in another thread as soon as the slot's run is under way."""

    def __init__(self, slot, step) -> None:
        self._slot, self._step = slot, step
        self._thread = threading.Thread(target=self._do)

    def _do(self) -> None:
        wait_until(lambda: is_under_way(self._slot))
        self._step()

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_) -> None:
        self._thread.join()


@pytest.mark.parametrize("victim", VICTIMS)
@pytest.mark.parametrize("when", ["before the first run", "between two runs"])
def test_killed_between_runs(when, victim, supervised, ask):
    with supervised.open_slot(ask(EITHER, audience=Audience.ORIGINAL), slot=SLOT) as slot:
        if when == "between two runs":
            assert slot.run({"a": b"1"}).outputs == {"verdict": b"1"}
        old = processes_of(slot)
        os.kill(VICTIMS[victim](slot), signal.SIGKILL)
        wait_until(lambda: all(map(is_gone, old)))  # a short run could be over before
        with pytest.raises(SandboxUnavailable, match="the supervisor has ended"):
            slot.run({"a": b"2"})
        assert slot.run({"a": b"3"}).outputs == {"verdict": b"3"}
        assert not set(processes_of(slot)) & set(old)


@pytest.mark.parametrize("victim", VICTIMS)
def test_killed_during_a_run(victim, supervised, ask):
    asked = ask(EITHER, audience=Audience.ORIGINAL, limits=LASTING)
    with supervised.open_slot(asked, slot=SLOT) as slot:
        old = []

        def kill() -> None:
            old.extend(processes_of(slot))
            os.kill(VICTIMS[victim](slot), signal.SIGKILL)

        with later(slot, kill), pytest.raises(SandboxUnavailable, match="the supervisor has ended"):
            slot.run({"a": b"wait"})
        assert len(old) >= 4
        wait_until(lambda: all(map(is_gone, old)))
        assert slot.run({"a": b"3"}).outputs == {"verdict": b"3"}


def test_a_payload_that_is_killed_from_outside_is_a_failed_run(supervised, ask):
    with supervised.open_slot(ask(EITHER, limits=LASTING), slot=SLOT) as slot:
        with later(slot, lambda: os.kill(run_of(slot), signal.SIGKILL)):
            assert slot.run({"a": b"wait"}).detail.cause is Cause.SIGNAL
        assert slot.run({"a": b"3"}).outputs == {"verdict": b"3"}


def test_killed_just_before_it_is_held(supervised, ask, monkeypatch):
    """It has said that it is ready, and is gone when the worker looks for it."""
    ready = processes.SupervisorProcess.wait_until_ready

    def killed(supervisor):
        ready(supervisor)
        os.kill(supervisor._process.pid, signal.SIGKILL)
        supervisor._process.wait()

    monkeypatch.setattr(processes.SupervisorProcess, "wait_until_ready", killed)
    # where there is no group for it to join, a run finds it gone
    with pytest.raises(SandboxUnavailable), supervised.open_slot(ask(ECHO), slot=SLOT) as slot:
        slot.run({"a": b"1"})
    assert list(supervised._scratch.path.iterdir()) == []


@pytest.mark.parametrize("flood", [False, True])
def test_a_supervisor_that_hangs_is_given_up(flood, supervised, ask, monkeypatch):
    monkeypatch.setattr(processes, "GRACE_S", 0.5)
    script = f"{SHOW}\nwhile True: print('x' * 1000)" if flood else WAIT
    with supervised.open_slot(ask(script, limits=replace(TIGHT, wall_s=1.5)), slot=SLOT) as slot:
        old = []

        def stop() -> None:
            old.extend(processes_of(slot))
            os.kill(supervisor_of(slot), signal.SIGSTOP)

        with later(slot, stop), pytest.raises(SandboxUnavailable, match="does not answer"):
            slot.run({})
        wait_until(lambda: all(map(is_gone, old)))


@pytest.mark.parametrize("when", ["between two runs", "during a run"])
def test_a_zygote_that_is_killed_takes_the_supervisor_along(when, supervised, ask):
    asked = ask(EITHER, audience=Audience.ORIGINAL, limits=LASTING)
    with supervised.open_slot(asked, slot=SLOT) as slot:
        assert slot.run({"a": b"1"}).outputs == {"verdict": b"1"}
        old = processes_of(slot)
        if when == "between two runs":
            os.kill(zygote_of(slot), signal.SIGKILL)
            dying = nullcontext()
        else:
            dying = later(slot, lambda: os.kill(zygote_of(slot), signal.SIGKILL))
        with dying, pytest.raises(SandboxUnavailable, match="the zygote has ended"):
            slot.run({"a": b"wait"})
        wait_until(lambda: all(map(is_gone, old)))
        assert slot.run({"a": b"3"}).outputs == {"verdict": b"3"}


def test_a_zygote_that_hangs_is_given_up(supervised, ask, monkeypatch):
    monkeypatch.setattr(processes, "GRACE_S", 0.5)
    with supervised.open_slot(ask(EITHER, limits=replace(TIGHT, wall_s=1.5)), slot=SLOT) as slot:
        old = processes_of(slot)
        os.kill(zygote_of(slot), signal.SIGSTOP)
        with pytest.raises(SandboxUnavailable, match="does not answer"):
            slot.run({"a": b"1"})
        wait_until(lambda: all(map(is_gone, old)))
        assert slot.run({"a": b"2"}).outputs == {"verdict": b"2"}


@pytest.mark.parametrize("audience", Audience)
def test_cancelled_during_a_run(audience, supervised, ask):
    with supervised.open_slot(ask(EITHER, audience=audience, limits=LASTING), slot=SLOT) as slot:
        assert slot.run({"a": b"1"}).outputs == {"verdict": b"1"}
        old = []

        def cancel() -> None:
            old.extend(processes_of(slot))
            slot.cancel()

        with later(slot, cancel), pytest.raises(SlotCancelled):
            slot.run({"a": b"wait"})
        wait_until(lambda: all(map(is_gone, old)))
        for _ in range(2):
            with pytest.raises(SlotCancelled):
                slot.run({"a": b"1"})
    assert list(supervised._scratch.path.iterdir()) == []


def test_cancelled_before_and_between_runs(supervised, ask):
    with supervised.open_slot(ask(ECHO), slot=SLOT) as slot:
        old = processes_of(slot)
        slot.cancel()
        slot.cancel()
        wait_until(lambda: all(map(is_gone, old)))
        with pytest.raises(SlotCancelled):
            slot.run({"a": b"1"})
    with supervised.open_slot(ask(ECHO), slot=SLOT) as slot:
        slot.run({"a": b"1"})
        slot.cancel()
        with pytest.raises(SlotCancelled):
            slot.run({"a": b"1"})
    slot.cancel()  # closed: nothing to do


def test_cancelled_while_a_supervisor_starts(supervised, ask, monkeypatch):
    """In every 500th run, and in the one after a failure."""
    with supervised.open_slot(ask(EITHER, limits=LASTING), slot=SLOT) as slot:
        monkeypatch.setattr(seats, "RUNS_PER_SUPERVISOR", 0)
        begin = processes.SupervisorProcess.begin

        def cancelled(self, *arguments):
            slot.cancel()
            return begin(self, *arguments)

        monkeypatch.setattr(processes.SupervisorProcess, "begin", cancelled)
        with pytest.raises(SlotCancelled):
            slot.run({"a": b"wait"})


def test_cancelled_while_the_result_is_on_its_way(supervised, ask, monkeypatch):
    with supervised.open_slot(ask(ECHO), slot=SLOT) as slot:
        answer = processes.SupervisorProcess.report

        def cancelled(self, *arguments, **named):
            report = answer(self, *arguments, **named)
            slot.cancel()
            return report

        monkeypatch.setattr(processes.SupervisorProcess, "report", cancelled)
        with nothing_stays_open(), pytest.raises(SlotCancelled):
            slot.run({"a": b"1"})


def test_a_supervisor_is_replaced_after_its_share_of_runs(supervised, ask, monkeypatch):
    monkeypatch.setattr(seats, "RUNS_PER_SUPERVISOR", 2)
    with supervised.open_slot(ask(ECHO), slot=SLOT) as slot:
        seen = []
        for number in range(5):
            assert slot.run({"a": b"%d" % number}).outputs == {"verdict": b"%d" % number}
            seen.append(supervisor_of(slot))
    assert [seen[0] == seen[1], seen[1] == seen[2], seen[2] == seen[3], seen[3] == seen[4]] == [
        True,
        False,
    ] * 2
    assert all(map(is_gone, seen))


@pytest.mark.parametrize("place", ["/in", "/out", "/tmp", "/dev/shm", "/proc"])
def test_a_mount_point_that_is_missing_is_named(place, supervised, ask, monkeypatch):
    """As in a root file system that nobody prepared."""
    build = processes.build_argv

    def unprepared(*arguments, **named) -> list[str]:
        argv = build(*arguments, **named)
        at = argv.index(place)
        if argv[at - 1] == "--dir":
            argv[at] += "-elsewhere"
        else:
            argv[argv.index("--proc", 0) : argv.index("--proc", 0) + 2] = [
                "--ro-bind",
                "/proc/self",
                "/nowhere",
            ]
        return argv

    monkeypatch.setattr(processes, "build_argv", unprepared)
    with pytest.raises(SandboxUnavailable) as raised, supervised.open_slot(ask(ECHO), slot=SLOT) as slot:
        slot.run({"a": b"1"})
    assert place == "/proc" or place in str(raised.value)
    assert list(supervised._scratch.path.iterdir()) == []


def test_a_step_that_fails_in_the_child_is_named(supervised, ask, doctored):
    doctored(
        "confine.py",
        lambda source: source.replace('_HOST_NAME = b"sandbox"', '_HOST_NAME = b"x" * 99'),
    )
    with supervised.open_slot(ask(ECHO), slot=SLOT) as slot:
        for _ in range(2):
            with pytest.raises(
                SandboxUnavailable, match=r"could not be isolated.*sethostname: Invalid argument"
            ):
                slot.run({"a": b"1"})
