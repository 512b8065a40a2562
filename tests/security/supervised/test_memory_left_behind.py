"""A control group outlives its runs: what one has filled is given back before the next begins.

Otherwise a run could push a later one of its seat over the ceiling of both, and that would fail. Here the
ceiling leaves an eighth of the room beside a run's own that the product's leaves; where the worker may make
no groups there is none, and nothing fails.
"""

from dataclasses import replace

import pytest
from sandbox_harness import SLOT, TIGHT

from worker.sandbox.core import seat
from worker.sandbox.core.cgroup import why_no_groups
from worker.sandbox.protocol import MIB, Audience

pytestmark = pytest.mark.deep("thirty times, of hundreds of MiB")

ROOM, MEMORY = 96, 192
SLACK = 64 * MIB
# all that a run may have, at once
FILLS = f"""
kept = bytearray({MEMORY - 32} << 20)
for place in ("/tmp", "/dev/shm"):
    try:
        with open(place + "/large", "wb") as file:
            while True:
                file.write(bytes(1 << 20))
    except OSError:
        pass
open("/out/verdict", "w").write("whole")
"""
ENDS = ("", "import os; os.kill(os.getpid(), 9)", "while True: kept.extend(bytes(1 << 20))")
LIMITS = replace(TIGHT, memory_bytes=MEMORY * MIB, tmp_bytes=ROOM * MIB, wall_s=60, cpu_s=60)


def ends_of_runs(supervised, ask, count: int) -> list[bool]:
    """Whether each whole run ended well, with one before it that has filled everything and ended somehow."""
    order = ask(
        "exec(compile(open('/in/script.py').read(), 'script', 'exec'))",
        limits=LIMITS,
        audience=Audience.ORIGINAL,
    )
    found = []
    with supervised.open_slot(order, slot=SLOT + 60) as slot:
        for number in range(count):
            slot.run({"script.py": (FILLS + ENDS[number % len(ENDS)]).encode()})
            outputs = slot.run({"script.py": FILLS.encode()}).outputs
            found.append(outputs == {"verdict": b"whole"})
    return found


def test_no_run_is_pushed_over_the_ceiling_by_the_one_before(supervised, ask, monkeypatch):
    monkeypatch.setattr(seat, "_GROUP_SLACK_BYTES", SLACK)
    assert ends_of_runs(supervised, ask, 30) == [True] * 30


def test_without_the_end_of_its_file_systems_it_is(supervised, ask, monkeypatch, doctored):
    monkeypatch.setattr(seat, "_GROUP_SLACK_BYTES", SLACK)
    ended = "os.dup2(context, self._new[role], inheritable=False)"
    doctored("filesystems.py", lambda source: source.replace(ended, f"os.dup(self._new[role]); {ended}"))
    doctored("hygiene.py", lambda source: source.replace("if found != wanted", "if 0"))
    assert (False in ends_of_runs(supervised, ask, 3)) is (why_no_groups() is None)
