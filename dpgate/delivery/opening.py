"""What somebody calls their data, as a source."""

from __future__ import annotations

import lzma
import tarfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, cast

from dpgate.delivery.source import MAX_FILE_BYTES, MOST_FILES, Source, SourceFile, check_listing, words_for
from dpgate.errors import DpgateError
from worker.intake.tree import read_tree


def open_source(named: str, *, excludes: Callable[[str], bool]) -> Source:
    """A folder, a tar archive or an address, listed; in a folder nothing is looked at that `excludes` says.

    Raises DpgateError for anything else.
    """
    if "://" in named:
        from dpgate.delivery.remote import RemoteSource  # loads slowly

        return RemoteSource(named)
    path = Path(named)
    if path.is_dir():
        return FolderSource(path, excludes)
    if path.is_file() and path.name.endswith(SUFFIXES):
        return ArchiveSource(path)
    if path.is_file():
        raise DpgateError(f"{path} is no archive that is read here; take one of {', '.join(SUFFIXES)}")
    raise DpgateError(f"there is no folder or archive {path}")


# A folder of this machine as a source.


class FolderSource:
    """The plain files of a folder. Raises ImportRefused, with details, for links and special files."""

    def __init__(self, folder: Path, excludes: Callable[[str], bool]) -> None:
        self._folder = folder
        self.identity = str(folder.resolve())
        tree = read_tree(folder, max_file_bytes=MAX_FILE_BYTES, excludes=excludes)
        self.files = [
            SourceFile(path, size, str((folder / path).stat().st_mtime_ns))
            for path, size in tree.files.items()
        ]

    def opened(self, wanted: Sequence[SourceFile]) -> Iterator[tuple[SourceFile, BinaryIO]]:
        for file in wanted:
            with (self._folder / file.path).open("rb") as content:
                yield file, content


# A tar archive as a source. Its whole list is checked before the first byte of it is written anywhere.

SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_BROKEN = (
    tarfile.TarError, OSError, EOFError, ValueError, OverflowError, RecursionError, zlib.error,
    lzma.LZMAError,
)  # fmt: skip
_EXTENSIONS = (
    tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)  # fmt: skip
_LONGEST_EXTENSION = 2**20


class _Member(tarfile.TarInfo):
    """A member whose extended header is small: it is read into memory."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in _EXTENSIONS and not 0 <= self.size <= _LONGEST_EXTENSION:
            raise tarfile.ReadError("an extended header is too long")
        return super()._proc_member(archive)  # type: ignore[misc]


class ArchiveSource:
    """The plain files of an archive. Raises DpgateError for links, devices, holes, names that lead out."""

    def __init__(self, path: Path) -> None:
        self._path = path
        status = path.stat()
        self.identity = str(path.resolve())
        stamp = f"{status.st_size}:{status.st_mtime_ns}"
        with words_for(str(path), *_BROKEN), _opened(path) as archive:
            self.files = list(_files(archive, stamp))
        check_listing(self.files)

    def opened(self, wanted: Sequence[SourceFile]) -> Iterator[tuple[SourceFile, BinaryIO]]:
        """In the order of the archive, for going back would unpack it anew."""
        by_path = {file.path: file for file in wanted}
        with words_for(str(self._path), *_BROKEN), _opened(self._path) as archive:
            for member in archive:
                file = by_path.get(_path(member.name))
                if file is not None and member.isreg():
                    with cast(BinaryIO, archive.extractfile(member)) as content:
                        yield file, content
                archive.members = []  # type: ignore[attr-defined]  # they would add up


def _files(archive: tarfile.TarFile, stamp: str) -> Iterator[SourceFile]:
    for number, member in enumerate(archive):
        if number > 2 * MOST_FILES:
            raise DpgateError("the archive has too many members")
        if not member.isdir():
            if not member.isreg() or member.issparse() or member.size < 0:
                raise DpgateError(
                    f"{member.name!a} is a link, a special file or a file with holes; archive plain files"
                )
            yield SourceFile(_path(member.name), member.size, stamp)
        archive.members = []  # type: ignore[attr-defined]


def _opened(path: Path) -> tarfile.TarFile:
    return tarfile.open(path, "r:*", tarinfo=_Member)


def _path(name: str) -> str:
    return name.removeprefix("./")
