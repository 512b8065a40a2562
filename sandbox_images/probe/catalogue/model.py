"""One line of the table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType


class Mode(Enum):
    """How often an attack is run, and beside what. The role is the first number of its block."""

    SINGLE = "single"
    ROLES = "roles"  # on role 0, then on role 1
    SEQUENCE = "sequence"  # three blocks, one after the other on one slot
    PAIR = "pair"  # a receiver (role 0) alone, then beside a sender (role 1) on another slot


class Expect(Enum):
    """What the judge wants to see."""

    BLOCKED = "blocked"  # value 0
    BOUNDED = "bounded"  # ends in time, value not 1, and the next run is well
    REJECTED = "rejected"  # no number is taken from its output
    SAME_VALUE = "same value"  # whatever went before or runs beside it
    NOT_VISIBLE = "not visible"  # beyond the worker, on original data
    SAME_TIME = "same time"


class Control(Enum):
    """What the attack must succeed against: the control of the experiment."""

    PROCESS = "a plain process for each block"
    SERVER = "one process that runs block after block"
    COLLECTOR = "a collector that takes whatever lies in the output folder"


@dataclass(frozen=True)
class Probe:
    name: str
    category: str
    script: str  # the file of attacks/ that holds a function of this name
    tries: str
    mode: Mode = Mode.SINGLE
    expect: Expect = Expect.BLOCKED
    quick: bool = False  # part of `dpgate doctor`
    waits: bool = False  # ends by the wall clock only, so it gets little
    nested: bool = False  # its declared output lies in a folder of /out
    kernel: bool = False  # attacks something that a kernel may be built without
    control: Control = Control.PROCESS
    residual: str = ""  # not closed by any backend, and why that is known to be left
    # Not closed by this backend: `warm`, `cold`, `docker`, or `shared user` where the worker
    # is no root.
    residual_on: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def excuse(self, conditions: frozenset[str]) -> str:
        """Why the attack may work under these conditions; empty: it may not."""
        here = [reason for where, reason in self.residual_on.items() if where in conditions]
        return self.residual or "; ".join(here)
