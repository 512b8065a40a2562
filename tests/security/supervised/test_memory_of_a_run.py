"""A warm run is a copy of the process that forks it: what that knows of earlier runs, it can read."""

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest
from sandbox_harness import SLOT, TIGHT, open_folder
from supervisors import name_of, processes_of, run_of
from waiting import wait_until

from worker.sandbox.core.seat import Seat
from worker.sandbox.protocol import SandboxUnavailable
from worker.sandbox.supervised import SupervisedSandbox, SupervisedSlot

BRIEF = replace(TIGHT, wall_s=1)

LOOK = """
import ctypes, os, re
said = []
# every page that can be read nearby: what cannot be is an error of the call
libc, file = ctypes.CDLL(None), os.open("/tmp/page", os.O_RDWR | os.O_CREAT)
libc.sbrk.restype = ctypes.c_void_p
def pages(first, last):
    for page in range(first & ~4095, last, 4096):
        if libc.pwrite(file, ctypes.c_void_p(page), ctypes.c_size_t(4096), ctypes.c_long(0)) == 4096:
            yield os.pread(file, 4096, 0)
end, among = libc.sbrk(0), id(object())
needle = re.compile(  # does not find itself
    b"person-[0-9]+|/proc/self/secret-[0-9]+|socket:.[0-9]+|ctxt_switches:.[0-9]+|/dev/zero [(]deleted"
)
for first, last in ((end - (40 << 20), end), (among - (16 << 20), among + (16 << 20))):
    for page in pages(first, last):
        said += map(str, needle.findall(page))
open("/out/verdict", "w").write(repr(sorted(set(said))))
"""
LEAVE = """
import os
for number in range(200):
    try:
        os.readlink("/proc/self/" + f"secret-{number}")
    except OSError:
        pass
os._exit(77)
"""
EITHER = "exec(open('/in/script').read())"


def seen_after(people: dict[str, bytes], supervised, ask) -> bytes:
    """By a run whose block names nobody, after one on `people`."""
    with supervised.open_slot(ask(EITHER), slot=SLOT) as slot:
        slot.run({**people, "script": LEAVE.encode()})
        return slot.run({"script": LOOK.encode()}).outputs["verdict"]


PEOPLE = {f"person-{number:05}/file": b"x" for number in range(300)}


def test_a_run_finds_nothing_of_another_in_its_memory(supervised, ask):
    assert seen_after(PEOPLE, supervised, ask) == b"[]"


@pytest.mark.parametrize("mode", ["warm"])
def test_it_finds_what_the_forking_process_has_known(supervised, ask, doctored):
    """And freed: names that the supervisor reads, it reads as such a list."""
    known = "        [f'person-{number}' for number in range(300)]\n"
    line = "        kernel.unshare(kernel.NEWPID)\n"
    doctored("zygote.py", lambda source: source.replace(line, line + known))
    assert "person-2" in seen_after(PEOPLE, supervised, ask).decode()


OF_ITSELF = {
    "a descriptor": (
        "[os.readlink(f'/proc/self/fd/{end.fileno()}') for end in socket.socketpair()]",
        "socket:[",
    ),
    "interruptions": ("open('/proc/self/status', 'rb').read()", "ctxt_switches:"),
    "shared memory": ("open('/proc/self/maps', 'rb').read()", "/dev/zero (deleted"),
}


@pytest.mark.parametrize("mode", ["warm"])
@pytest.mark.parametrize("name", OF_ITSELF)
def test_it_finds_what_the_forking_process_has_read_of_itself(name, supervised, ask, doctored):
    """Such as numbers that the whole host shares. So the supervisor looks, from outside."""
    code, found = OF_ITSELF[name]
    line = "    heap.fill_gaps()\n"
    doctored(
        "zygote.py",
        lambda source: source.replace(line, line.replace("heap.fill_gaps()", "heap.kept = " + code)),
    )
    assert found in seen_after({}, supervised, ask).decode()


# what the interpreter counts in functions that the forking process calls; True: it leaves before it is done
COUNT = """
import os, sys
frame = sys._getframe()
while frame.f_code.co_name != "_live":
    frame = frame.f_back
calls = [getattr(frame.f_globals["kernel"], name) for name in ("unshare", "enter_namespace", "_checked")]
open("/out/verdict", "w").write(" ".join(call.__code__._co_code_adaptive.hex() for call in calls))
what = open("/in/what").read()
if what == "leave":
    os._exit(3)
while what == "stay":
    pass
"""
TWO_LEVELS = ("participant", "group")
SMALL = 1 << 20  # of the largest input, in bytes


