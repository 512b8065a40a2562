"""The files of a pipeline as somebody sends them: single files or one zip, in memory, bounded, and hostile.

Nothing of it is written anywhere, and no name becomes a path of this machine.
"""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from domain.errors import InvalidRequest, TooLarge
from domain.model import find_inside_another
from domain.pipeline import MAX_SOURCE_BYTES, MAX_SOURCES, Source

MANIFEST = "dpgate.yaml"
LEFT_OUT = {"dpgate.lock.json", "__pycache__"}
MAX_MANIFEST_BYTES = 256 * 1024
MAX_ENTRIES = 4 * MAX_SOURCES
"""Of a zip, with folders and what is left out."""
_FIELD = "files"
# of a file, or of the end of an empty zip
_BEGINS = (b"PK\x03\x04", b"PK\x05\x06")


@dataclass(frozen=True)
class SentFiles:
    """The text of the manifest, where there is one, and all other files."""

    manifest: str | None
    sources: tuple[Source, ...]


def read_sent(files: Iterable[tuple[str, bytes]]) -> SentFiles:
    """From names and contents. A single .zip stands for what it holds. Raises InvalidRequest or TooLarge."""
    given = list(files)
    if len(given) == 1 and given[0][0].lower().endswith(".zip"):
        given = list(unzipped(given[0][1]).items())
    given = [(name, content) for name, content in given if not _is_left_out(name)]
    if len({name for name, _ in given}) < len(given):
        raise InvalidRequest(_FIELD, "two files have the same name.", "Send each once.")
    kept = _without_common_folder(dict(given))
    manifest = kept.pop(MANIFEST, None)
    _check(kept)
    return SentFiles(None if manifest is None else _text(manifest), tuple(_sources(kept)))


def unzipped(content: bytes) -> dict[str, bytes]:
    """Files of a zip by name. Reads no more than a pipeline may have, whatever the zip says of itself."""
    if not content.startswith(_BEGINS):
        # a page or a program in front of a zip is read as the one by some and as the other by others
        raise InvalidRequest(_FIELD, "the zip cannot be read.", "Make it anew, with nothing in front of it.")
    found: dict[str, bytes] = {}
    left = MAX_SOURCE_BYTES + MAX_MANIFEST_BYTES
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            if len(entries) > MAX_ENTRIES:
                raise _too_many()
            for entry in entries:
                if entry.is_dir() or _is_left_out(entry.filename):
                    continue
                _check_plain(entry, found)
                with archive.open(entry) as file:
                    found[entry.filename] = file.read(left + 1)
                left -= len(found[entry.filename])
                if left < 0:
                    raise _too_large()
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError):
        raise InvalidRequest(_FIELD, "the zip cannot be read.", "Make it anew, without a password.") from None
    return found


def _check_plain(entry: zipfile.ZipInfo, found: Mapping[str, bytes]) -> None:
    if entry.flag_bits & 0x1:
        raise InvalidRequest(_FIELD, "the zip has a password.", "Send it without one.")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise InvalidRequest(
            _FIELD, f"{_shown(entry.filename)} is a link or a device.", "A pipeline has plain files."
        )
    if entry.filename in found:
        raise InvalidRequest(_FIELD, f"the zip has {_shown(entry.filename)} twice.", "Send each file once.")


def _is_left_out(name: str) -> bool:
    """As `dpgate run` leaves it out: what is hidden, and what our own commands write."""
    parts = name.split("/")
    return any(part in LEFT_OUT or (part.startswith(".") and part not in (".", "..")) for part in parts)


def _without_common_folder(files: dict[str, bytes]) -> dict[str, bytes]:
    """A zip of a folder has its name before every file; a manifest tells what the folder is."""
    heads = {name.partition("/")[0] for name in files}
    is_one_folder = len(heads) == 1 and all("/" in name for name in files)
    if not is_one_folder or heads & {"", ".", ".."}:
        return files
    return {name.partition("/")[2]: content for name, content in files.items()}


def _check(files: Mapping[str, bytes]) -> None:
    if len(files) > MAX_SOURCES:
        raise _too_many()
    if sum(map(len, files.values())) > MAX_SOURCE_BYTES:
        raise _too_large()
    if inner := find_inside_another(list(files)):
        raise InvalidRequest(_FIELD, f"{_shown(inner)} lies inside another file's path.", "Rename one.")


def _sources(files: Mapping[str, bytes]) -> Iterable[Source]:
    for name, content in sorted(files.items()):
        try:
            yield Source.of(name, content)
        except ValueError:
            raise InvalidRequest(
                _FIELD,
                f"{_shown(name)} is no name that a pipeline's file may have.",
                "Use relative names with forward slashes, without '..', of at most 240 characters.",
            ) from None


def _text(manifest: bytes) -> str:
    if len(manifest) > MAX_MANIFEST_BYTES:
        raise TooLarge(_FIELD, f"{MANIFEST} is larger than {MAX_MANIFEST_BYTES // 1024} KiB.")
    try:
        return manifest.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidRequest(_FIELD, f"{MANIFEST} is not UTF-8 text.", "Save it as UTF-8.") from None


def _shown(name: str) -> str:
    """A hostile name in a message."""
    return repr(name[:100])


def _too_many() -> TooLarge:
    return TooLarge(
        _FIELD,
        f"more than {MAX_SOURCES} files.",
        "Send the pipeline's own folder alone; put large parts into the image.",
    )


def _too_large() -> TooLarge:
    return TooLarge(
        _FIELD,
        f"the files have more than {MAX_SOURCE_BYTES // 1024} KiB together.",
        "Put large parts into the image; data never belong to a pipeline.",
    )
