"""Files that appear whole or not at all, whatever ends the process."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

PARTIAL = ".partial"
_BLOCK_BYTES = 2**20


@contextmanager
def new_array(
    path: Path, shape: tuple[int, ...], *, by_columns: bool = False
) -> Iterator[np.ndarray[Any, Any]]:
    """A mapped array of 64-bit floats that becomes the .npy file `path` once the block ends well."""
    partial = path.with_name(path.name + PARTIAL)
    array = np.lib.format.open_memmap(
        partial, mode="w+", dtype=np.float64, shape=shape, fortran_order=by_columns
    )
    try:
        yield array
        array.flush()
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    _put_in_place(partial, path)


def write_json(path: Path, content: dict[str, Any]) -> None:
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> None:
    partial = path.with_name(path.name + PARTIAL)
    partial.write_text(text, encoding="utf-8")
    _put_in_place(partial, path)


def digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    sha256 = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            sha256.update(block)
    return sha256.hexdigest()


def _put_in_place(partial: Path, path: Path) -> None:
    """On disk before it has its name, so that a file of that name is complete even after a power cut."""
    _sync(partial)
    partial.replace(path)
    _sync(path.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
