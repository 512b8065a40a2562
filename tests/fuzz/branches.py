"""Which branches a call takes in the readers' own files: pairs of lines, one after the other in a frame."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
Branch = tuple[str, int, int]
"""File, the line before, the line after; -1: the frame was entered."""
_WATCHED = (
    "domain/shape/",
    "formats/hdf5/",
    "formats/nifti.py",
    "formats/byte_cursor.py",
    "domain/whitelist.py",
    "formats/delimited.py",
    "formats/dialect.py",
    "worker/intake/",
    "worker/scan/parquet.py",
)


class Branches:
    """Reports what each call took that no call before it did."""

    def __init__(self) -> None:
        self.known: set[Branch] = set()
        self._names: dict[CodeType, str | None] = {}
        self._found: set[Branch] = set()

    def of(self, call: Callable[[], object]) -> tuple[set[Branch], object]:
        """The branches of a call, and what it returned. Its exceptions pass through."""
        self._found = found = set()
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            result = call()
        finally:
            sys.settrace(before)
        return found, result

    def new_of(self, found: set[Branch]) -> set[Branch]:
        new = found - self.known
        self.known |= new
        return new

    def _enter(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        code = frame.f_code
        name = self._names.get(code, "")
        if name == "":
            name = self._names[code] = _watched(code.co_filename)
        if name is None:
            return None
        found, last = self._found, -1

        def step(inner: FrameType, event: str, _argument: Any) -> Any:
            nonlocal last
            if event == "line":
                line = inner.f_lineno
                found.add((name, last, line))
                last = line
            return step

        return step


def _watched(filename: str) -> str | None:
    try:
        name = Path(filename).relative_to(ROOT).as_posix()
    except ValueError:
        return None
    return name if name.startswith(_WATCHED) else None
