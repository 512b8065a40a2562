"""Recordings for a twin: noise whose strength falls with frequency, and a rhythm of ten a second.

Written from what is declared alone: no name, no date, no place of anybody.

Here BrainVision Core Data Format 1.0 (Brain Products); the other formats have modules of their own.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from pathlib import PurePosixPath

import numpy as np
from numpy.typing import NDArray

from domain.dataset.twin_content import RecordedChannel, TwinRecording
from twins.drawn.events import Event, Mark, Samples, marks_of, pulses, resolution
from twins.drawn.files_eeglab import make_set
from twins.drawn.files_fif import make_fif

_STILL = ("MISC", "REF", "TEMP")
_ALPHA_HERTZ, _ALPHA = 10.0, 80.0
_SLOWEST_SECONDS = 4
_WANTED = 150.0  # steps of the noise's deviation


def make_files(
    path: str, recording: TwinRecording, draw: random.Random, events: Sequence[Event] | None = None
) -> dict[str, bytes]:
    """The recording at `path`, with the files that it needs beside it. Equal draws give equal bytes.

    `events`: those of the table beside it, if there is one: marks and stimulus channels follow them.
    """
    stem, ending = path.rsplit(".", 1)
    name = PurePosixPath(stem).name
    samples = np.stack([_signal(channel, recording, draw, events or ()) for channel in recording.channels])
    if ending in ("edf", "bdf"):
        return {path: make_edf(recording, samples, is_wide=ending == "bdf")}
    if ending == "fif":
        return {path: make_fif(recording, samples)}
    marks = _marks(recording, draw) if events is None else marks_of(recording, events)
    if ending == "set":
        made, beside = make_set(name, recording, samples, marks)
        return {path: made} | ({f"{stem}.fdt": beside} if beside is not None else {})
    return {
        path: _header_text(name, recording).encode(),
        f"{stem}.eeg": samples.T.astype("<i2").tobytes(),
        f"{stem}.vmrk": _marker_text(name, recording, marks).encode(),
    }


def _signal(
    channel: RecordedChannel, recording: TwinRecording, draw: random.Random, events: Sequence[Event]
) -> Samples:
    """Octaves of held noise, each of one strength (Voss 1978): about 1/f. Whole numbers, so that every
    machine gets the same."""
    count = recording.samples
    if channel.type == "TRIG":
        return pulses(recording, events)
    if channel.type in _STILL:
        return np.zeros(count, dtype=np.int16)
    octaves = max(1, math.ceil(math.log2(_SLOWEST_SECONDS * recording.rate)))
    noise = np.zeros(count, dtype=np.float64)
    for octave in range(octaves):
        held = 2**octave
        drawn = np.frombuffer(draw.randbytes(-(-count // held)), dtype=np.uint8)
        noise += np.repeat(drawn.astype(np.float64) - 127.5, held)[:count]
    noise *= _WANTED / (73.9 * math.sqrt(octaves))  # 73.9: deviation of a byte
    if channel.type == "EEG":
        at = np.arange(count) / recording.rate
        noise += _ALPHA * np.sin(2 * math.pi * (_ALPHA_HERTZ * at + draw.random()))
    return np.rint(noise).clip(-32_000, 32_000).astype(np.int16)


_UNITS = {"n/a": "ARU"}  # without a unit is in microvolts in this format; ARU is its word for none


def _header_text(name: str, recording: TwinRecording) -> str:
    channels = "".join(
        f"Ch{number}={channel.name},,{resolution(channel):g},{_UNITS.get(channel.units, channel.units)}\n"
        for number, channel in enumerate(recording.channels, start=1)
    )
    return (
        "Brain Vision Data Exchange Header File Version 1.0\n\n[Common Infos]\nCodepage=UTF-8\n"
        f"DataFile={name}.eeg\nMarkerFile={name}.vmrk\nDataFormat=BINARY\nDataOrientation=MULTIPLEXED\n"
        f"NumberOfChannels={len(recording.channels)}\nSamplingInterval={1e6 / recording.rate:.12g}\n\n"
        f"[Binary Infos]\nBinaryFormat=INT_16\n\n[Channel Infos]\n{channels}"
    )


def _marks(recording: TwinRecording, draw: random.Random) -> list[Mark]:
    """At times drawn at random, as often as declared, in their order."""
    return sorted(
        (1 + draw.randrange(recording.samples), number)
        for number, marker in enumerate(recording.markers)
        for _ in range(round(marker.per_minute * recording.seconds / 60))
    )


def _marker_text(name: str, recording: TwinRecording, marks: list[Mark]) -> str:
    lines = "".join(
        f"Mk{number}=Stimulus,{recording.markers[which].name},{at},1,0\n"
        for number, (at, which) in enumerate(marks, start=2)
    )
    return (
        "Brain Vision Data Exchange Marker File, Version 1.0\n\n[Common Infos]\nCodepage=UTF-8\n"
        f"DataFile={name}.eeg\n\n[Marker Infos]\nMk1=New Segment,,1,1,0\n{lines}"
    )


# Recordings of a twin as EDF, or as BDF, which has samples of three bytes. Both say that nobody is named.
# EDF: Kemp et al. 1992, and edfplus.info for the fields of a recording whose person is not named. BDF: the
# same header with another first field (BioSemi, "Which file format does BioSemi use").

_START = "01.01.8500.00.00"
_MOST = 32_767


def make_edf(recording: TwinRecording, samples: Samples, *, is_wide: bool) -> bytes:
    """Records of one second, each channel after the other. `is_wide`: as BDF."""
    count, rate = len(recording.channels), int(recording.rate)
    records = samples.reshape(count, recording.seconds, rate).swapaxes(0, 1)
    stored = _three_bytes(records) if is_wide else records.astype("<i2")
    return _header(recording, is_wide=is_wide) + stored.tobytes()


def _header(recording: TwinRecording, *, is_wide: bool) -> bytes:
    channels, rate = recording.channels, int(recording.rate)
    count = len(channels)
    most = [f"{_MOST * resolution(channel):.7g}" for channel in channels]
    fields: list[tuple[int, list[str]]] = [
        (16, [channel.name for channel in channels]),
        (80, [""] * count),
        (8, ["" if channel.units == "n/a" else channel.units for channel in channels]),
        (8, [f"-{each}" for each in most]),
        (8, most),
        (8, [f"-{_MOST}"] * count),
        (8, [f"{_MOST}"] * count),
        (80, [""] * count),
        (8, [str(rate)] * count),
        (32, [""] * count),
    ]
    first, kind = (b"\xffBIOSEMI", "24BIT") if is_wide else (b"0       ", "")
    start = (
        f"{'X X X X':<80}{'Startdate X X X X':<80}{_START}{256 * (count + 1):<8}{kind:<44}"
        f"{recording.seconds:<8}{'1':<8}{count:<4}"
    )
    rest = "".join(f"{text:<{width}}" for width, texts in fields for text in texts)
    return first + (start + rest).encode("ascii")


def _three_bytes(records: Samples) -> NDArray[np.uint8]:
    """Of each sample the three lower bytes, the lowest first."""
    return records.astype("<i4")[..., None].view(np.uint8)[..., :3]
