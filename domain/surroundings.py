"""Where runs are made: what decides which channels between them are open."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from domain.image import SyscallTable
from domain.isolation import Isolation

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
