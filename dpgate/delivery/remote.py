"""A place that fsspec can read as a source: `s3://bucket/folder`, for one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import fsspec

from dpgate.delivery.source import SourceFile, check_listing
from dpgate.errors import DpgateError

EXTRAS = {"s3": "s3", "s3a": "s3"}


class RemoteSource:
    """The files below an address. Raises DpgateError where the address cannot be listed."""

    def __init__(self, address: str) -> None:
        self.identity = address.rstrip("/")
        self._system, root = _system(self.identity)
        self._root = root.rstrip("/")
        try:
            found: dict[str, dict[str, Any]] = self._system.find(self._root, detail=True)
        except Exception as error:
            raise _unreadable(self.identity, error) from None
        # an object store shows the folders that its consoles make as empty objects
        files = {
            name: info for name, info in found.items() if not (name.endswith("/") and not info.get("size"))
        }
        self.files = [
            SourceFile(name[len(self._root) :].lstrip("/"), int(info.get("size") or 0), _stamp(info))
            for name, info in sorted(files.items())
        ]
        if not self.files:
            raise DpgateError(f"there is nothing below {address}")
        check_listing(self.files)

    def opened(self, wanted: Sequence[SourceFile]) -> Iterator[tuple[SourceFile, BinaryIO]]:
        for file in wanted:
            with self._opened(file) as content:
                yield file, content

    def _opened(self, file: SourceFile) -> BinaryIO:
        try:
            found: BinaryIO = self._system.open(f"{self._root}/{file.path}", "rb", cache_type="readahead")
        except OSError as error:
            raise _unreadable(f"{self.identity}/{file.path}", error) from None
        return found


def _system(address: str) -> tuple[Any, str]:
    kind = address.split("://")[0]
    try:
        system, root = fsspec.url_to_fs(address)
    except ImportError:
        extra = EXTRAS.get(kind)
        advice = f"pip install 'dpgate[{extra}]'" if extra else f"the fsspec package for {kind}://"
        raise DpgateError(f"reading {kind}:// needs {advice}") from None
    except ValueError as error:
        raise _unreadable(address, error) from None
    return system, root


def _stamp(info: dict[str, Any]) -> str:
    known = (info.get(name) for name in ("ETag", "etag", "LastModified", "mtime", "created"))
    return str(next((value for value in known if value), ""))


def _unreadable(address: str, error: Exception) -> DpgateError:
    return DpgateError(f"{address} cannot be read: {type(error).__name__}: {error}")
