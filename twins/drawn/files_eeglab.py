"""Recordings of a twin as EEGLAB has them: a struct EEG in a MAT-file, the samples in it or in a .fdt beside.

Fields: EEGLAB's eeg_emptyset.m and eeg_checkset.m (what they set, they find empty here). MAT-file: "MAT-File
Format" (MathWorks), level 5, not packed, so that equal numbers give equal bytes everywhere.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import numpy as np

from domain.dataset.twin_content import RecordedChannel, TwinRecording
from formats.matlab5_numbers import (
    CHAR,
    CLASSES,
    DOUBLE,
    INT8,
    INT32,
    MATRIX,
    SINGLE,
    STRUCT,
    UINT16,
    UINT32,
    VERSION,
)
from twins.drawn.events import Mark, Samples, resolution
from twins.drawn.positions import position

_HEADER = b"MATLAB 5.0 MAT-file".ljust(116) + b"\0" * 8 + struct.pack("<H", VERSION) + b"IM"
_NUMBERS = {name: number for number, name in CLASSES.items()}
_FIELD_BYTES = 32
_RADIUS_MM = 85.0  # of the ball that EEGLAB draws
_EMPTY = (
    "icaact", "icawinv", "icasphere", "icaweights", "icachansind", "urchanlocs", "urevent",
    "eventdescription", "epoch", "epochdescription", "reject", "stats", "specdata", "specicaact",
    "splinefile", "icasplinefile", "dipfit", "etc",
)  # fmt: skip
_TYPES = {"HEOG": "EOG", "VEOG": "EOG", "TRIG": "STIM"}  # as its readers know them
_NAMELESS = ("setname", "filepath", "subject", "group", "condition", "session", "comments")

Array = tuple[bytes, bytes]
"""The bytes of an array before its name, and those behind it."""


def make_set(
    name: str, recording: TwinRecording, samples: Samples, marks: Sequence[Mark]
) -> tuple[bytes, bytes | None]:
    """The .set, and the .fdt if there is one."""
    units = np.array([resolution(channel) for channel in recording.channels])
    values = (samples.T * units).astype("<f4").tobytes()  # sample by sample, as MATLAB has columns
    dims = (len(recording.channels), recording.samples)
    data = _text(f"{name}.fdt") if recording.fdt else _array("single", dims, SINGLE, values)
    seconds = (recording.samples - 1) / recording.rate
    fields: dict[str, Array] = {
        **dict.fromkeys(_NAMELESS, _text("")),
        "filename": _text(f"{name}.set"),
        **{
            key: _number(value)
            for key, value in (
                ("nbchan", dims[0]), ("trials", 1), ("pnts", dims[1]), ("srate", recording.rate), ("xmin", 0),
                ("xmax", seconds),
            )
        },
        "times": _NOTHING,
        "data": data,
        "chanlocs": _structs([_place(channel) for channel in recording.channels]),
        "chaninfo": _structs([{"nosedir": _text("+X")}]),
        "ref": _text("common"),
        "event": _structs([_event(recording, mark) for mark in marks], ("type", "latency", "duration")),
        **dict.fromkeys(_EMPTY, _NOTHING),
        "history": _text(""),
        "saved": _text("yes"),
        "datfile": _text(f"{name}.fdt" if recording.fdt else ""),
    }  # fmt: skip
    content = _HEADER + _named("EEG", _structs([fields]))
    return content, values if recording.fdt else None


def _place(channel: RecordedChannel) -> Mapping[str, Array]:
    """EEGLAB's axes lead to the nose, to the left and up."""
    found = position(channel.name) if channel.type == "EEG" else None
    right, front, up = (_RADIUS_MM * part for part in found) if found else (None, None, None)
    ways = {"X": front, "Y": None if right is None else -right, "Z": up}
    places = {key: _NOTHING if value is None else _number(value) for key, value in ways.items()}
    kind = _TYPES.get(channel.type, channel.type)
    return {"labels": _text(channel.name), "type": _text(kind), **places, "urchan": _NOTHING}


def _event(recording: TwinRecording, mark: Mark) -> Mapping[str, Array]:
    at, which = mark
    return {"type": _text(recording.markers[which].name), "latency": _number(at), "duration": _number(1)}


def _number(value: float) -> Array:
    return _array("double", (1, 1), DOUBLE, struct.pack("<d", value))


def _text(text: str) -> Array:
    dims = (1, len(text)) if text else (0, 0)
    return _matrix(CHAR, dims, _element(UINT16, text.encode("utf-16-le")))


def _structs(rows: Sequence[Mapping[str, Array]], fields: Sequence[str] = ()) -> Array:
    """A row of structs of the same fields; `fields` are those of an empty one."""
    names = list(rows[0]) if rows else list(fields)
    packed = b"".join(name.encode().ljust(_FIELD_BYTES, b"\0") for name in names)
    width = struct.pack("<HHi", INT32, 4, _FIELD_BYTES)  # in short form, which Octave insists on
    cells = b"".join(_named("", row[name]) for row in rows for name in names)
    return _matrix(STRUCT, (1 if rows else 0, len(rows)), width + _element(INT8, packed), cells)


def _array(kind: str, dims: Sequence[int], form: int, content: bytes) -> Array:
    return _matrix(_NUMBERS[kind], dims, _element(form, content))


def _matrix(kind: int, dims: Sequence[int], *parts: bytes) -> Array:
    """Flags and dimensions, and what is in it."""
    head = _element(UINT32, struct.pack("<II", kind, 0))
    return head + _element(INT32, struct.pack(f"<{len(dims)}i", *dims)), b"".join(parts)


def _named(name: str, array: Array) -> bytes:
    head, rest = array
    return _element(MATRIX, b"".join((head, _element(INT8, name.encode()), rest)))


def _element(kind: int, content: bytes) -> bytes:
    return b"".join((struct.pack("<II", kind, len(content)), content, b"\0" * (-len(content) % 8)))


_NOTHING = _array("double", (0, 0), DOUBLE, b"")
