"""A supervisor that could carry a message from run to run ends, and says why; no run is blamed for it."""

import os
from pathlib import Path

import pytest
from sandbox_harness import SLOT, open_folder
from supervisors import is_gone, processes_of
from waiting import wait_until

from worker.sandbox.core import process
from worker.sandbox.protocol import Audience, SandboxUnavailable

TRACE = """
import os
seen = sorted(os.listdir(PLACE))
open(PLACE + "/trace", "w").close()
open("/out/verdict", "w").write(str(seen))
"""
NO_CHECK = ("hygiene.py", lambda source: source.replace("raise Unclean(", "str("))


@pytest.fixture
def mounted(monkeypatch):
    """Changes bwrap's flags before the root is made read-only."""
    build = process.build_argv

    def change(edit) -> None:
        def changed(*arguments, **named) -> list[str]:
            argv = build(*arguments, **named)
            end = argv.index("--")
            return [*edit(argv[:end]), *argv[end:]]

        monkeypatch.setattr(process, "build_argv", changed)

    return change


def without(*pair: str):
    """The flags without one of them."""

    def edit(flags: list[str]) -> list[str]:
        at = max(at for at in range(len(flags)) if tuple(flags[at : at + len(pair)]) == pair)
        return flags[:at] + flags[at + len(pair) :]

    return edit


def before_the_end(*more: str):
    return lambda flags: [*flags[:-2], *more, *flags[-2:]]


MOUNTS = {
    "a tmpfs": (before_the_end("--tmpfs", "/room"), "/room"),
    "a queue": (before_the_end("--mqueue", "/room"), "/room"),
    "another /dev": (before_the_end("--dev", "/dev"), "/dev"),
    "the root": (without("--remount-ro", "/"), "/"),
    "/dev": (without("--remount-ro", "/dev"), "/dev"),
    "the platform's own": (without("--remount-ro", "/run/dpgate"), "/run/dpgate"),
}


@pytest.mark.parametrize("name", MOUNTS)
def test_a_supervisor_with_a_writable_mount_does_not_start(name, mounted, supervised, ask):
    edit, place = MOUNTS[name]
    mounted(edit)
    with pytest.raises(
        SandboxUnavailable, match=f"Unclean: {place}.* is writable, and all runs would share it"
    ):
        supervised.open_slot(ask(""), slot=SLOT)
    assert list(supervised._scratch.path.iterdir()) == []


def test_a_folder_of_the_host_that_can_be_written_is_noticed(mounted, supervised, ask):
    with open_folder() as folder:
        mounted(before_the_end("--bind", str(folder), "/room"))
        with pytest.raises(SandboxUnavailable, match="/room is writable"):
            supervised.open_slot(ask(""), slot=SLOT)


def test_with_a_writable_mount_and_without_the_check_runs_could_talk(mounted, doctored, supervised, ask):
    """Two walls stand behind the check: of them Landlock is taken away too."""
    mounted(before_the_end("--perms", "0777", "--tmpfs", "/room"))
    doctored(*NO_CHECK)
    script = TRACE.replace("PLACE", repr("/room"))
    with supervised.open_slot(ask(script), slot=SLOT) as slot:
        assert [slot.run({}).outputs for _ in range(2)] == [None, None]
    doctored("confine.py", lambda source: source.replace("restrict(steps, _WRITABLE)", "pass"))
    with supervised.open_slot(ask(script), slot=SLOT) as slot:
        assert [slot.run({}).outputs["verdict"] for _ in range(2)] == [b"[]", b"['trace']"]


DIRT_AT_START = {
    "thread": (
        "threads",
        "import threading, time\nthreading.Thread(target=time.sleep, args=(99,), daemon=True).start()",
    ),
    "child": ("processes", "import os\nos.fork() or os.execvp('sleep', ['sleep', '99'])"),
}


@pytest.mark.parametrize("name", DIRT_AT_START)
def test_a_supervisor_that_is_not_alone_does_not_start(name, doctored, supervised, ask):
    """As a library would that starts a thread when it is imported."""
    what, code = DIRT_AT_START[name]
    doctored("warmup.py", lambda source: source + f"\n{code}\n")
    with pytest.raises(SandboxUnavailable, match=f"the supervisor's {what} are not what they were"):
        supervised.open_slot(ask(""), slot=SLOT)


