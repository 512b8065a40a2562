"""What no order may hold, whichever backend is to run it; and which filter it gets."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox_images.seccomp.bpf import ARCHITECTURES
from worker.sandbox.core import orders
from worker.sandbox.core.orders import answered_programs, check_order, fits
from worker.sandbox.protocol import MIB, Audience, Limits, SandboxUnavailable, SlotOrder, Syscalls
from worker.sandbox.supervised.sandbox import WIDER


class Nothing:
    name, digest = "nothing", "sha256:0"


LIMITS = Limits(wall_s=1, cpu_s=1, memory_bytes=MIB)
GOOD = SlotOrder(
    image=Nothing(),
    code={},
    command=("python3", "/pipeline/main.py"),
    levels=("participant", "group"),
    outputs=("a", "b/c"),
    limits=LIMITS,
    audience=Audience.ORIGINAL,
)
ACCEPTED = {
    "as it is": {},
    "no outputs": {"outputs": ()},
    "one word": {"command": ("run",)},
    "any words": {"command": ("sh", "-c", "echo $1; \n 'x'", "", "ü")},
    "most levels": {"levels": tuple(map(str, range(255)))},
    "a level twice": {"levels": ("group", "group")},
    "warm": {"warm": ()},
    "all outputs": {"outputs": (), "tree": True},
    "roots": {"roots": (Path("/data/twin"),)},
    "environment": {"environment": {"OWN": "", "OTHER": "a=b\n"}},
    "part of a second": {"limits": replace(LIMITS, wall_s=0.01)},
}


def test_accepted(subtests):
    for name in ACCEPTED:
        with subtests.test(name=name):
            check_order(replace(GOOD, **ACCEPTED[name]))


AMOUNTS = list(Limits.__dataclass_fields__)
REFUSED = {
    "no command": {"command": ()},
    "no levels": {"levels": ()},
    "too many levels": {"levels": tuple(map(str, range(256)))},
    "NUL in the command": {"command": ("a\0b",)},
    "NUL in a level": {"levels": ("a\0b",)},
    "NUL in a name": {"environment": {"A\0": "b"}},
    "NUL in a value": {"environment": {"A": "\0"}},
    "no name": {"environment": {"": "b"}},
    "a name with a value": {"environment": {"A=B": "c"}},
    "all outputs and some by name": {"tree": True},
    "a root that is not absolute": {"roots": (Path("twin"),)},
    "an output twice": {"outputs": ("a", "a")},
    "an output above": {"outputs": ("../a",)},
    "an output from the root": {"outputs": ("/a",)},
    "an output through above": {"outputs": ("a/../../b",)},
    "an output without a name": {"outputs": ("",)},
    "an output that is a folder": {"outputs": ("a/",)},
    "an output that is too deep": {"outputs": ("/".join("d" * 33),)},
    "an output with a long name": {"outputs": ("x" * 256,)},
    "NUL in an output": {"outputs": ("a\0",)},
    "warm without a script": {"warm": (), "command": ("python3",)},
    "warm with an option": {"warm": (), "command": ("python3", "-I", "main.py")},
    "R before its runs, with an environment": {
        "warm": (),
        "command": ("Rscript", "/pipeline/app.R"),
        "environment": {"R_PROFILE_USER": "/pipeline/app.R"},
    },
    "endless": {"limits": replace(LIMITS, wall_s=math.inf)},
    "not a number": {"limits": replace(LIMITS, wall_s=math.nan)},
    **{f"no {name}": {"limits": replace(LIMITS, **{name: 0})} for name in AMOUNTS},
    **{f"negative {name}": {"limits": replace(LIMITS, **{name: -1})} for name in AMOUNTS},
}


def test_refused(subtests):
    for name in REFUSED:
        with (
            subtests.test(name=name),
            pytest.raises(ValueError),  # noqa: PT011 - whichever sentence it is
        ):
            check_order(replace(GOOD, **REFUSED[name]))


def test_each_table_has_a_filter_of_its_own():
    programs = {answered_programs(WIDER[table])[0] for table in Syscalls}
    assert len(programs) == len(Syscalls)
    assert all(program and len(program) % 8 == 0 for program in programs)  # struct sock_filter


def test_a_machine_without_a_filter_runs_nothing(monkeypatch):
    answered_programs.cache_clear()
    monkeypatch.setattr(orders.platform, "machine", lambda: "sparc64")
    assert "sparc64" not in ARCHITECTURES
    try:
        with pytest.raises(SandboxUnavailable, match="no system-call filter for sparc64 machines"):
            answered_programs(None)
    finally:
        answered_programs.cache_clear()


PAGE = 4096
ROOM = replace(LIMITS, output_bytes=2 * PAGE, inodes=4)
FITTING = {
    "nothing": ({}, True),
    "two full pages": ({"a": b"1" * 2 * PAGE}, True),
    "one byte more": ({"a": b"1" * 2 * PAGE + b"1"}, False),
    "two files of a byte": ({"a": b"1", "b": b"1"}, True),
    "three": ({"a": b"1", "b": b"1", "c": b"1"}, False),
    "three empty files, and the folder itself": ({"a": b"", "b": b"", "c": b""}, True),
    "four": (dict.fromkeys("abcd", b""), False),
    "folders count": ({"a/b/c": b""}, True),
    "each of them": ({"a/b/c/d": b""}, False),
    "but once": ({"a/b": b"", "a/c": b""}, True),
    "the longest path": ({"d" * 1024: b""}, True),
    "a longer one": ({"d" * 1025: b""}, False),
    "a longer one in bytes": ({"ü" * 513: b""}, False),
    "a file that is a folder too": ({"a": b"", "a/b": b""}, False),
    "the folder of a file, first": ({"a/b": b"", "a": b""}, False),
}


def test_what_an_output_has_room_for_at_the_start(subtests):
    for name in FITTING:
        with subtests.test(name=name):
            before, expected = FITTING[name]
            assert fits(before, ROOM) is expected
