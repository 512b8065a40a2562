"""The volumes of a batch: memory file systems that the daemon makes with a keeper and unmakes after it.

Nobody needs a path on the daemon's host for them, and their size and number of files are limited. A volume is
used for one run, then never again: the inode numbers of a file system count up, so the next run could read
from its first file how many the last one made.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

_OWN_NAME = re.compile(r"dpgate-(?P<batch>[0-9a-f]{32})-(code|(in|out)-(0|[1-9]\d{0,2}))")
_PARTS_NAME = re.compile(r"dpgate-(?P<parts>[0-9a-f]{32})-parts")


@dataclass(frozen=True)
class Room:
    """Ceilings of one memory file system."""

    size: int  # bytes
    inodes: int
    user: int  # owner, and as a group
    programs: bool = False  # the pipeline's code may be; what a run writes or reads is none

    def options(self) -> str:
        """As mount(8) takes them."""
        return f"{'' if self.programs else 'noexec,'}nosuid,nodev,{self.limits()}"

    def limits(self) -> str:
        return f"size={self.size},nr_inodes={self.inodes},uid={self.user},gid={self.user},mode=0700"


@dataclass(frozen=True)
class Volume:
    """A named volume at its place in one container. `room`: it is to be made now."""

    name: str
    target: str
    read_only: bool
    room: Room | None = None

    def mount(self, labels: Mapping[str, str]) -> dict[str, Any]:
        """As `Mounts` of a create body takes it."""
        options: dict[str, Any] = {"NoCopy": True}  # else the daemon copies what the image has at the target
        if self.room is not None:
            driver = {"type": "tmpfs", "device": "tmpfs", "o": self.room.options()}
            options |= {"Labels": dict(labels), "DriverConfig": {"Name": "local", "Options": driver}}
        return {
            "Type": "volume",
            "Source": self.name,
            "Target": self.target,
            "ReadOnly": self.read_only,
            "VolumeOptions": options,
        }


def batch_of(name: str) -> str | None:
    """None: not a volume of ours."""
    found = _OWN_NAME.fullmatch(name)
    return found["batch"] if found else None


def parts_volume(parts: str) -> str:
    """The volume with the parts that inputs share. `parts`: 32 random hexadecimal digits."""
    return f"dpgate-{parts}-parts"


def parts_of(name: str) -> str | None:
    """None: not such a volume."""
    found = _PARTS_NAME.fullmatch(name)
    return found["parts"] if found else None


def keeper_volumes(batch: str, parts: str, runs: int, *, given: Room, out: Room) -> tuple[Volume, ...]:
    """The volumes of a batch, and the one that batches share. `batch`: 32 random hexadecimal digits."""
    code = replace(given, programs=True)
    volumes = [
        Volume(f"dpgate-{batch}-code", "/code", False, code),
        Volume(parts_volume(parts), "/parts", False, given),
    ]
    for run in range(runs):
        volumes.append(Volume(f"dpgate-{batch}-in-{run}", f"/runs/{run}/in", False, given))
        volumes.append(Volume(f"dpgate-{batch}-out-{run}", f"/runs/{run}/out", False, out))
    return tuple(volumes)


def runs_of(volumes: tuple[Volume, ...]) -> int:
    """How many runs a keeper with these volumes serves."""
    return (len(volumes) - 2) // 2


def payload_volumes(batch: str, run: int) -> tuple[Volume, ...]:
    """The same volumes, as a pipeline sees them."""
    return (
        Volume(f"dpgate-{batch}-code", "/pipeline", True),
        Volume(f"dpgate-{batch}-in-{run}", "/in", True),
        Volume(f"dpgate-{batch}-out-{run}", "/out", False),
    )
