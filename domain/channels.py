"""Residual channels: by what runs can still signal to each other, and where each is open.

A release's guarantee rests on runs that cannot signal to each other by means other than these. Every surface
that names one takes it from here: the threat model, a policy, a refusal, a certificate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Literal, get_args

from domain.image import SyscallTable
from domain.surroundings import Backend, Isolation, Surroundings, TimingMode

ChannelName = Literal[
    "run_times",
    "lateness",
    "caches",
    "page_faults",
    "host_pages",
    "filesystem_numbers",
    "large_input_inodes",
    "image_access_times",
    "core_counters",
    "commit_limit",
    "contention",
    "shared_waits",
    "file_times",
    "rdseed",
    "preemption",
    "user_quotas",
    "rehearsals",
    "pipe_count",
    "mount_numbers",
    "shared_pages",
    "standard_calls",
    "pid_numbers",
]
ALL_CHANNELS: tuple[ChannelName, ...] = get_args(ChannelName)
NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Channel:
    """`carries` says how much, where a trial is on record; `closed_by` what to do against it."""

    name: ChannelName
    sentence: str
    carries: str
    closed_by: str
    is_open: Callable[[Surroundings], bool]


def _always(_: Surroundings) -> bool:
    return True


def _shared(where: Surroundings) -> bool:
    return where.is_shared


def _counted_by_the_host(where: Surroundings) -> bool:
    """A supervisor keeps these numbers from runs, as long as the filter is the strict one."""
    return where.is_docker or where.is_standard


CHANNELS: tuple[Channel, ...] = (
    Channel(
        "run_times",
        "Without a time grid runs follow each other at once, and a run can read from the clock how long "
        "earlier ones took.",
        NOT_MEASURED,
        "padded timing, the default; coarse only for code that was read",
        lambda where: where.timing == "coarse",
    ),
    Channel(
        "lateness",
        "Where people have more rows or files than there is time for, or with docker a run is slow to die, "
        "the next run counts as failed. Elsewhere a dying run has whole turns, but slows what is beside it, "
        "and without root holds descriptors counted for all. A busy host can put off a chunk by half "
        "seconds: its runs can read that, and from the second on the release is whole ticks late. So is a "
        "person whose turn was missed.",
        "a failed run in place of another person's: with one supervisor in 18 of 20 trials, now in none of "
        "320. Before a most of a person was declared, 1.5 million rows made a release late 6 times of 7",
        "supervised; most_rows and most_bytes declared; an honest nominal size; no overload; few processes",
        _always,
    ),
    Channel(
        "caches",
        "What a run leaves in the caches of the processor, and in the page cache if the image is not kept in "
        "memory, makes the work of a later run quicker or slower.",
        NOT_MEASURED,
        "nothing here; a host of its own for the worker narrows it",
        _always,
    ),
    Channel(
        "page_faults",
        "If the image is not kept in memory, getrusage and wait4 tell a run how many pages were fetched for "
        "it, and how many mapped in one go: whether somebody has read the same parts of its files before.",
        "one bit for each file that nobody has read, until the host forgets it: 24 of 24 in a trial; one "
        "person's row reached all later blocks of a job in 3 trials of 3; in memory none did",
        "supervised, an imported image, room for it in memory (DPGATE_IMAGES_IN_MEMORY_MIB), no swap",
        lambda where: where.is_docker or not where.in_memory,
    ),
    Channel(
        "host_pages",
        "A cold run begins as a copy of the host's own Python and counts its pages in memory: a run "
        "in host-python can have read more of them, one that makes the host short of memory takes some away.",
        NOT_MEASURED,
        "warm slots; memory for all slots and images at once, and no host-python beside other images",
        lambda where: where.backend is Backend.COLD,
    ),
    Channel(
        "filesystem_numbers",
        "A slot's file systems keep their numbers, but when a supervisor is renewed (without a grid after "
        "500 runs, or for not being as it was), or another program mounts something in that moment, numbers "
        "and times of its folders change for the runs after it.",
        NOT_MEASURED,
        "one slot, and nothing else on the host that mounts",
        lambda where: not where.is_docker,
    ),
    Channel(
        "large_input_inodes",
        "Inputs above 64 MiB and copies of images are mounted from the scratch folder, whose inodes are "
        "numbered in one sequence: a run reads how many files the inputs before it, or before the copy, had.",
        NOT_MEASURED,
        "inputs below 64 MiB",
        lambda where: not where.is_docker,
    ),
    Channel(
        "image_access_times",
        "The image host-python shows the host's own files, and when programs of the host last read them, "
        "once a day for each file. A run that makes a worker read what was not read that day leaves a bit.",
        "none in a trial: such a time moved by the host's own work alone",
        "an image of its own instead of host-python; noatime",
        _always,
    ),
    Channel(
        "core_counters",
        "The kernel's page of clocks (vvar), which each process can read, counts the ticks in which the host "
        "was not idle, and AMD processors with rdpru the cycles in which a run's core was busy: both tell "
        "how much runs before it have computed, and no filter sees either.",
        "998 counts in two seconds of computing and 796 to 810 in two of sleep; rdpru not measured",
        "nohz=off for the kernel; and a processor without rdpru, or a virtual machine that refuses it",
        _always,
    ),
    Channel(
        "commit_limit",
        "Under vm.overcommit_memory=2 the host refuses to map more than it has, over all processes: a run "
        "can try how much is left, beside a run that maps or does not. Most hosts do not count it.",
        NOT_MEASURED,
        "isolation exclusive; vm.overcommit_memory 0 or 1",
        _shared,
    ),
    Channel(
        "contention",
        "Runs at the same time share caches, memory bandwidth and cores, and can time each other.",
        NOT_MEASURED,
        "isolation exclusive; with shared, multithreading off and a core for each slot narrow it",
        _shared,
    ),
    Channel(
        "shared_waits",
        "Two runs at the same time map the same pages of the image's files, and a wait on such a page (a "
        "shared futex) ends when the other run says so. Threads wait by the same call, and a filter does "
        "not see for which page.",
        "one bit for each wait, in both directions",
        "isolation exclusive",
        _shared,
    ),
    Channel(
        "file_times",
        "On Linux 6.13 and later the times of all files follow one clock of the host, which a change of "
        "any file can move on within a tick: the last digits of the time of a new file tell what a run "
        "beside it changes.",
        "10 of 10 bytes in a trial, a few a second",
        "isolation exclusive",
        _shared,
    ),
    Channel(
        "rdseed",
        "The processor refuses random numbers when runs on other cores ask too often, and that can be "
        "counted. No filter sees it.",
        "16 of 16 bits in a trial",
        "isolation exclusive",
        _shared,
    ),
    Channel(
        "preemption",
        "getrusage counts how often a run had to wait for its core, and a run can read on which it is: "
        "both move with how busy the host is.",
        "7 of 8 bits in one trial, none in two others",
        "isolation exclusive; with shared, a core for each slot narrows it",
        _shared,
    ),
    Channel(
        "user_quotas",
        "A worker that is not root runs all its slots as one host user, whose kernel quotas they share.",
        NOT_MEASURED,
        "isolation exclusive, or a worker that is root",
        lambda where: where.is_shared and not where.as_root and not where.is_docker,
    ),
    Channel(
        "rehearsals",
        "What a rehearsal prints is shown unnoised. None is claimed while a job runs, nor within a minute "
        "after one was cancelled or given up; runs that outlive that minute are beside it.",
        NOT_MEASURED,
        "isolation exclusive, for a rehearsal on the same host; let no host of a worker stall",
        _shared,
    ),
    Channel(
        "pipe_count",
        "Inode numbers of pipes, sockets and files below /proc come from one counter of the host: a run "
        "beside, or a later one, reads how many were made.",
        "a hostile run moves the count by 80,000 to 235,000 within seconds, a quiet host by 10 to 1,400",
        "supervised and the strict table; it outlives a run, so exclusive does not close it",
        _counted_by_the_host,
    ),
    Channel(
        "mount_numbers",
        "The kernel numbers mounts, file systems and namespaces in sequences of the host. A run reads "
        "some of them, and can move some.",
        NOT_MEASURED,
        "supervised and the strict table; it outlives a run, so exclusive does not close it",
        _counted_by_the_host,
    ),
    Channel(
        "shared_pages",
        "/proc/self/smaps tells a run whether anybody else maps a page of the same file of the image now.",
        "8 of 8 bits in a trial",
        "isolation exclusive, or supervised and the strict table, where a run has no /proc",
        lambda where: where.is_shared and _counted_by_the_host(where),
    ),
    Channel(
        "standard_calls",
        "The standard table allows calls, such as locks of files, by which two runs at the same time can "
        "notice each other.",
        NOT_MEASURED,
        "images approved for the strict table, or isolation exclusive",
        lambda where: where.is_shared and where.is_standard,
    ),
    Channel(
        "pid_numbers",
        "Threads of the container engine's runtime take a process number or two inside a container, and a "
        "run sees how many. No run decides it.",
        NOT_MEASURED,
        "supervised",
        lambda where: where.is_docker,
    ),
)


def left_open(where: Surroundings) -> tuple[ChannelName, ...]:
    """The names of all channels that are open there, in the order of the table."""
    return tuple(channel.name for channel in CHANNELS if channel.is_open(where))


def ordered(names: Iterable[ChannelName]) -> tuple[ChannelName, ...]:
    """Each once, in the order of the table."""
    found = frozenset(names)
    return tuple(name for name in ALL_CHANNELS if name in found)


def premise(names: Iterable[ChannelName]) -> str:
    """What a guarantee rests on beside its proof, for people."""
    return (
        "What is promised holds as long as runs cannot signal to each other by means other than those listed "
        f"in the threat model: {', '.join(ordered(names)) or 'none'}."
    )


@cache  # each policy that is read asks, a dozen times for each job
def of_default_sandbox(isolation: Isolation, timing: TimingMode) -> tuple[ChannelName, ...]:
    """What a supervisor under the strict table leaves open, with an image in memory: accepted unnamed."""
    strict = SyscallTable.STRICT
    return ordered(
        name
        for backend, as_root in product((Backend.WARM, Backend.COLD), (False, True))
        for name in left_open(Surroundings(backend, strict, isolation, timing, as_root, in_memory=True))
    )


def beyond_default_of(
    backend: Backend, syscalls: SyscallTable, *, in_memory: bool = True
) -> tuple[ChannelName, ...]:
    """Those that this backend and table leave open and the default sandbox does not."""
    names = left_open(Surroundings(backend, syscalls, Isolation.SHARED, in_memory=in_memory))
    usual = of_default_sandbox(Isolation.SHARED, "padded")
    return tuple(name for name in names if name not in usual)


def beyond_default(isolation: Isolation) -> tuple[ChannelName, ...]:
    """Those that some backend, table or image leaves open and the default sandbox does not."""
    usual, backends = of_default_sandbox(isolation, "padded"), product(Backend, SyscallTable, (False, True))
    wheres = [Surroundings(backend, table, isolation, "padded", root) for backend, table, root in backends]
    return ordered(name for where in wheres for name in left_open(where) if name not in usual)
