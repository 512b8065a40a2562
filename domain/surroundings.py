"""Where runs are made: what decides which channels between them are open."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from domain.image import SyscallTable

# Whether runs of a data set's jobs are alone on their host, and what that promises. Said here and nowhere
# else: forms, pages, commands, certificates and documentation repeat it.


class Isolation(StrEnum):
    """What else runs on a host while a run of the data set's job does."""

    EXCLUSIVE = "exclusive"
    SHARED = "shared"

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]


_SENTENCES = {
    Isolation.EXCLUSIVE: (
        "While a run goes on, no worker in touch with the platform makes another run of any job, or a "
        "rehearsal, on its host, so none is beside it to signal to. A job counts on one run at a time: with "
        "several slots it takes as many times as long."
    ),
    Isolation.SHARED: (
        "Runs go on beside each other, one in each slot, on cores of their own where the host has enough. "
        "It is quicker, and runs at the same time can signal to each other by what they share."
    ),
}


TimingMode = Literal["padded", "coarse"]


class Backend(StrEnum):
    """How a run begins: forked by a supervisor, with or without the libraries loaded, or as a container."""

    WARM = "supervised, warm"
    COLD = "supervised, cold"
    DOCKER = "docker"


@dataclass(frozen=True)
class Surroundings:
    """Where a run is made, as far as it decides which channels are open."""

    backend: Backend
    syscalls: SyscallTable
    isolation: Isolation
    timing: TimingMode = "padded"
    as_root: bool = False  # then each slot has a host user of its own
    in_memory: bool = False  # a copy of the image, of which no page is ever fetched

    @property
    def is_shared(self) -> bool:
        return self.isolation is Isolation.SHARED

    @property
    def is_docker(self) -> bool:
        return self.backend is Backend.DOCKER

    @property
    def is_standard(self) -> bool:
        return self.syscalls is SyscallTable.STANDARD
