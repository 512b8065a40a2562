"""Recordings of electrodes for a twin, as BrainVision or EDF: noise whose strength falls with frequency, and
a rhythm of ten a second. Written from what is declared alone: no name, no date, no place of anybody.

Formats: BrainVision Core Data Format 1.0 (Brain Products); EDF (Kemp et al. 1992, and edfplus.info for the
fields of a recording whose person is not named).
"""

from __future__ import annotations

import math
import random

import numpy as np
from numpy.typing import NDArray

from domain.dataset.twin_content import Channel, TwinRecording

Samples = NDArray[np.int16]

RESOLUTION = 0.1
"""Units of a channel for a step of one."""

_STILL = ("TRIG", "MISC", "REF", "TEMP")
_ALPHA_HERTZ, _ALPHA = 10.0, 80.0
_SLOWEST_SECONDS = 4
_WANTED = 150.0  # steps of the noise's deviation
_EDF_START = "01.01.8500.00.00"


def make_files(path: str, recording: TwinRecording, draw: random.Random) -> dict[str, bytes]:
    """The recording at `path`, with the files that it needs beside it. Equal draws give equal bytes."""
    if path.endswith(".edf"):
        return {path: _edf(recording, draw)}
    stem = path.removesuffix(".vhdr")
    name = stem.rsplit("/", 1)[-1]
    samples = np.stack([_signal(channel, recording, draw) for channel in recording.channels])
    return {
        path: _header_text(name, recording).encode(),
        f"{stem}.eeg": samples.T.astype("<i2").tobytes(),
        f"{stem}.vmrk": _marker_text(name, recording, draw).encode(),
    }


def _signal(channel: Channel, recording: TwinRecording, draw: random.Random) -> Samples:
    """Octaves of held noise, each of one strength (Voss 1978): about 1/f. Whole numbers, so that every
    machine gets the same."""
    count = recording.samples
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


def _header_text(name: str, recording: TwinRecording) -> str:
    channels = "".join(
        f"Ch{number}={channel.name},,{RESOLUTION},{'' if channel.units == 'n/a' else channel.units}\n"
        for number, channel in enumerate(recording.channels, start=1)
    )
    return (
        "Brain Vision Data Exchange Header File Version 1.0\n\n[Common Infos]\nCodepage=UTF-8\n"
        f"DataFile={name}.eeg\nMarkerFile={name}.vmrk\nDataFormat=BINARY\nDataOrientation=MULTIPLEXED\n"
        f"NumberOfChannels={len(recording.channels)}\nSamplingInterval={1e6 / recording.rate:.12g}\n\n"
        f"[Binary Infos]\nBinaryFormat=INT_16\n\n[Channel Infos]\n{channels}"
    )


def _marker_text(name: str, recording: TwinRecording, draw: random.Random) -> str:
    """Marks at times drawn at random, as often as declared."""
    found = sorted(
        (1 + draw.randrange(recording.samples), number)
        for number, marker in enumerate(recording.markers)
        for _ in range(round(marker.per_minute * recording.seconds / 60))
    )
    marks = "".join(
        f"Mk{number}=Stimulus,{recording.markers[which].name},{at},1,0\n"
        for number, (at, which) in enumerate(found, start=2)
    )
    return (
        "Brain Vision Data Exchange Marker File, Version 1.0\n\n[Common Infos]\nCodepage=UTF-8\n"
        f"DataFile={name}.eeg\n\n[Marker Infos]\nMk1=New Segment,,1,1,0\n{marks}"
    )


def _edf(recording: TwinRecording, draw: random.Random) -> bytes:
    """Records of one second, each channel after the other."""
    channels, rate = recording.channels, int(recording.rate)
    count = len(channels)
    most = f"{32_767 * RESOLUTION:.1f}"
    fields: list[tuple[int, list[str]]] = [
        (16, [channel.name for channel in channels]),
        (80, [""] * count),
        (8, ["" if channel.units == "n/a" else channel.units for channel in channels]),
        (8, [f"-{most}"] * count),
        (8, [most] * count),
        (8, ["-32767"] * count),
        (8, ["32767"] * count),
        (80, [""] * count),
        (8, [str(rate)] * count),
        (32, [""] * count),
    ]
    start = (
        f"{'0':<8}{'X X X X':<80}{'Startdate X X X X':<80}{_EDF_START}{256 * (count + 1):<8}{'':<44}"
        f"{recording.seconds:<8}{'1':<8}{count:<4}"
    )
    head = start + "".join(f"{text:<{width}}" for width, texts in fields for text in texts)
    samples = np.stack([_signal(channel, recording, draw) for channel in channels])
    records = samples.reshape(count, recording.seconds, rate).swapaxes(0, 1)
    return head.encode("ascii") + records.astype("<i2").tobytes()