# what a supervisor does at the end of a run that it should not
DIRT = {
    "descriptor": ("descriptors", "os.dup(0)"),
    "another open file at the same number": (
        "descriptors",
        "os.dup2(os.open('/dev/urandom', os.O_RDONLY), 0)",
    ),
    "mount": (
        "mounts",
        "from . import kernel; kernel.attach(fd := kernel.new_tmpfs(()), '/run/dpgate/empty'); os.close(fd)",
    ),
    "mount that is gone": ("mounts", "from . import kernel; kernel.detach('/run/dpgate/code')"),
    "process": ("processes", "os.fork() or os.execvp('sleep', ['sleep', '99'])"),
    "zombie": ("processes", "os.fork() or os._exit(0)"),
    "thread": (
        "threads",
        "from _thread import start_new_thread; from time import sleep; start_new_thread(sleep, (99,))",
    ),
    "memory": ("memory has grown", "os.kept = bytearray(b'x') * (100 << 20)"),
}


def soil(doctored, name: str) -> None:
    """The supervisor."""
    line = "report = self._levels(view, parts, output, deadline)"
    doctored("run.py", lambda source: source.replace(line, f"{line}\n            {DIRT[name][1]}"))


def outcomes(slot, count: int) -> tuple[list[str], list[int]]:
    """`result` or the words of the failure, per run; and all processes that were there for it."""
    seen, processes = [], []
    for _ in range(count):
        try:
            assert slot.run({}).outputs == {"verdict": b"mine"}
            seen.append("result")
            processes += processes_of(slot)
        except SandboxUnavailable as error:
            seen.append(str(error))
    return seen, processes


CLEAN = "open('/out/verdict', 'w').write('mine')"


@pytest.mark.parametrize("name", DIRT)
def test_whatever_a_run_leaves_in_the_supervisor_ends_it(name, doctored, supervised, ask):
    soil(doctored, name)
    with supervised.open_slot(ask(CLEAN, audience=Audience.ORIGINAL), slot=SLOT) as slot:
        seen, processes = outcomes(slot, 4)
    assert [each == "result" for each in seen] == [True, False, True, False], seen
    assert all(DIRT[name][0] in each for each in seen if each != "result"), seen
    assert len(set(processes)) == len(processes)  # the third run had a supervisor of its own
    wait_until(lambda: all(map(is_gone, processes)))


@pytest.mark.parametrize("name", ["descriptor", "process", "zombie", "thread", "memory"])
def test_whatever_a_run_leaves_in_the_zygote_ends_it(name, doctored, supervised, ask):
    """Whose own children are no run's: the next is in its own namespace again."""
    doctored("main.py", lambda source: source.replace("if not order.talks:", "if False:"))  # nobody before
    line = "                ending.wait_for(RUN)\n"
    own = "kernel.enter_namespace(forker._own_pid_namespace, kernel.NEWPID)"
    doctored(
        "zygote.py", lambda source: source.replace(line, f"{line}                {own}; {DIRT[name][1]}\n")
    )
    with supervised.open_slot(ask(CLEAN, audience=Audience.ORIGINAL), slot=SLOT) as slot:
        seen, _ = outcomes(slot, 4)
    assert [each == "result" for each in seen] == [True, False, True, False], seen


@pytest.mark.parametrize("mode", ["warm"])
@pytest.mark.parametrize("name", ["descriptor", "mount", "process", "memory"])
def test_nobody_else_would_notice(name, doctored, supervised, ask):
    soil(doctored, name)
    doctored(*NO_CHECK)
    with supervised.open_slot(ask(CLEAN), slot=SLOT) as slot:
        assert outcomes(slot, 2)[0] == ["result", "result"]


def test_a_clean_supervisor_goes_on_and_does_not_grow(supervised, ask):
    with supervised.open_slot(ask(CLEAN), slot=SLOT) as slot:
        processes = processes_of(slot)
        before = facts_of(processes[1])
        for _ in range(30):
            assert slot.run({"a": b"x" * 10_000}).outputs is not None
            wait_until(lambda: facts_of(processes[1]) == before)  # when it has looked at itself
        wait_until(lambda: processes_of(slot) == processes)


def facts_of(supervisor: int) -> tuple[object, ...]:
    place = Path("/proc", str(supervisor))
    return (len(os.listdir(place / "fd")), (place / "mountinfo").read_text(), os.readlink(place / "ns/mnt"))
