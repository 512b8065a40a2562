"""The head of a recording in any of the formats that twins have, from files that are opened when needed."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import BinaryIO

from twins.drawn import files_fif as fif
from twins.drawn import files_headers
from twins.drawn.files_eeglab_head import read_set
from twins.drawn.files_headers import MOST_CHANNELS, Electrode, RecordingHead, electrodes, sensor

Open = Callable[[str], BinaryIO]


def read_recording(path: str, opened: Open) -> RecordingHead:
    """Raises ValueError, without a word of the file, and OSError or KeyError where `path` is none."""
    ending = PurePosixPath(path).suffix
    with opened(path) as file:
        if ending == ".set":
            return read_set(file)
        if ending == ".fif":
            return read_fif(file)
        head = file.read(files_headers.MAX_BYTES)
    if ending in (".edf", ".bdf"):
        return files_headers.read_edf(head)
    found = files_headers.read_vhdr(head)
    return replace(found, seconds=_seconds(f"{path.removesuffix('.vhdr')}.eeg", found, opened))


def _seconds(path: str, head: RecordingHead, opened: Open) -> float | None:
    """By the size of the file of the samples, if it is there."""
    try:
        with opened(path) as file:
            size = file.seek(0, 2)
    except (OSError, KeyError):
        return None
    return size / (head.rate * len(head.channels) * head.sample_bytes) or None


# The head of a FIF file: channels, rate and length of its raw data. Hostile: every tag is checked. From
# tag to tag over the file; what is in tags of samples, names and places of people is passed over.

MOST_TAGS = 1_000_000
_TAG = 16
_WIDTHS = {fif.SHORT: 2, fif.PACKED: 2, fif.INTEGER: 4, fif.FLOAT: 4}
_INFO = 101
_LARGEST = 96
_COILS = {kind: (name, unit) for name, unit, kinds in (
    ("MEGMAG", "T", (3021, 3022, 3023, 3024)), ("MEGGRADPLANAR", "T/m", (3011, 3012, 3013, 3014)),
) for kind in kinds}  # fmt: skip


@dataclass
class _Found:
    blocks: list[int] = field(default_factory=list)
    channels: list[bytes] = field(default_factory=list)
    rate: float = 0.0
    values: int = 0
    width: int = 2


def read_fif(file: BinaryIO) -> RecordingHead:
    """Raises ValueError, without a word of the file, for what is no raw data of few channels."""
    found = _Found()
    for kind, form, size, content in _tags(file):
        _take(found, kind, form, size, content)
    count = len(found.channels)
    if not 1 <= count <= MOST_CHANNELS:
        raise ValueError(f"it has {count} channels; 1 to {MOST_CHANNELS} are read")
    if not (math.isfinite(found.rate) and 0 < found.rate <= 1e6) or not found.values:
        raise ValueError("it has no raw data, or no sampling rate")
    return RecordingHead(
        _channels(found.channels), found.rate, found.values / count / found.rate, found.width
    )


def _tags(file: BinaryIO) -> Iterator[tuple[int, int, int, bytes]]:
    """Kind, type, size and, where it is small, content of each."""
    size, at = file.seek(0, 2), 0
    for number in range(MOST_TAGS):
        file.seek(at)
        head = file.read(_TAG)
        if len(head) < _TAG:
            raise ValueError("it ends in the middle" if number else "it is no FIF file")
        kind, form, length, following = struct.unpack(">4i", head)
        if number == 0 and (kind, form, length) != (fif.FILE_ID, fif.ID_STRUCT, 20):
            raise ValueError("it is no FIF file")
        if not 0 <= length <= size - at - _TAG:
            raise ValueError("it ends in the middle")
        yield kind, form, length, file.read(length) if length <= _LARGEST else b""
        behind = at + _TAG + length
        if following == -1 or (following == 0 and behind == size):
            return
        if following and following < behind:
            raise ValueError("its tags lead back")
        at = following or behind
    raise ValueError(f"it has more than {MOST_TAGS} tags")


def _take(found: _Found, kind: int, form: int, size: int, content: bytes) -> None:
    if kind in (fif.BLOCK, fif.BLOCK_END) and len(content) == 4:
        if kind == fif.BLOCK:
            found.blocks = [*found.blocks[-8:], struct.unpack(">i", content)[0]]
        elif found.blocks:
            found.blocks.pop()
    elif kind == fif.SAMPLES:
        if form not in _WIDTHS:
            raise ValueError("its samples are of a type that is not made: convert it with MNE to float")
        found.width = _WIDTHS[form]
        found.values += size // found.width
    elif not found.blocks or found.blocks[-1] != _INFO:
        return
    elif kind == fif.RATE and len(content) == 4:
        (found.rate,) = struct.unpack(">f", content)
    elif kind == fif.CHANNEL and len(content) == 96 and len(found.channels) <= MOST_CHANNELS:
        found.channels.append(content)


def _channels(structs: list[bytes]) -> tuple[Electrode, ...]:
    names, units, sensors = [], [], {}
    for at, content in enumerate(structs):
        (kind,) = struct.unpack_from(">i", content, 8)
        (coil,) = struct.unpack_from(">i", content, 20)
        (unit,) = struct.unpack_from(">i", content, 72)
        name = content[80:].split(b"\0", 1)[0].decode("latin-1").strip()
        names.append(name)
        units.append("uV" if unit == fif.UNITS["uV"][0] else "n/a")
        if kind == fif.MAGNETIC and coil in _COILS:
            sensors[at] = sensor(name, *_COILS[coil])  # type: ignore[arg-type]
    # the rest of the channels by the rules for electrodes; twice the same name becomes a number
    found = list(electrodes(names, units))
    for at, made in sensors.items():
        if made is not None and names.count(made.name) == 1:
            found[at] = made
    return tuple(found)
