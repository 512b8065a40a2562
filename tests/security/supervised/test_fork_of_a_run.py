"""A run is forked without the hooks of libraries; where the C library has no such fork, with them."""

import pytest
from sandbox_harness import SLOT

# Registered in the supervisor, as libraries do when they are imported; the pipe is a run's standard error.
HOOK = """
import os
os.register_at_fork(after_in_child=lambda: os.environ.update(HOOK="called"))
"""
SCRIPT = """
import os, random, threading
found = []
thread = threading.Thread(target=lambda: found.append(os.environ.get("HOOK")))
thread.start(); thread.join()
open("/out/verdict", "w").write(repr(found))
"""


def bare(source: str) -> str:
    return source.replace('"_Fork"', '"_no_such_call"')


@pytest.mark.parametrize("mode", ["warm"])
@pytest.mark.parametrize(("has_call", "seen"), [(True, b"[None]"), (False, b"['called']")])
def test_hooks_of_before_the_fork_are_not_called(has_call, seen, supervised, ask, doctored):
    doctored("warmup.py", lambda source: source + HOOK)
    if not has_call:
        doctored("kernel.py", bare)
    with supervised.open_slot(ask(SCRIPT), slot=SLOT) as slot:
        assert [slot.run({}).outputs for _ in range(2)] == [{"verdict": seen}] * 2


def test_the_other_fork_runs_whatever_this_one_does(supervised, ask, doctored):
    doctored("kernel.py", bare)
    with supervised.open_slot(
        ask("open('/out/verdict', 'w').write(open('/in/a').read())"), slot=SLOT
    ) as slot:
        for block in (b"1", b"2"):
            assert slot.run({"a": block}).outputs == {"verdict": block}
