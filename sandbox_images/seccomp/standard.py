"""STANDARD: STRICT, and what it lets through beyond. One table, with who needs each entry and what it opens.

Refused in STANDARD as in STRICT, though some runtime may ask: CPython 3.11, Node 20, OpenJDK 17 and libgomp
were tried and start, compute, lock files and start processes without them.
- inotify: only file watchers use it.
- sendmsg, recvmsg: they pass descriptors, and their addresses lie in memory, where a filter cannot look. So
  child_process.fork of Node and the forkserver of multiprocessing do not work; spawn and fork do.
- sysinfo: load, free memory and process count of the whole host are a live channel. glibc does not look at
  the refusal and reports an arbitrary amount of memory, so Java wants -Xmx and DuckDB its memory_limit.
- setsockopt, getpeername, pidfd_open, mbind and its kin, splice, execveat, System V, message queues: nobody
  above needs them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .model import Case, Group, Policy, Rule, Test, Verdict
from .policy import STRICT
from .strict_rules import DROPPABLE, HUGE_PAGES

_AF_UNIX = 1
_FILE_TYPE, _FIFO = 0xF000, 0x1000  # S_IFMT, S_IFIFO
# F_GETLK, SETLK, SETLKW, and F_OFD_GETLK, SETLK, SETLKW. Not leases: they send signals on others' opens.
_LOCK_COMMANDS = (5, 6, 7, 36, 37, 38)
_SEAL_COMMANDS = (1033, 1034)  # F_ADD_SEALS, F_GET_SEALS
# All but MFD_CLOEXEC, ALLOW_SEALING, NOEXEC_SEAL and EXEC; so no huge pages, which no limit counts.
_OTHER_MEMFD_FLAGS = 0xFFFFFFFF & ~0x1B


@dataclass(frozen=True)
class Addition:
    """Calls that STANDARD allows where one of `cases` holds; without cases, always.

    Where no case holds, STRICT decides. The cases' argument numbers are the same for all `calls`.
    """

    calls: tuple[str, ...]
    what: str
    needed_by: str
    channel: str
    cases: tuple[Case, ...] = ()


def _if(argument: int, test: Test, *values: int) -> tuple[Case, ...]:
    return (Case(argument, test, values, Verdict.ALLOW),)


ADDITIONS = (
    Addition(
        ("sched_setaffinity",),
        "choose the processors of one's threads",
        "OpenMP with OMP_PROC_BIND or OMP_PLACES, R's parallel::mcaffinity",
        "a run can move next to another run and measure how that slows it down; a cpuset per slot ends this",
    ),
    Addition(
        ("socketpair",),
        "connected pairs of AF_UNIX sockets, no other family",
        "asyncio's event loop, Node's child processes, Java's file channels, multiprocessing.Pipe",
        "socket buffers are memory that no resident size shows: about 200 KiB for each open descriptor",
        _if(0, Test.IN, _AF_UNIX),
    ),
    Addition(
        ("sendto",),
        "send on a pair: without an address, so to nobody but the other end",
        "asyncio's event loop",
        "none of its own; what it fills is counted at socketpair",
        _if(4, Test.NULL),
    ),
    Addition(
        ("recvfrom", "shutdown", "getsockname", "getsockopt"),
        "receive on a pair, close one direction, ask what a descriptor is",
        "asyncio's event loop, Node's child processes and standard streams",
        "none of their own: without socket, bind, connect and accept there are only pairs to use them on",
    ),
    Addition(
        ("flock",),
        "lock whole files",
        "HDF5 and with it h5py and netCDF, lock files of many programs",
        "two runs at the same time can signal through a lock on a file of their common image, even read-only",
    ),
    Addition(
        ("fcntl",),
        "lock ranges of files: POSIX and open-file-description locks",
        "SQLite, in whatever language, and Java's FileChannel.lock",
        "that of flock, by read locks: a write lock takes a file that the run may write, which is its own",
        _if(1, Test.IN, *_LOCK_COMMANDS),
    ),
    Addition(
        ("mknod",),
        "named pipes; no device and no socket",
        "mkfifo in shell scripts, R's fifo()",
        "none: it exists only in the run's own writable folders",
        _if(1, Test.MASKED, _FILE_TYPE, _FIFO),
    ),
    Addition(
        ("mknodat",),
        "named pipes; no device and no socket",
        "the same, on machines and in C libraries that know only this call",
        "none: it exists only in the run's own writable folders",
        _if(2, Test.MASKED, _FILE_TYPE, _FIFO),
    ),
    Addition(
        ("statfs", "fstatfs"),
        "size and free space of a file system",
        "multiprocessing.Value and Array, shutil.disk_usage, Java's FileStore, df",
        "free space and inode counts of the disk that holds the image move with whatever else the host does",
    ),
    Addition(
        ("mmap",),
        "anonymous memory shared between the processes of a run; no huge pages",
        "mmap.mmap(-1, n), multiprocessing.Value and Array, OpenMPI on one machine",
        "pages that were touched and then dropped from the mapping (MADV_DONTNEED) stay, "
        "and no resident size shows them: only a cgroup bounds this memory",
        _if(3, Test.MASKED, HUGE_PAGES | DROPPABLE, 0),
    ),
    Addition(
        ("memfd_create",),
        "files in memory without a name; no huge pages",
        ".NET, just-in-time compilers that map their code twice",
        "what no process maps is in no resident size: only a cgroup bounds this memory; programs can be "
        "executed from it, past the noexec of the writable folders",
        _if(1, Test.MASKED, _OTHER_MEMFD_FLAGS, 0),
    ),
    Addition(
        ("fcntl",),
        "seals of files in memory",
        "whoever uses memfd_create to hand memory to another process",
        "none",
        _if(1, Test.IN, *_SEAL_COMMANDS),
    ),
)


def widened(policy: Policy, additions: Sequence[Addition]) -> Policy:
    """`policy` with the additions' cases asked before its own, call by call."""
    cases, always = _by_call(additions)
    rules = [
        Rule(rule.call, tuple(cases.pop(rule.call, ())) + rule.cases, rule.otherwise)
        for rule in policy.rules
        if rule.call not in always
    ]
    verdicts = {call: group.verdict for group in policy.groups for call in group.calls}
    rules += [Rule(call, tuple(added), verdicts.get(call, policy.otherwise)) for call, added in cases.items()]
    moved = always | set(cases)
    groups = [Group(group.verdict, group.reason, group.calls - moved) for group in policy.groups]
    groups.append(Group(Verdict.ALLOW, "what STANDARD adds, whatever the arguments", frozenset(always)))
    return Policy(tuple(rules), tuple(group for group in groups if group.calls))


def _by_call(additions: Sequence[Addition]) -> tuple[dict[str, list[Case]], set[str]]:
    cases: dict[str, list[Case]] = {}
    always: set[str] = set()
    for addition in additions:
        for call in addition.calls:
            if addition.cases:
                cases.setdefault(call, []).extend(addition.cases)
            else:
                always.add(call)
    return {call: added for call, added in cases.items() if call not in always}, always


STANDARD = widened(STRICT, ADDITIONS)
