"""The archive of a scrambled folder: how it is made, and whether it is the folder that people signed for.

Whoever sends it is somebody's rights holder and may send anything: it is read within limits, and nothing is
written from here.
"""

from __future__ import annotations

import hashlib
import io
import json
import stat
import zipfile
import zlib
from collections.abc import Mapping

from domain.errors import InvalidRequest
from domain.model import parse
from domain.scrambled import NOTE, RECORD, Offer, Record

MOST_FILES = 20_000
MOST_UNPACKED = 512 << 20
MOST_RECORD = 16 << 20
_CHUNK = 1 << 20
_AGAIN = "Attach the folder as it was scrambled, or scramble it again."


def pack(files: Mapping[str, bytes]) -> bytes:
    """One archive of all files of a folder, by path. Equal folders give equal bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), text, zipfile.ZIP_DEFLATED)
    return content.getvalue()


def check_archive(content: bytes, offer: Offer) -> None:
    """Raises InvalidRequest unless it holds the record that was signed, all files that this one lists, and
    nothing else."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            _check_entries(entries)
            _check_files(archive, _record(archive, entries, offer))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError):
        raise _wrong("cannot be read.") from None


def _check_entries(entries: list[zipfile.ZipInfo]) -> None:
    names = [entry.filename for entry in entries]
    if len(names) > MOST_FILES:
        raise _wrong(f"has more than {MOST_FILES} files.")
    if sum(entry.file_size for entry in entries) > MOST_UNPACKED:
        raise _wrong(f"is larger than {MOST_UNPACKED >> 20} MiB unpacked.")
    if len(set(names)) != len(names):
        raise _wrong("holds two files of one name.")
    if any(stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG) for entry in entries):
        raise _wrong("holds something that is no plain file.")


def _record(archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo], offer: Offer) -> Record:
    entry = next((entry for entry in entries if entry.filename == RECORD), None)
    if entry is None or entry.file_size > MOST_RECORD:
        raise _wrong(f"is no scrambled folder: it has no {RECORD}.")
    text = _read(archive, entry)
    if hashlib.sha256(text).hexdigest() != offer.record:
        raise _wrong("is not the folder that was signed for.")
    try:
        record = parse(Record, json.loads(text), within=RECORD)
    except (ValueError, RecursionError):
        raise _wrong(f"is no scrambled folder: its {RECORD} is not JSON.") from None
    # the people who signed read the offer: it must say what the record says
    if Offer.of(record, offer.record, parts=offer.parts) != offer:
        raise _wrong("says something else about itself than was offered.")
    return record


def _check_files(archive: zipfile.ZipFile, record: Record) -> None:
    listed = {one.path: one.sha256 for one in record.files}
    there = {entry.filename: entry for entry in archive.infolist() if entry.filename != RECORD}
    if set(listed) != set(there) or NOTE not in listed:
        raise _wrong("lacks files that its record lists, or has others.")
    for path, entry in there.items():
        digest, size = hashlib.sha256(), 0
        with archive.open(entry) as file:
            while part := file.read(_CHUNK):
                digest.update(part)
                size += len(part)
                if size > entry.file_size:
                    raise _wrong("cannot be read.")
        if digest.hexdigest() != listed[path]:
            raise _wrong("has a file that is not as it was handed over.")


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    with archive.open(entry) as file:
        return file.read(MOST_RECORD)


def _wrong(problem: str) -> InvalidRequest:
    """No name of a file stands in it: names may have been made from names of people."""
    return InvalidRequest("archive", problem, _AGAIN)
