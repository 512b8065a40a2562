"""What of a JSON sidecar may go into a declaration: technical keys, values of a closed kind, nothing else.

A number is rounded and must lie in its key's range; a word must be one of its key's words; the name of a task
is taken from the file's name. So no text of the sidecar itself is ever passed on, whatever it holds.
Keys and units: BIDS specification 1.10, sidecars of MRI, EEG, MEG and iEEG.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from twins.drawn.files_headers import is_position

MAX_BYTES = 1024 * 1024
MOST_NUMBERS = 1024
_DIGITS = 4  # that are kept of a number

_RANGES: Mapping[str, tuple[float, float]] = {
    "RepetitionTime": (0, 100), "RepetitionTimePreparation": (0, 100), "EchoTime": (0, 1),
    "EchoTime1": (0, 1), "EchoTime2": (0, 1), "InversionTime": (0, 20), "FlipAngle": (0, 360),
    "MagneticFieldStrength": (0, 20),
    "SliceThickness": (0, 100), "SpacingBetweenSlices": (0, 100), "EffectiveEchoSpacing": (0, 1),
    "TotalReadoutTime": (0, 10), "DwellTime": (0, 1), "MultibandAccelerationFactor": (1, 64),
    "ParallelReductionFactorInPlane": (1, 64), "PartialFourier": (0, 1), "PixelBandwidth": (0, 10_000),
    "DelayTime": (0, 100), "EchoTrainLength": (1, 4096), "NumberOfVolumesDiscardedByScanner": (0, 100),
    "NumberOfVolumesDiscardedByUser": (0, 100), "SamplingFrequency": (0, 100_000),
    "PowerLineFrequency": (50, 60),
    "EEGChannelCount": (0, 1024), "EOGChannelCount": (0, 64), "ECGChannelCount": (0, 64),
    "EMGChannelCount": (0, 64), "MiscChannelCount": (0, 1024), "TriggerChannelCount": (0, 64),
    "RecordingDuration": (0, 86_400), "StartTime": (-3600, 3600), "EpochLength": (0, 3600),
    "MEGChannelCount": (0, 1024), "MEGREFChannelCount": (0, 1024), "ECOGChannelCount": (0, 1024),
    "SEEGChannelCount": (0, 1024),
}  # fmt: skip
_LISTS: Mapping[str, tuple[float, float]] = {"SliceTiming": (0, 100), "FlipAngle": (0, 360)}
_WORDS: Mapping[str, frozenset[str]] = {
    "PhaseEncodingDirection": frozenset({"i", "j", "k", "i-", "j-", "k-"}),
    "SliceEncodingDirection": frozenset({"i", "j", "k", "i-", "j-", "k-"}),
    "MRAcquisitionType": frozenset({"2D", "3D"}),
    "RecordingType": frozenset({"continuous", "discontinuous", "epoched"}),
    "PowerLineFrequency": frozenset({"n/a"}),
    "SoftwareFilters": frozenset({"n/a"}),
    "HardwareFilters": frozenset({"n/a"}),
    "EEGReference": frozenset({"n/a", "average", "linked mastoids", "linked ears", "CMS/DRL", "REST"}),
    "EEGGround": frozenset({"n/a", "DRL"}),
    "iEEGReference": frozenset({"n/a", "average", "bipolar"}),
    "EEGPlacementScheme": frozenset({"n/a", "10-20", "10-10", "10-5", "10 percent", "5 percent"}),
    "DewarPosition": frozenset({"n/a", "upright", "supine"}),
    "MEGCoordinateSystem": frozenset({"CTF", "ElektaNeuromag", "4DBti", "KitYokogawa", "ChietiItab"}),
    "MEGCoordinateUnits": frozenset({"m", "cm", "mm"}),
    "iEEGCoordinateSystem": frozenset({"Pixels", "ACPC", "ScanRAS", "MNI152NLin2009cAsym"}),
    "iEEGCoordinateUnits": frozenset({"m", "cm", "mm", "pixels", "n/a"}),
}
_ELECTRODES = ("EEGReference", "EEGGround")
"""Keys whose value may be the name of an electrode."""
_REQUIRED = frozenset({"EEGReference", "iEEGReference", "SoftwareFilters"})
"""Of a recording: what may not be passed on is said to be not available."""
_ANEW: Mapping[str, str] = {"EEGCoordinateSystem": "CapTrak", "EEGCoordinateUnits": "mm"}
"""Whatever the original says: positions of electrodes are computed from their names."""
_SIGNALS = frozenset({"cardiac", "respiratory", "trigger"})
"""Names of columns of continuous recordings; others are called by their number."""
_FLAGS = (
    "SkullStripped", "NonlinearGradientCorrection", "MTState", "ContinuousHeadLocalization",
    "DigitizedLandmarks", "DigitizedHeadPoints",
)  # fmt: skip
_ROUNDED_UP = ("RecordingDuration",)
_STEP = 10.0
_TASK = re.compile(r"(?:^|[_/])task-([A-Za-z0-9+]+)_")
_VERSION = re.compile(r"1\.\d{1,2}\.\d{1,2}", re.ASCII)


@dataclass(frozen=True)
class Kept:
    """`content` may go into a declaration; `dropped` are names of keys, for the rights holder alone."""

    content: Mapping[str, Any]
    dropped: tuple[str, ...]


def technical(path: str, text: bytes) -> Kept:
    """Of a sidecar. Raises ValueError, without a word of it, for what is no JSON object of bounded size."""
    found = _object(text)
    kept: dict[str, Any] = {}
    for key, value in found.items():
        if key == "TaskName":
            if task := _TASK.search(path):
                kept[key] = task[1]
            continue
        for allowed in _allowed(key, value):
            kept[key] = allowed
            break
    dropped = tuple(key for key in found if key not in kept)
    return Kept(kept | {key: "n/a" for key in dropped if key in _REQUIRED}, dropped)


def description(text: bytes) -> Kept:
    """A dataset_description.json anew: the version of the specification is all that is taken from it."""
    found = _object(text)
    version = found.get("BIDSVersion")
    is_known = isinstance(version, str) and _VERSION.fullmatch(version)
    kept = {"Name": "Twin", "BIDSVersion": version if is_known else "1.10.0", "DatasetType": "raw"}
    return Kept(kept, tuple(key for key in found if key not in ("BIDSVersion", "DatasetType")))


def written(content: Mapping[str, Any]) -> str:
    """The file."""
    return json.dumps(content, indent=2) + "\n"


def rounded(value: float) -> float | int:
    """To as many digits as are kept; whole numbers stay whole."""
    near = float(f"{value:.{_DIGITS}g}")
    return int(near) if near == int(near) else near


def _object(text: bytes) -> dict[str, Any]:
    if len(text) > MAX_BYTES:
        raise ValueError(f"it has more than {MAX_BYTES} bytes")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):  # its message would quote the text
        raise ValueError("it is no JSON") from None
    if not isinstance(found, dict):
        raise ValueError("it is no JSON object")
    return found


def _allowed(key: str, value: Any) -> Iterator[Any]:
    """The value as it may be kept, or nothing."""
    if key in _FLAGS and isinstance(value, bool):
        yield value
    elif isinstance(value, str):
        if key in _ANEW:
            yield _ANEW[key]
        elif value in _WORDS.get(key, ()) or (key in _ELECTRODES and is_position(value)):
            yield value
    elif key == "Columns":
        if isinstance(value, list) and 0 < len(value) <= MOST_NUMBERS:
            yield [
                name if isinstance(name, str) and name in _SIGNALS else f"signal{at}"
                for at, name in enumerate(value, start=1)
            ]
    elif isinstance(value, list):
        if (
            key in _LISTS
            and len(value) <= MOST_NUMBERS
            and all(_is_inside(each, _LISTS[key]) for each in value)
        ):
            yield [rounded(each) for each in value]
    elif key in _RANGES and _is_inside(value, _RANGES[key]):
        yield math.ceil(value / _STEP) * int(_STEP) if key in _ROUNDED_UP else rounded(value)


def _is_inside(value: Any, bounds: tuple[float, float]) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return bounds[0] <= value <= bounds[1]
