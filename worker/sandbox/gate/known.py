"""What a run may find changed, and why: anything else that differs between two looks is a finding.

Each row has its reason, and the name of its residual channel if it is one
(docs/explanation/threat-model.md#residual-channels).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from domain.channels import ALL_CHANNELS

# the residual channels of policy and certificate, and time itself
CLOCKS = "clocks"
NAMES = frozenset({CLOCKS, *ALL_CHANNELS})
NOT_MEASURED = {
    "commit_limit": "asked in each look; most hosts do not count it",
    "core_counters": "asked in each look of the processor; the page of clocks needs an idle host",
    "host_pages": "needs a host that gets short of memory; one in which host-python runs beside shows some",
    "caches": "needs a measurement of its own for each processor; contention shows the coarse part",
    "large_input_inodes": "takes blocks above 64 MiB; shown by the tests of views",
    "filesystem_numbers": "asked in each look; they follow what others mount, and new supervisors",
    "image_access_times": "asked in each look; each moves once a day, mostly by the host's own programs",
    "run_times": "time: closed by padded timing",
    "lateness": "of a whole job, not of runs",
    "rehearsals": "of a whole platform, not of runs",
    "pipe_count": "closed by a supervisor, which is what is asked here",
    "mount_numbers": "closed under the strict table, which is what is asked here",
    "shared_pages": "closed under the strict table, which is what is asked here",
    "standard_calls": "closed under the strict table, which is what is asked here",
    "pid_numbers": "closed by a supervisor, which is what is asked here",
    "user_quotas": "closed where the worker is root; the battery shows it elsewhere (c_pipe_quota)",
}


@dataclass(frozen=True)
class Known:
    """A value that may differ between looks."""

    pattern: str
    why: str
    channel: str = ""
    may_follow: bool = False  # may move with a sender: a residual channel, and measured as one
    is_rare: bool = False  # is usually as it was: what moves in every third round is a finding

    def __post_init__(self) -> None:
        if self.may_follow and self.channel not in NAMES:
            raise ValueError(f"{self.pattern} may follow a sender, and names no residual channel")


_OF_CPU = r"call (getrusage\(-?\d+\)\.0\[[0-3]\]|times\(\)\.0\[\d\]|clock_gettime\([23]\)\.0\[\d\])"
# FS_BASE, GS_BASE; the handler and the way back of an action
_ADDRESSES = (
    r"place .*|auxiliary (3|7|9|15|24|25|31|33)|call brk\(0\)|call arch_prctl\((4099|4100)\)\.0\[0\]"
    r"|call get_robust_list\(0\)\.\d\[0\]|call prctl\(40,0,0,0\)\.0\[0\]"
    r"|call rt_sigaction\(\d+,0,8\)\.0\[[02]\]|call sigaltstack\(0\)\.0\[\d\]"
)
KNOWN = (
    Known(
        r"call (clock_gettime\((0|1|[4-9]|1[01])\)\.0\[\d\]|gettimeofday\(\)\.0\[\d\]|time\(0\)|times\(\))"
        r"|R began",
        "clocks",
        "clocks",
        may_follow=True,
    ),
    Known(_OF_CPU, "its own time of processor, longer where others work", "contention", may_follow=True),
    Known(
        r"instruction (.* core|apic)|call getcpu\(0\)\.\d\[0\]"
        r"|call getrusage\(-?\d+\)\.0\[1[67]\]|child \d ru_n(iv|v)csw",
        "where it runs, and how often it waited",
        "preemption",
        may_follow=True,
    ),
    Known(
        r"call getrusage\(-?\d+\)\.0\[(4|8|9|11)\]|child \d ru_(maxrss|minflt|majflt|inblock)",
        "faults, and how many pages they map in one go",
        "page_faults",
        may_follow=True,
    ),
    Known(r"instruction rdpru \w+", "cycles of the core that it runs on", "core_counters", may_follow=True),
    Known(
        "room memory",
        "what may be mapped is counted for the whole host under overcommit_memory=2",
        "commit_limit",
        may_follow=True,
    ),
    Known(_ADDRESSES, "where memory lies is drawn anew for each interpreter"),
    Known(r"auxiliary random bytes|hash|drawn .*", "drawn anew for each interpreter"),
    Known(
        r"interpreter (blocks|collected|collections|counts)",
        "what the interpreter has counted follows from how many runs came before, and from its hash seed",
    ),
    Known(
        r"(path|new|opened|descriptor|below) .* dev",
        "others on this host may mount in the same moment",
        "filesystem_numbers",
        is_rare=True,
    ),
    Known(
        r"(path|below) /(usr|opt|bin|sbin|lib\w*)\b.* atime",
        "the host's own programs read their files, at most once a day (relatime)",
        "image_access_times",
        is_rare=True,
    ),
)
# between two slots, beside the above: what is drawn or made when a slot opens, before any run in it
SLOTS = (
    Known(
        r"path .* [acm]time|(opened open\w*|descriptor) \d [acm]time|R code", "made when the slot was opened"
    ),
    Known(r"content /etc/.*|folder .*", "made when the slot was opened"),
)


def known(key: str, *, slots: bool = False) -> Known | None:
    """The row for a key; `slots`: of a comparison of two slots."""
    return _row(key, slots)


@cache
def _row(key: str, slots: bool) -> Known | None:
    return next((row for row in (*KNOWN, *(SLOTS if slots else ())) if re.fullmatch(row.pattern, key)), None)


def unused(keys: Iterable[str]) -> list[str]:
    """Rows of the table that no key of a look is about."""
    every = list(keys)
    return [row.pattern for row in KNOWN if not any(re.fullmatch(row.pattern, key) for key in every)]
