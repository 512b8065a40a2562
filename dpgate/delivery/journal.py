"""What of a delivery has been copied: a line for each finished file, beside them, until all are there."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from dpgate.delivery.source import SourceFile
from dpgate.errors import DpgateError
from worker.intake.delivery import JOURNAL


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
