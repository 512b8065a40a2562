"""A warm run is a copy of the process that forks it: what that knows of earlier runs, it can read."""

from pathlib import Path
from threading import Thread

import pytest
from sandbox_harness import SLOT, TIGHT
from supervisors import name_of, processes_of, run_of
from waiting import wait_until

from worker.sandbox.protocol import SandboxUnavailable

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
needle = re.compile(b"person" + b"-[0-9]+|/proc/self/" + b"secret-[0-9]+")
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


WAIT = """
import ctypes, os, time
[os.fork() or os._exit(0) for _ in range(20)]
ctypes.CDLL(None).prctl(15, b"under way", 0, 0, 0)
time.sleep(0.3)
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