def counted_after(what: str, order, supervised) -> bytes:
    """By the last run of four, of which the one before it is said to do `what`. With so many, the forking
    process calls for the eighth time what it calls once for a fork: there the interpreter begins to count.
    """
    before = {"a": b"x" * (order.limits.tmp_bytes + order.limits.output_bytes)} if what == "no room" else {}
    more = {"more": b"x" * (SMALL + 1)} if what == "too large" else {}
    with supervised.open_slot(order, slot=SLOT) as slot:
        for _ in range(2):
            slot.run({"what": b"-"})
        if what == "not made":
            assert not slot.take_turn(0, on_time=False)
        else:
            slot.run({"what": what.encode(), **more}, before=before)
        return slot.run({"what": b"-"}).outputs["verdict"]


@pytest.fixture
def small(image) -> Iterator[SupervisedSandbox]:
    """With a limit on inputs that a test can exceed."""
    with (
        open_folder() as root,
        SupervisedSandbox(
            image, scratch_root=root / "scratch", allow_disk_scratch=True, input_bytes=SMALL
        ) as it,
    ):
        yield it


@pytest.mark.parametrize("mode", ["warm"])
@pytest.mark.parametrize("what", ["leave", "stay", "too large", "no room", "not made"])
def test_not_even_how_often_it_has_forked_tells_what_was_before(what, small, ask):
    order = ask(COUNT, limits=BRIEF, levels=TWO_LEVELS)
    assert counted_after(what, order, small) == counted_after("-", order, small)


@pytest.mark.parametrize("mode", ["warm"])
@pytest.mark.parametrize("what", ["leave", "stay"])
def test_that_number_would_tell_how_far_a_run_came(what, small, ask, doctored):
    doctored("run.py", lambda source: source.replace("self._zygote.skip()", "pass"))
    order = ask(COUNT, limits=BRIEF, levels=TWO_LEVELS)
    assert counted_after(what, order, small) != counted_after("-", order, small)


@pytest.mark.parametrize("mode", ["warm"])
@pytest.mark.parametrize("what", ["too large", "no room"])
def test_that_number_would_tell_that_a_run_had_not_begun(what, small, ask, monkeypatch):
    monkeypatch.setattr(SupervisedSlot, "_instead", lambda _, failed, within_s: failed)
    order = ask(COUNT, limits=BRIEF, levels=TWO_LEVELS)
    assert counted_after(what, order, small) != counted_after("-", order, small)


@pytest.mark.parametrize("mode", ["warm"])
def test_that_number_would_tell_that_a_run_was_not_made(small, ask, monkeypatch):
    monkeypatch.setattr(Seat, "owe", lambda _: None)
    order = ask(COUNT, limits=BRIEF, levels=TWO_LEVELS)
    assert counted_after("not made", order, small) != counted_after("-", order, small)


WAIT = """
import ctypes, os, time
[os.fork() or os._exit(0) for _ in range(20)]
ctypes.CDLL(None).prctl(15, b"under way", 0, 0, 0)
time.sleep(600)
"""


def numbers_of_runs(supervised, ask) -> list[str]:
    """In the supervisor's namespace, where its zygote sees them, of two runs that each start 20 processes."""
    seen = []
    with supervised.open_slot(ask(WAIT, limits=TIGHT), slot=SLOT) as slot:
        for _ in range(2):
            running = Thread(target=lambda: slot.run({}))
            running.start()
            wait_until(lambda: "under way" in map(name_of, processes_of(slot)))
            status = Path(f"/proc/{run_of(slot)}/status").read_text()
            seen += [line.split()[-2] for line in status.splitlines() if line.startswith("NSpid:")]
            os.kill(run_of(slot), signal.SIGKILL)
            running.join()
    return seen


def test_not_even_its_number_tells_what_was_before(supervised, ask):
    assert numbers_of_runs(supervised, ask) == ["3", "3"]


@pytest.mark.parametrize("mode", ["warm"])
def test_the_number_would_tell_how_many_processes_there_were(supervised, ask, doctored):
    """If it were not set; then the supervisor does not even find the run."""
    doctored("zygote.py", lambda source: source.replace('b"%d" % ZYGOTE', 'b"%d" % 99'))
    with (
        supervised.open_slot(ask(WAIT, limits=TIGHT), slot=SLOT) as slot,
        pytest.raises(SandboxUnavailable, match="could not be isolated: ProcessLookupError"),
    ):
        slot.run({})
