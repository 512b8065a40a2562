"""What somebody calls their data, as a source."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dpgate.delivery.archive import SUFFIXES, ArchiveSource
from dpgate.delivery.folder import FolderSource
from dpgate.delivery.source import Source
from dpgate.errors import DpgateError


def open_source(named: str, *, excludes: Callable[[str], bool]) -> Source:
    """A folder, a tar archive or an address, listed; in a folder nothing is looked at that `excludes` says.

    Raises DpgateError for anything else.
    """
    if "://" in named:
        from dpgate.delivery.remote import RemoteSource  # loads slowly

        return RemoteSource(named)
    path = Path(named)
    if path.is_dir():
        return FolderSource(path, excludes)
    if path.is_file() and path.name.endswith(SUFFIXES):
        return ArchiveSource(path)
    if path.is_file():
        raise DpgateError(f"{path} is no archive that is read here; take one of {', '.join(SUFFIXES)}")
    raise DpgateError(f"there is no folder or archive {path}")
