"""A scrambled folder with its leak report, for those who offer it to a platform or sign for it there."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from companions.scramble.agreement import RECORD
from companions.scramble.verify import verify
from companions.siesta.tree import read_tree
from domain.scrambled import MOST_PARTS, PART_BYTES, Offer
from domain.scrambled_archive import MOST_FILES, MOST_UNPACKED, pack
from dpgate.errors import DpgateError


@dataclass(frozen=True)
class Folder:
    """What is offered, the report that belongs to it, and its archive in parts."""

    offer: Offer
    report: Path
    parts: tuple[bytes, ...]


def read_folder(folder: Path, report: Path | None, *, today: date) -> Folder:
    """Raises DpgateError for a folder that may not be used or is not as it was made, for a report that is not
    there or belongs to another folder, and for what is too large."""
    found = verify(folder, today=today)
    if found.is_expired:
        raise DpgateError(f"{folder} expired on {found.record.agreement.expires}; delete it")
    if found.problems:
        raise DpgateError(f"{folder} is not as it was scrambled: {found.problems[0]}; scramble it again")
    if found.record.leak_report is None:
        raise DpgateError(f"{folder} names no leak report; scramble it again with this version")
    place = report or folder.absolute().parent / f"{folder.name}.leaks.md"
    if not place.is_file():
        raise DpgateError(f"the leak report is missing: {place} is not there; name it with --report")
    if hashlib.sha256(place.read_bytes()).hexdigest() != found.record.leak_report:
        raise DpgateError(f"{place} is the leak report of another folder, or was changed; name the right one")
    parts = _parts(folder)
    digest = hashlib.sha256((folder / RECORD).read_bytes()).hexdigest()
    return Folder(Offer.of(found.record, digest, parts=len(parts)), place, parts)


def _parts(folder: Path) -> tuple[bytes, ...]:
    files = read_tree(folder).files
    size = sum(file.stat().st_size for file in files.values())
    if len(files) > MOST_FILES or size > MOST_UNPACKED:
        raise DpgateError(
            f"{folder} has {len(files)} files of {size >> 20} MiB; the platform takes at most {MOST_FILES} "
            f"of {MOST_UNPACKED >> 20} MiB together; leave some out with --exclude"
        )
    content = pack({path: file.read_bytes() for path, file in files.items()})
    parts = tuple(content[place : place + PART_BYTES] for place in range(0, len(content), PART_BYTES))
    if len(parts) > MOST_PARTS:
        raise DpgateError(
            f"{folder} takes {len(parts)} MiB as an archive; the platform takes at most {MOST_PARTS} MiB"
        )
    return parts
