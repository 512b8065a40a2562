"""The root file systems that runs are made in, as backends need to know them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class HostImage:
    """This host's own: where each part lies on it, which is also where it appears in the sandbox."""

    name: str
    digest: str
    interpreter: Path
    binds: tuple[Path, ...]  # read-only, each at its own path
    links: tuple[tuple[str, Path], ...]  # (target, link)
    search_path: str  # PATH of the pipeline
    marks: tuple[tuple[str, int, int], ...] = ()  # times of change from before the digest was taken


@dataclass(frozen=True)
class StoredImage:
    """An imported one: in this worker zone's image store, read-only and verified."""

    name: str
    digest: str  # sha256:... of the image's configuration, or of the file for a format without one
    rootfs: Path  # every mount point of a run exists in it
    tree_digest: str  # over path, type, mode and content of everything below rootfs
    interpreter: str | None  # absolute path inside the image of a Python 3.11 or newer with ctypes
    environment: Mapping[str, str] = field(default_factory=dict)  # the image's own PATH, LANG and the like
    entry_point: tuple[str, ...] = ()  # what a Docker image starts, where its configuration says so
