"""The copy of a source in the worker zone: file by file, each with its checksum, resumable."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from dpgate.delivery.source import Rooted, SourceFile, words_for
from dpgate.errors import DpgateError
from formats.checksums import MANIFEST, manifest
from store.full_disk import names_full_disk
from worker.intake.delivery import JOURNAL

Progress = Callable[[int, int], None]
_PIECE = 2**20


def delivery_for(deliveries: Path, *, source: str, dataset: str, resumed: str | None = None) -> Path:
    """The folder to copy to: the one named, an interrupted one of this source and data set, or a new one.

    Only its owner can read it. Raises DpgateError where there is no deliveries folder, or no such delivery.
    """
    if not deliveries.is_dir():
        raise DpgateError(
            f"there is no deliveries folder {deliveries}; run this where the worker zone is, "
            "or name it with --deliveries"
        )
    if resumed is not None:
        if not _is_name(resumed) or not (deliveries / resumed).is_dir():
            raise DpgateError(f"there is no delivery {resumed} in {deliveries}; leave --resume out")
        return deliveries / resumed
    found = find_unfinished(deliveries, source=source, dataset=dataset)
    if found is not None:
        return found
    folder = deliveries / str(uuid.uuid4())
    folder.mkdir(mode=0o700)
    return folder


def copy(rooted: Rooted, folder: Path, *, dataset: str, progress: Progress) -> None:
    """All files of the source and a list of their checksums, without those that an earlier call finished.

    `progress` is told bytes of bytes. Raises DpgateError for a file that does not fit the source's own list
    of checksums, and for a disk that is too small; then, as after an interruption, the same call goes on.
    """
    files = rooted.files
    total = sum(file.size for file in files.values())
    with (
        names_full_disk(folder.parent),
        opened(folder, source=rooted.source.identity, dataset=dataset) as journal,
    ):
        finished = {path for path, file in files.items() if _is_finished(folder, path, file, journal)}
        before = sum(files[path].size for path in finished)
        _check_room(folder, total - before)
        _remove_strangers(folder, journal, set(files))
        progress(before, total)
        wanted = {file.path: path for path, file in files.items() if path not in finished}
        for file, content in rooted.source.opened([files[path] for path in wanted.values()]):
            path = wanted[file.path]
            with words_for(file.path, OSError, EOFError):
                done = _copy(content, folder / path, file, partial(_tell, progress, before, total))
            _check(path, done, rooted)
            journal.add(path, done)
            before += file.size
        _write(folder / MANIFEST, manifest({path: journal.done[path].sha256 for path in files}))


def finish(folder: Path) -> Path:
    """Take the journal away: what is there now is the delivery. Returns where it lies, for `unfinish`."""
    return (folder / JOURNAL).rename(folder.with_name(f"{folder.name}.journal"))


def unfinish(folder: Path, journal: Path) -> None:
    """The delivery was not taken: the same command may go on with the copy."""
    journal.rename(folder / JOURNAL)


def _tell(progress: Progress, before: int, total: int, size: int) -> None:
    progress(before + size, total)


def _copy(content: BinaryIO, target: Path, file: SourceFile, progress: Callable[[int], None]) -> Done:
    digest, size = hashlib.sha256(), 0
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as copied:
        while piece := content.read(_PIECE):
            size += len(piece)
            if size > file.size:
                break
            copied.write(piece)
            digest.update(piece)
            progress(size)
    if size != file.size:
        raise DpgateError(f"{file.path} changed while it was copied; run the same command again")
    return Done(file.size, file.stamp, digest.hexdigest())


def _is_finished(folder: Path, path: str, file: SourceFile, journal: Journal) -> bool:
    done = journal.done.get(path)
    if done is None or not done.is_of(file) or not (folder / path).is_file():
        return False
    with (folder / path).open("rb") as copied:
        return hashlib.file_digest(copied, "sha256").hexdigest() == done.sha256


def _check(path: str, done: Done, rooted: Rooted) -> None:
    expected = rooted.expected.get(path)
    if expected is not None and expected != done.sha256:
        raise DpgateError(f"{path} is not the file that the list of checksums names; get the data again")


def _check_room(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise DpgateError(f"{needed} bytes are still to be copied, and {free} are free in {folder.parent}")


def _remove_strangers(folder: Path, journal: Journal, wanted: set[str]) -> None:
    """Files that the source had when an earlier call copied them, and has no more."""
    for path in set(journal.done) - wanted:
        (folder / path).unlink(missing_ok=True)


def _write(path: Path, content: bytes) -> None:
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)


def _is_name(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False


# What of a delivery has been copied: a line for each finished file, beside them, until all are there.


@dataclass(frozen=True)
class Done:
    """A copied file: size and stamp of the original as it was then, and the SHA-256 of the copy, in hex."""

    size: int
    stamp: str
    sha256: str

    def is_of(self, file: SourceFile) -> bool:
        return (self.size, self.stamp) == (file.size, file.stamp)


@dataclass
class Journal:
    """One unfinished delivery, held by this process alone."""

    folder: Path
    done: dict[str, Done] = field(repr=False)
    _file: BinaryIO = field(repr=False)

    def add(self, path: str, done: Done) -> None:
        entry = {"path": path, "size": done.size, "stamp": done.stamp, "sha256": done.sha256}
        self._file.write(json.dumps(entry).encode() + b"\n")
        self._file.flush()
        self.done[path] = done


@contextmanager
def opened(folder: Path, *, source: str, dataset: str) -> Iterator[Journal]:
    """The journal in this folder, begun if there is none. Raises DpgateError while somebody else has it, and
    where it is of another source."""
    descriptor = os.open(folder / JOURNAL, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "rb+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DpgateError("this delivery is being copied by another command; wait for it") from None
        header = {"source": source, "dataset": dataset}
        lines = file.read().split(b"\n")
        if lines == [b""]:
            file.write(json.dumps(header).encode() + b"\n")
            file.flush()
        elif _read(lines[0]) != header:
            raise DpgateError(f"the delivery {folder.name} is of other data; name another one")
        else:
            # the last line may be cut: what follows the last line end is overwritten
            file.truncate(sum(len(line) + 1 for line in lines[:-1]))
            file.seek(0, os.SEEK_END)
        yield Journal(folder, dict(_entries(lines[1:-1])), file)


def find_unfinished(deliveries: Path, *, source: str, dataset: str) -> Path | None:
    """The newest interrupted delivery of this source for this data set."""
    found = sorted(deliveries.glob(f"*/{JOURNAL}"), key=lambda path: path.stat().st_mtime, reverse=True)
    wanted = {"source": source, "dataset": dataset}
    return next((path.parent for path in found if _first(path) == wanted), None)


def _first(path: Path) -> Any:
    with path.open("rb") as file:
        return _read(file.readline(2**20))


def _entries(lines: list[bytes]) -> Iterator[tuple[str, Done]]:
    for line in lines:
        entry = _read(line)
        try:
            yield str(entry["path"]), Done(int(entry["size"]), str(entry["stamp"]), str(entry["sha256"]))
        except (TypeError, KeyError, ValueError):
            continue  # a line that was cut: its file is copied again


def _read(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None
