"""Recordings of a twin as EDF, or as BDF, which has samples of three bytes. Both say that nobody is named.

EDF: Kemp et al. 1992, and edfplus.info for the fields of a recording whose person is not named. BDF: the same
header with another first field (BioSemi, "Which file format does BioSemi use").
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from domain.dataset.twin_content import TwinRecording
from twins.drawn.signals import Samples, resolution

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
