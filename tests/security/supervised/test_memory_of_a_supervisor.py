"""A supervisor answers calls of runs, one after the other: what they asked must not stay in its memory, where
the next run can time it. Python's collector pauses after so many circles, and begins to count anew; and its
interpreter takes longer for what it has not done before.
"""

import pytest
from sandbox_harness import SLOT

from worker.sandbox.protocol import Audience, SandboxUnavailable

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
LOOK = ("gc.collect(0)  #", "if gc.isenabled() or gc.collect(0):\n            raise Unclean('it counts')  #")
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


KINDS = ("pipe2", "statfs", "sysinfo", "readlink", "rt_sigaction")
ASKED = (
    "answer, name = self._answers[number]",
    "answer, name = self._answers[number]\n        ASKED.append(name)",
)
TOLD = ("    own = ", "    from .answers import ASKED\n    raise Unclean(' '.join(ASKED))\n    own = ")


def asked_before_the_first_run(supervised, ask, doctored) -> list[str]:
    doctored("answers.py", lambda source: source.replace(*ASKED) + "\n\nASKED = []\n")
    doctored("main.py", lambda source: source.replace(*TOLD))
    with pytest.raises(SandboxUnavailable, match="Unclean") as refused:
        supervised.open_slot(ask("", audience=Audience.ORIGINAL), slot=SLOT)
    return str(refused.value).split()


def test_each_answer_was_given_before_a_run_asks(supervised, ask, doctored):
    asked = asked_before_the_first_run(supervised, ask, doctored)
    assert all(asked.count(kind) >= 30 for kind in KINDS), asked


@pytest.mark.parametrize("mode", ["warm"])
def test_else_the_first_run_would_be_the_first_to_ask(supervised, ask, doctored):
    doctored("main.py", lambda source: source.replace("if not order.talks:", "if False:"))
    asked = asked_before_the_first_run(supervised, ask, doctored)
    assert not any(kind in asked for kind in KINDS)
