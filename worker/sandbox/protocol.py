"""What every sandbox backend offers: open a slot for one pipeline, run it on blocks one by one, close it.

Blocks and outputs are bytes by path, the image is a name and a digest. Where a block is a worker.view.View, a
backend need not copy what it holds. A backend may start a process per block, keep a supervisor per slot, or
ask a container engine; the caller cannot tell.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Protocol, Self

KIB, MIB = 1024, 1024 * 1024
NOTHING: Mapping[str, bytes] = MappingProxyType({})


class SandboxUnavailable(Exception):
    """The platform cannot run pipelines. Its text is for the operator; a pipeline's failure is never this."""


class SlotCancelled(Exception):
    """Somebody called `cancel`: the run is over, nothing of it is left, and there is no result."""


@dataclass(frozen=True)
class Limits:
    """Ceilings of one run. Whatever exceeds one is a failed run, no matter which."""

    wall_s: float  # all levels together
    cpu_s: int  # of each process
    memory_bytes: int  # resident, all processes together; the tmpfs sizes below come on top
    processes: int = 64  # threads count
    tmp_bytes: int = 64 * MIB  # /tmp, and again as much for /dev/shm
    output_bytes: int = 16 * MIB  # /out, collected or not
    file_bytes: int = 64 * KIB  # each collected file
    inodes: int = 4096  # in each writable mount
    open_files: int = 256  # of each process


class Audience(Enum):
    """Whose data the run sees, and so who may hear how it went."""

    ORIGINAL = "original"  # nobody: standard output is discarded and no detail exists
    TWIN = "twin"  # the researcher: tail of standard output and error, exit code, duration


class Syscalls(Enum):
    """Which table of sandbox_images/seccomp a run is held to. The operator chooses it per image."""

    STRICT = "strict"
    STANDARD = "standard"  # wide enough for R, OpenMP, Java and asyncio; opens the channels it names


class Image(Protocol):
    """A root file system by name and digest. What else it holds is between it and its backend."""

    @property
    def name(self) -> str: ...

    @property
    def digest(self) -> str: ...


@dataclass(frozen=True)
class SlotOrder:
    """One pipeline, ready to be run on many blocks."""

    image: Image
    code: Mapping[str, bytes]  # by path relative to /pipeline
    command: tuple[str, ...]  # its places filled in, or /in, /out and the level appended
    levels: tuple[str, ...]  # run in this order on the same /out
    outputs: tuple[str, ...]  # paths relative to /out; nothing else leaves; () with `tree`
    limits: Limits
    audience: Audience
    environment: Mapping[str, str] = field(default_factory=dict)  # the pipeline's own, checked long before
    syscalls: Syscalls = Syscalls.STRICT
    # Libraries to import before the runs, where the image is the operator's and the command a Python script:
    # then a run is a fork. None: every run starts the command anew.
    warm: tuple[str, ...] | None = None
    # Instead of named outputs: every plain file below /out, together at most `output_bytes` long and at most
    # `inodes` many. Empty folders and symbolic links are dropped; anything else (a pipe) is a failed run.
    tree: bool = False
    # Folders of this host below which parts of views may lie: only those can be bound where they are, all
    # others are copied, once per slot. For data that the sandbox's user may list, such as a twin.
    roots: tuple[Path, ...] = ()
    # Where runs keep to turns: so many places, one after the other, that a run which is slow to die has until
    # it is its place's turn again. A backend without places of its own has one.
    seats: int = 1


class Cause(Enum):
    """How a run on a twin ended."""

    COMPLETED = "completed"
    EXIT = "a level ended with a non-zero exit code"
    SIGNAL = "a level was ended by a signal"
    START = "the command could not be started"
    OUTPUT = "a declared output is missing, too large or not a plain file"
    WALL = "the wall clock limit was reached"
    MEMORY = "the memory limit was reached"
    INODES = "too many files were created"
    FULL = "what lies in the output folder at the start is more than it may hold"
    INPUT = "the input is larger than a run may be given"
    BROKEN = "the run broke its sandbox's protocol"


@dataclass(frozen=True)
class RunDetail:
    """What a researcher is told of a run on a twin."""

    cause: Cause
    exit_code: int | None  # of the level that failed; negative: ended by that signal
    level: str | None  # the last level that was started, where known
    duration_s: float
    tail: str  # of standard output and error, as they came


@dataclass(frozen=True)
class RunResult:
    """Raw bytes of a hostile process, or nothing."""

    outputs: Mapping[str, bytes] | None = field(repr=False)  # None: failed, for whatever reason
    detail: RunDetail | None = None  # only for Audience.TWIN


class Slot(Protocol):
    """One pipeline's place to run. Used by one thread, for one run at a time."""

    def take_turn(self, turn: int, *, on_time: bool = True) -> bool:
        """Before the run of this turn, where runs keep to turns: whether it can be made. It cannot where it
        is not `on_time`, or where the run that had its place before has not ended.
        """
        ...

    def run(
        self,
        block: Mapping[str, bytes],
        *,
        before: Mapping[str, bytes] = NOTHING,
        within_s: float | None = None,
    ) -> RunResult:
        """A result for whatever the pipeline does; SandboxUnavailable for the platform's own failure.

        `before` lies in /out, writable, when the run starts, and counts as output. A run that has not ended
        `within_s` seconds from now has failed, and is left to its dying where the backend can.
        """
        ...

    def cancel(self) -> None:
        """From any thread: kill what runs. `run` raises SlotCancelled, now and whenever called again."""
        ...

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Sandbox(Protocol):
    """A way to isolate runs. Slots with different numbers may run at the same time."""

    def open_slot(self, order: SlotOrder, *, slot: int) -> Slot: ...

    def reap(self) -> int:
        """Remove what workers that no longer live have left; how many they were."""
        ...
