"""Recordings of a twin as FIF, which MNE and MEGIN have: raw data of one run, with channels and no person.

Tags, blocks and structs: the tables of the FIF format (MEGIN, "Functional Image File Format"; MNE's
fiff constants). Magnetic sensors stand evenly on half a ball, since where a real helmet has them is declared
nowhere.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from domain.dataset.twin_content import ChannelType, RecordedChannel, TwinRecording, Units
from twins.drawn.events import Samples, resolution
from twins.drawn.positions import RADIUS_MM, Point, on_helmet, position

# kinds of tags
FILE_ID, DIRECTORY, BLOCK, BLOCK_END, END = 100, 101, 104, 105, 108
CHANNELS, RATE, CHANNEL, LOWPASS, HIGHPASS, TRANSFORM = 200, 201, 203, 219, 223, 222
FIRST_SAMPLE, SAMPLES, SKIPPED = 208, 300, 301
# types of what is in them
VOID, SHORT, INTEGER, FLOAT, PACKED, CHANNEL_STRUCT, ID_STRUCT, TRANSFORM_STRUCT = 0, 2, 3, 4, 16, 30, 31, 35
_MEASUREMENT, _INFO, _RAW = 100, 101, 102  # blocks
_DEVICE, _HEAD = 1, 4  # frames of coordinates
MAGNETIC, ELECTRIC, STIMULUS = 1, 2, 3
KINDS: dict[ChannelType, int] = {
    "EEG": ELECTRIC, "EOG": 202, "HEOG": 202, "VEOG": 202, "EMG": 302, "ECG": 402, "MISC": 502, "RESP": 602,
    "TRIG": STIMULUS, "SEEG": 802, "ECOG": 902, "TEMP": 1200, "GSR": 1300, "MEGMAG": MAGNETIC,
    "MEGGRADPLANAR": MAGNETIC,
}  # fmt: skip
COILS: dict[ChannelType, int] = {"EEG": 1, "MEGMAG": 3024, "MEGGRADPLANAR": 3012}
UNITS: dict[Units, tuple[int, float]] = {
    "uV": (107, 1e-6), "mV": (107, 1e-3), "V": (107, 1.0), "T": (112, 1.0), "T/m": (201, 1.0),
    "n/a": (-1, 1.0),
}  # fmt: skip
"""The code of the unit that is stored, and how much of it one of ours is."""

_STEPS: dict[ChannelType, float] = {"MEGMAG": 2e-15, "MEGGRADPLANAR": 2e-14}
_HELMET_MM = 120.0
_MORE = 0  # the next tag follows at once
_VERSION = 0x0001_0003


def make_fif(recording: TwinRecording, samples: Samples) -> bytes:
    """A buffer of samples for each second, or as much as is left."""
    return b"".join(_tags(recording, samples))


def _tags(recording: TwinRecording, samples: Samples) -> Iterator[bytes]:
    yield _tag(FILE_ID, ID_STRUCT, struct.pack(">5i", _VERSION, 0, 0, 0, 0))
    yield _tag(DIRECTORY, INTEGER, struct.pack(">i", -1))
    yield _tag(BLOCK, INTEGER, struct.pack(">i", _MEASUREMENT))
    yield _tag(BLOCK, INTEGER, struct.pack(">i", _INFO))
    yield _tag(CHANNELS, INTEGER, struct.pack(">i", len(recording.channels)))
    yield _tag(RATE, FLOAT, struct.pack(">f", recording.rate))
    yield _tag(LOWPASS, FLOAT, struct.pack(">f", recording.rate / 2))
    yield _tag(HIGHPASS, FLOAT, struct.pack(">f", 0))
    yield _tag(TRANSFORM, TRANSFORM_STRUCT, _device_is_head())
    for number, channel in enumerate(recording.channels, start=1):
        yield _tag(CHANNEL, CHANNEL_STRUCT, _channel(number, channel, len(recording.channels)))
    yield _tag(BLOCK_END, INTEGER, struct.pack(">i", _INFO))
    yield _tag(BLOCK, INTEGER, struct.pack(">i", _RAW))
    yield _tag(FIRST_SAMPLE, INTEGER, struct.pack(">i", 0))
    step = max(1, round(recording.rate))
    for start in range(0, recording.samples, step):
        yield _tag(SAMPLES, SHORT, samples[:, start : start + step].T.astype(">i2").tobytes())
    yield _tag(BLOCK_END, INTEGER, struct.pack(">i", _RAW))
    yield _tag(BLOCK_END, INTEGER, struct.pack(">i", _MEASUREMENT))
    yield struct.pack(">4i", END, VOID, 0, -1)


def _tag(kind: int, form: int, content: bytes) -> bytes:
    return struct.pack(">4i", kind, form, len(content), _MORE) + content


def _device_is_head() -> bytes:
    same = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    return struct.pack(">2i24f", _DEVICE, _HEAD, *same, *same)


def _channel(number: int, channel: RecordedChannel, count: int) -> bytes:
    unit, scale = UNITS[channel.units]
    # a stimulus channel holds codes, in whatever units it is declared
    scale = 1.0 if channel.type == "TRIG" else scale
    step = _STEPS.get(channel.type, resolution(channel) * scale)
    return struct.pack(
        ">3i2fi12f2i16s",
        number, number, KINDS.get(channel.type, KINDS["MISC"]), 1.0, step, COILS.get(channel.type, 0),
        *_place(number, channel, count), unit, 0, channel.name.encode("ascii"),
    )  # fmt: skip


def _place(number: int, channel: RecordedChannel, count: int) -> tuple[float, ...]:
    """In metres: of an electrode, and then of its reference; of a sensor, and then the axes of its coil."""
    if channel.type in _STEPS:
        point = on_helmet(number - 1, count)
        return (*_scaled(point, _HELMET_MM), *_axes(point))
    found = position(channel.name) if channel.type == "EEG" else None
    return (*(_scaled(found, RADIUS_MM) if found else (0.0, 0.0, 0.0)), *[0.0] * 9)


def _scaled(point: Point, radius_mm: float) -> tuple[float, ...]:
    return tuple(part * radius_mm / 1000 for part in point)


def _axes(outwards: Point) -> tuple[float, ...]:
    """Two along the ball, and the one outwards."""
    x, y, z = outwards
    # Duff et al. 2017, "Building an orthonormal basis, revisited"; z is above 0 here
    share = -1 / (1 + z)
    cross = x * y * share
    return (1 + x * x * share, cross, -x, cross, 1 + y * y * share, -y, x, y, z)
