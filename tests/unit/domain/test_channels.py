"""The table of residual channels: complete, and the same in the threat model."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product

from domain.channels import ALL_CHANNELS, CHANNELS, beyond_default, left_open, of_default_sandbox
from domain.image import SyscallTable
from domain.surroundings import Backend, Isolation, Surroundings

EVERYWHERE = [
    Surroundings(*where)
    for where in product(Backend, SyscallTable, Isolation, ("padded", "coarse"), (False, True), (False, True))
]
STRICT, STANDARD = SyscallTable.STRICT, SyscallTable.STANDARD
ALONE, BESIDE = Isolation.EXCLUSIVE, Isolation.SHARED


def test_the_table_is_total():
    assert tuple(channel.name for channel in CHANNELS) == ALL_CHANNELS
    for channel in CHANNELS:
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", channel.name)
        assert channel.sentence.endswith(".")
        assert channel.carries
        assert channel.closed_by
        assert any(channel.is_open(where) for where in EVERYWHERE), f"{channel.name} is open nowhere"


def test_what_is_stricter_never_opens_a_channel():
    for where in EVERYWHERE:
        found = set(left_open(where))
        others = {
            "alone": replace(where, isolation=ALONE),
            "strict": replace(where, syscalls=STRICT),
            "padded": replace(where, timing="padded"),
            "root": replace(where, as_root=True),
            "in memory": replace(where, in_memory=True),
        }
        for name, stricter in others.items():
            assert set(left_open(stricter)) <= found, (name, where)


def test_runs_that_are_alone_have_nobody_beside_them():
    beside = {
        "contention",
        "shared_waits",
        "file_times",
        "rdseed",
        "preemption",
        "user_quotas",
        "shared_pages",
    }
    assert beside <= {name for where in EVERYWHERE for name in left_open(where)}
    assert not [where for where in EVERYWHERE if where.isolation is ALONE and beside & set(left_open(where))]


def test_the_default_sandbox_and_what_goes_beyond_it():
    assert of_default_sandbox(ALONE, "padded") == (
        "lateness", "caches", "host_pages", "filesystem_numbers", "large_input_inodes",
        "image_access_times", "core_counters",
    )  # fmt: skip
    assert "run_times" in of_default_sandbox(ALONE, "coarse")
    assert beyond_default(ALONE) == ("page_faults", "pipe_count", "mount_numbers", "pid_numbers")
    assert beyond_default(BESIDE) == (
        "page_faults", "pipe_count", "mount_numbers", "shared_pages", "standard_calls", "pid_numbers",
    )  # fmt: skip
    docker = left_open(Surroundings(Backend.DOCKER, STANDARD, ALONE))
    assert set(beyond_default(ALONE)) <= set(docker)


def test_pages_tell_nothing_of_a_supervised_image_in_memory():
    for where in EVERYWHERE:
        is_closed = where.in_memory and where.backend is not Backend.DOCKER
        assert ("page_faults" in left_open(where)) is not is_closed
