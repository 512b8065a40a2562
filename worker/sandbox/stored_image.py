"""An imported image: a root file system in this worker zone's image store, read-only and verified."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class StoredImage:
    """What backends need to run pipelines in it."""

    name: str
    digest: str  # sha256:... of the image's configuration, or of the file for a format without one
    rootfs: Path  # every mount point of a run exists in it
    tree_digest: str  # over path, type, mode and content of everything below rootfs
    interpreter: str | None  # absolute path inside the image of a Python 3.11 or newer with ctypes
    environment: Mapping[str, str] = field(default_factory=dict)  # the image's own PATH, LANG and the like
