"""Where data come from: a folder, a tar archive, or a place that fsspec can read; all as a list of files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol

from dpgate.errors import DpgateError
from formats.checksums import LISTS, MAX_LIST_BYTES, parse_list
from store.full_disk import is_full_for_file
from worker.intake.tree import can_be_staged

MAX_FILE_BYTES = 4 * 1024**3
MOST_FILES = 5_000_000
BAG = "bagit.txt"


@dataclass(frozen=True)
class SourceFile:
    """One file: its path, its plain size, and a stamp that changes when the file does."""

    path: str
    size: int
    stamp: str


class Source(Protocol):
    """`identity` tells one source from another; `files` are in the order in which they are best read."""

    @property
    def identity(self) -> str: ...
    @property
    def files(self) -> Sequence[SourceFile]: ...

    def opened(self, wanted: Sequence[SourceFile]) -> Iterator[tuple[SourceFile, BinaryIO]]:
        """Each of these files, open until the next is asked for."""
        ...


@dataclass(frozen=True)
class Rooted:
    """A source from one of its folders on, and the checksums that it came with."""

    source: Source
    root: str
    expected: Mapping[str, str] = field(repr=False)
    excludes: Callable[[str], bool]

    @property
    def files(self) -> Mapping[str, SourceFile]:
        """What is to be delivered, by path below the root; lists of checksums stay behind."""
        below = (file for file in self.source.files if file.path.startswith(self.root))
        found = {file.path[len(self.root) :]: file for file in below}
        return {path: file for path, file in found.items() if path not in LISTS and not self.excludes(path)}


def rooted(source: Source, unit_table: str, excludes: Callable[[str], bool]) -> Rooted:
    """The source from the folder on in which the privacy unit's table lies as declared: at its top, below its
    one folder, or in the `data` folder of a BagIt bag.

    Raises DpgateError for a list of checksums that cannot be read, or that lists what is not there.
    """
    paths = {file.path for file in source.files}
    tops = {path.split("/")[0] for path in paths}
    only = f"{next(iter(tops))}/" if len(tops) == 1 else ""
    bases = ["", *([only] if only else [])]
    for base in bases:
        bag = f"{base}data/" if f"{base}{BAG}" in paths else None
        root = base if bag is None else bag
        if root + unit_table in paths:
            return Rooted(source, root, _expected(source, base, root, excludes), excludes)
    return Rooted(source, "", _expected(source, "", "", excludes), excludes)


def _expected(source: Source, base: str, root: str, excludes: Callable[[str], bool]) -> dict[str, str]:
    """SHA-256 by path below the root, from the list beside it or, of a bag, above it."""
    found = next((file for file in source.files if file.path in {root + name for name in LISTS}), None)
    found = found or next(
        (file for file in source.files if file.path in {base + name for name in LISTS}), None
    )
    if found is None:
        return {}
    if found.size > MAX_LIST_BYTES:
        raise DpgateError(f"{found.path} is larger than {MAX_LIST_BYTES} bytes")
    content = b"".join(file.read() for _, file in source.opened([found]))
    try:
        listed = parse_list(found.path, content)
    except ValueError as error:
        raise DpgateError(str(error)) from None
    above = found.path.rpartition("/")[0]
    start = root[len(above) + 1 :] if above else root
    below = {path[len(start) :]: digest for path, digest in listed.items() if path.startswith(start)}
    below = {path: digest for path, digest in below.items() if not excludes(path)}
    missing = sorted(
        set(below) - {file.path[len(root) :] for file in source.files if file.path.startswith(root)}
    )
    if missing:
        raise DpgateError(f"{found.path} lists {missing[0]}, which is not there; get the data again")
    return below


def check_listing(files: Sequence[SourceFile]) -> None:
    """Raises DpgateError for names that lead elsewhere or that no run can have, for two files of one name, a
    file inside another, and what is too much."""
    if len(files) > MOST_FILES:
        raise DpgateError(f"there are more than {MOST_FILES} files")
    paths: set[str] = set()
    for file in files:
        parts = file.path.split("/")
        if not can_be_staged(file.path) or any(part in ("", ".", "..") for part in parts):
            raise DpgateError(
                f"the name {file.path!a} leads elsewhere, or no run can have it; rename the file"
            )
        if file.path in paths:
            raise DpgateError(f"{file.path} is there twice")
        if file.size > MAX_FILE_BYTES:
            raise DpgateError(f"{file.path} is larger than {MAX_FILE_BYTES} bytes")
        paths.add(file.path)
    for path in paths:
        parts = path.split("/")
        if any("/".join(parts[:count]) in paths for count in range(1, len(parts))):
            raise DpgateError(f"{path} lies inside the path of another file")


@contextmanager
def words_for(what: str, *errors: type[BaseException]) -> Iterator[None]:
    """Raises DpgateError in place of these errors."""
    try:
        yield
    except errors as error:
        if is_full_for_file(error):
            raise  # of where it is copied to
        raise DpgateError(f"{what} cannot be read: {type(error).__name__}: {error}") from None
