"""Files that a platform sends, written below one folder and nowhere else: it is not trusted here."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from dpgate.errors import DpgateError

MAX_BYTES = 1 << 30
MAX_ENTRIES = 100_000
_ODD = "the twin's archive cannot be read; ask the operator whether the address is right"


def unpack(content: bytes, folder: Path) -> list[str]:
    """Unpack a zip archive; returns the paths written. Every entry is checked before the first is written."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            _check_entries(entries)
            places = places_below(folder, [entry.filename for entry in entries])
            try:
                for entry, place in zip(entries, places, strict=True):
                    _write(place, _read(archive, entry))
            except OSError:
                _remove(places, folder.resolve())
                raise
            return [entry.filename for entry in entries]
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError):
        raise DpgateError(_ODD) from None


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Write a release's files below `folder`."""
    for place, content in zip(places_below(folder, files), files.values(), strict=True):
        _write(place, content)


def places_below(folder: Path, names: Iterable[str]) -> list[Path]:
    """Where these names lie below `folder`. Raises DpgateError for a name that leads anywhere else."""
    root = folder.resolve()
    places = []
    for name in names:
        parts = name.split("/")
        if not name or name.startswith("/") or "\\" in name or "\0" in name or {"", ".", ".."} & set(parts):
            raise DpgateError(
                f"the platform sent a file {name!r}, a path outside its folder; nothing was written"
            )
        place = root.joinpath(*parts)
        # a link that lies in the folder already must not lead a file out of it
        if not place.resolve().is_relative_to(root):
            raise DpgateError(f"{place} leads outside {folder}; name a new folder")
        places.append(place)
    taken = set(places)
    if len(taken) != len(places) or any(parent in taken for place in places for parent in place.parents):
        raise DpgateError("the platform sent two files in one place; nothing was written")
    return places


def _check_entries(entries: list[zipfile.ZipInfo]) -> None:
    if len(entries) > MAX_ENTRIES:
        raise DpgateError(f"the twin has more than {MAX_ENTRIES} files; nothing was written")
    if sum(entry.file_size for entry in entries) > MAX_BYTES:
        raise DpgateError("the twin is larger than 1 GiB unpacked; nothing was written")
    for entry in entries:
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if kind not in (0, stat.S_IFREG) or entry.is_dir():
            raise DpgateError(
                f"the twin's archive holds {entry.filename!r}, which is not a plain file; nothing was written"
            )


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    with archive.open(entry) as file:
        return file.read(entry.file_size)


def _write(place: Path, content: bytes) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        place.write_bytes(content)
    except OSError as error:  # of a full disk it names no place
        raise OSError(error.errno, error.strerror, str(place)) from None


def _remove(places: Iterable[Path], root: Path) -> None:
    """What was written of an archive for whose rest there was no room: the same command may be run again."""
    for place in places:
        place.unlink(missing_ok=True)
        for above in place.parents:
            if not above.is_relative_to(root):
                break
            with suppress(OSError):  # something else lies in it
                above.rmdir()
