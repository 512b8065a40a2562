"""A supervisor answers calls of runs, one after the other: what they asked must not stay in its memory, where
the next run can time it. Python's collector pauses after so many circles, and begins to count anew.
"""

import pytest
from sandbox_harness import SLOT

from worker.sandbox.protocol import SandboxUnavailable

ASK = """
import ctypes, os, signal
libc, room = ctypes.CDLL(None), ctypes.create_string_buffer(512)
for _ in range(50):
    os.readlink("/proc/self/exe")
    os.statvfs("/in")
    libc.sysinfo(room)
    libc.sysinfo(ctypes.c_void_p(8))
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for end in os.pipe():
        os.close(end)
    try:
        os.readlink("/in")
    except OSError:
        pass
open("/out/verdict", "w").close()
"""
LOOK = ("gc.collect()  #", "if gc.isenabled() or gc.collect():\n            raise Unclean('it counts')  #")
GAPS = {
    "circles": ("kernel.py", "ctypes.addressof(room), ", "ctypes.cast(room, ctypes.c_void_p), "),
    "types": ("kernel.py", "room = _Room()", "room = (ctypes.c_char * 31)()"),
    "its own times": ("main.py", "gc.disable()", "gc.enable()"),
}


@pytest.fixture
def looked_at(doctored) -> None:
    """A supervisor that ends where its collector would have found something, or goes by itself."""
    doctored("hygiene.py", lambda source: source.replace(*LOOK))


def ask_twice(supervised, ask) -> None:
    with supervised.open_slot(ask(ASK), slot=SLOT) as slot:
        for _ in range(2):  # it is looked at after each
            assert slot.run({"a": b"1"}).outputs is not None


def test_it_keeps_nothing_of_what_it_was_asked(looked_at, supervised, ask):
    ask_twice(supervised, ask)


@pytest.mark.parametrize("mode", ["warm"])
@pytest.mark.parametrize("name", GAPS)
def test_it_would(name, looked_at, supervised, ask, doctored):
    file, wall, gap = GAPS[name]
    doctored(file, lambda source: source.replace(wall, gap))
    with pytest.raises(SandboxUnavailable, match="it counts"):
        ask_twice(supervised, ask)
