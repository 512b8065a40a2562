"""A folder that appears whole or not at all, and files in it that share their bytes with the original's."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dpgate.errors import DpgateError


@contextmanager
def new_folder(out: Path, *, apart_from: Sequence[Path] = ()) -> Iterator[Path]:
    """A folder beside `out`, closed to others, that becomes `out` once the block ends well.

    Raises DpgateError when `out` is there and not empty, or when it lies inside one of the folders that
    are read, or they in it.
    """
    out = out.absolute()
    check_apart(out, apart_from)
    if out.is_symlink() or (out.exists() and (not out.is_dir() or any(out.iterdir()))):
        raise DpgateError(f"{out} is there already; name a folder that is absent or empty")
    out.parent.mkdir(parents=True, exist_ok=True)
    workplace = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    try:
        made = workplace / out.name
        made.mkdir()
        yield made
        made.replace(out)
    finally:
        shutil.rmtree(workplace)


def share(source: Path, target: Path, *, copy: bool = False) -> None:
    """`target` with the content of `source`: a hard link, or a copy if asked for or none can be made."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if not copy:
        try:
            os.link(source, target)
        except OSError:
            copy = True  # another file system, or one without hard links, or a file of somebody else
    if copy:
        shutil.copy(source, target)


def write_like(source: Path, target: Path, content: bytes) -> None:
    """A rewritten table, as readable for others as the original is."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    shutil.copymode(source, target)


def write_secret(path: Path, text: str) -> None:
    """A new file that only its owner can read. Raises DpgateError if it is there already."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise DpgateError(f"{path} is there already; remove it, or name another file") from None
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


def check_apart(out: Path, folders: Sequence[Path]) -> None:
    """Raises DpgateError when what is written lies inside something that is read, or the other way round."""
    there = out.resolve()
    for folder in (folder.resolve() for folder in folders):
        if there.is_relative_to(folder) or folder.is_relative_to(there):
            raise DpgateError(f"{out} and {folder} lie in each other; write the result elsewhere")
