"""One table of a folder, profiled: in the sandbox, or for whoever trusts the files in this process."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from twins.profile import FoundTable, NoTable
from twins.profile.document import ProfiledTable
from worker.pii_model import model_bytes
from worker.profile.confined import LONGEST_S, profile_file, profile_here
from worker.profile.frames import write_frames
from worker.profile.places import Source

Progress = Callable[[int, int], None]
"""Called with how many bytes of how many were read."""


def _silent(_position: int, _size: int) -> None:
    """Nobody looks."""


def profile_source(
    source: Source,
    *,
    person: str | None = None,
    is_written: bool = True,
    progress: Progress = _silent,
    wall_s: float = LONGEST_S,
) -> ProfiledTable:
    """What was found, or why the table could not be read. Raises SandboxUnavailable.

    With `is_written` false it also holds values of columns that may identify people, though not directly: it
    may be looked at, and written nowhere.
    """

    def confined(descriptor: int) -> FoundTable:
        size = os.fstat(descriptor).st_size
        return profile_file(
            descriptor,
            source.reads_as,
            model=model_bytes(),
            is_many=source.is_many,
            person=person,
            is_written=is_written,
            progress=lambda position: progress(position, size),
            wall_s=wall_s,
        )

    return _profiled(source, confined)


def profile_source_here(
    source: Source, *, person: str | None = None, is_written: bool = True
) -> ProfiledTable:
    """The same without a sandbox."""
    return _profiled(
        source,
        lambda descriptor: profile_here(
            descriptor,
            source.reads_as,
            model=model_bytes(),
            is_many=source.is_many,
            person=person,
            is_written=is_written,
        ),
    )


def left_out(source: Source, sentence: str) -> ProfiledTable:
    """A table that is not profiled, and why."""
    return ProfiledTable(**_about(source), refused=sentence[:4000])


def _profiled(source: Source, read: Callable[[int], FoundTable]) -> ProfiledTable:
    try:
        with _opened(source) as descriptor:
            found = read(descriptor)
    except NoTable as error:
        return left_out(source, str(error))
    return ProfiledTable(**_about(source), found=found)


def _about(source: Source) -> dict[str, Any]:
    return {
        "name": source.name, "files": len(source.paths), "bytes": source.bytes, "is_many": source.is_many,
    }  # fmt: skip


@contextmanager
def _opened(source: Source) -> Iterator[int]:
    """The one file; or a nameless one with all of them in frames."""
    if not source.is_many:
        descriptor = os.open(source.paths[0], os.O_RDONLY | os.O_CLOEXEC)
        try:
            yield descriptor
        finally:
            os.close(descriptor)
        return
    with tempfile.TemporaryFile() as joined:
        write_frames(source.paths, joined)
        yield joined.fileno()
