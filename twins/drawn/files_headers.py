"""What of the header of a recording may go into a declaration: known names of channels, units and numbers.

Headers only, all of them hostile. A channel whose name is in no list of electrode positions, and is no number
that an instrument gives, is called by its number here; nothing else of the header's text is passed on.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from domain.dataset.twin_content import ChannelType, Units

MAX_BYTES = 256 * 1024
MOST_CHANNELS = 512

# positions of the 10-20, 10-10 and 10-5 systems (Oostenveld and Praamstra 2001), and references
_POSITION = re.compile(
    r"(?:Nz|Iz|Fp|AFp|AF|AFF|F|FFT|FFC|FT|FC|FCC|FTT|T|TTP|C|CCP|TP|CP|CPP|TPP|P|PPO|PO|POO|O|OI|I|A|M)"
    r"(?:z|[0-9]|10|9h|[1-8]h)?"
)
_OTHERS: Mapping[str, ChannelType] = {
    "EOG": "EOG", "VEOG": "VEOG", "HEOG": "HEOG", "EOG1": "EOG", "EOG2": "EOG", "ECG": "ECG", "EKG": "ECG",
    "EMG": "EMG", "EMG1": "EMG", "EMG2": "EMG", "GSR": "GSR", "RESP": "RESP", "TRIG": "TRIG", "STI": "TRIG",
    "REF": "REF", "VEOU": "VEOG", "VEOL": "VEOG", "HEOL": "HEOG", "HEOR": "HEOG", "Status": "TRIG",
}  # fmt: skip
_NUMBERED = re.compile(r"(EEG|EOG|ECG|EMG|STI|MISC) ?[0-9]{3}")
_OF_NETS = re.compile(r"E[1-9][0-9]{0,2}|[A-H][1-9][0-9]?")  # EGI's nets, and BioSemi's caps
_EXTERNAL = re.compile(r"EXG[1-8]")
_PREFIXES: Mapping[str, ChannelType] = {
    "EEG": "EEG", "EOG": "EOG", "ECG": "ECG", "EMG": "EMG", "STI": "TRIG", "MISC": "MISC",
}  # fmt: skip
_SENSOR = re.compile(r"MEG ?[0-9]{3,4}")
_UNITS: Mapping[str, Units] = {"uv": "uV", "µv": "uV", "μv": "uV", "mv": "mV", "v": "V", "": "uV"}
_LINE = re.compile(r"^Ch\d{1,4}=([^,\r\n]*),[^,\r\n]*,[^,\r\n]*(?:,([^,\r\n]*))?\s*$", re.MULTILINE)
_BYTES = {"INT_16": 2, "INT_32": 4, "IEEE_FLOAT_32": 4}
_EDF_HEAD, _EDF_CHANNEL = 256, 256
_EDF_MAGIC = {b"0       ": 2, b"\xffBIOSEMI": 3}  # and bytes of a sample
_NO_CHANNELS = ("EDF Annotations", "BDF Annotations")


@dataclass(frozen=True)
class Electrode:
    """A channel; `is_known`: by its own name."""

    name: str
    type: ChannelType
    units: Units
    is_known: bool


@dataclass(frozen=True)
class RecordingHead:
    """`seconds` is None where only the file of the samples knows; `sample_bytes` are of one sample; `beside`:
    a .set whose samples are in a .fdt."""

    channels: tuple[Electrode, ...]
    rate: float
    seconds: float | None
    sample_bytes: int = 2
    beside: bool = False


def read_vhdr(head: bytes) -> RecordingHead:
    """Of a BrainVision header. Raises ValueError, without a word of it, for what is none."""
    if len(head) > MAX_BYTES:
        raise ValueError(f"the header has more than {MAX_BYTES} bytes")
    text = head.decode("utf-8", "replace")
    if not text.lstrip("\ufeff").startswith(("Brain Vision", "BrainVision")):
        raise ValueError("it is no BrainVision header")
    found = _LINE.findall(text)
    interval = _number(re.search(r"^SamplingInterval=([0-9.eE+-]{1,20})\s*$", text, re.MULTILINE))
    form = re.search(r"^BinaryFormat=(\w{1,20})\s*$", text, re.MULTILINE)
    size = _BYTES.get(form[1], 0) if form else 2
    if not 0 < interval <= 1e6 or not size:
        raise ValueError("its sampling interval or its format of samples is missing or unknown")
    channels = electrodes([name for name, _ in found], [unit for _, unit in found])
    return RecordingHead(channels, 1e6 / interval, None, size)


def read_edf(head: bytes) -> RecordingHead:
    """Of a header of EDF or BDF, of which the first MAX_BYTES are enough. Raises ValueError as above."""
    if len(head) < _EDF_HEAD or head[:8] not in _EDF_MAGIC:
        raise ValueError("it is no EDF header")
    records, length, count = (_whole(head[236:244]), _decimal(head[244:252]), _whole(head[252:256]))
    if not 1 <= count <= MOST_CHANNELS or len(head) < _EDF_HEAD + count * _EDF_CHANNEL or length <= 0:
        raise ValueError("its number of channels or the length of its records makes no sense")
    names = _texts(head, _EDF_HEAD, 16, count)
    units = _texts(head, _EDF_HEAD + count * 96, 8, count)
    samples = [_whole(text.encode()) for text in _texts(head, _EDF_HEAD + count * 216, 8, count)]
    kept = [at for at, name in enumerate(names) if name.strip() not in _NO_CHANNELS]
    rates = {samples[at] / length for at in kept}
    if len(rates) != 1 or not min(rates) > 0:
        raise ValueError("its channels have several sampling rates, or none")
    channels = electrodes([names[at] for at in kept], [units[at] for at in kept])
    return RecordingHead(channels, min(rates), max(records, 0) * length or None, _EDF_MAGIC[head[:8]])


def is_position(name: str) -> bool:
    """Whether it is the name of an electrode in one of those systems."""
    return _POSITION.fullmatch(name) is not None


def sensor(name: str, kind: ChannelType, units: Units) -> Electrode | None:
    """A magnetic sensor by the number that its instrument gives it."""
    return Electrode(name, kind, units, True) if _SENSOR.fullmatch(name) else None


def electrodes(names: Sequence[str], units: Sequence[str]) -> tuple[Electrode, ...]:
    """Channels by the names that are known, the others by number; each name once."""
    if not 1 <= len(names) <= MOST_CHANNELS:
        raise ValueError(f"it has {len(names)} channels; 1 to {MOST_CHANNELS} are read")
    found: dict[str, Electrode] = {}
    for number, (name, unit) in enumerate(zip(names, units, strict=True), start=1):
        for electrode in _named(name.strip(), _UNITS.get(unit.strip().casefold(), "n/a"), number):
            if electrode.name not in found:
                found[electrode.name] = electrode
                break
    return tuple(found.values())


def _named(name: str, unit: Units, number: int) -> Iterator[Electrode]:
    if _POSITION.fullmatch(name) or (name.isupper() and _POSITION.fullmatch(_usual(name))):
        yield Electrode(name, "EEG", unit, True)
    elif name in _OTHERS:
        yield Electrode(name, _OTHERS[name], unit, True)
    elif _OF_NETS.fullmatch(name) or _EXTERNAL.fullmatch(name):
        yield Electrode(name, "MISC" if _EXTERNAL.fullmatch(name) else "EEG", unit, True)
    elif match := _NUMBERED.fullmatch(name):
        yield Electrode(name, _PREFIXES[match[1]], unit, True)
    yield Electrode(f"Ch{number}", "MISC", unit, False)


def _usual(name: str) -> str:
    """`FP1` and `CPZ` as the standard writes them."""
    return re.sub(r"Z$", "z", name).replace("FP", "Fp")


def _texts(head: bytes, start: int, width: int, count: int) -> list[str]:
    return [head[at : at + width].decode("latin-1") for at in range(start, start + width * count, width)]


def _whole(text: bytes) -> int:
    cell = text.strip()
    if re.fullmatch(rb"-?\d{1,8}", cell) is None:
        raise ValueError("a number of its header is none")
    return int(cell)


def _decimal(text: bytes) -> float:
    cell = text.strip()
    if re.fullmatch(rb"\d{1,8}(\.\d{0,8})?", cell) is None:
        raise ValueError("a number of its header is none")
    return float(cell)


def _number(match: re.Match[str] | None) -> float:
    try:
        value = float(match[1]) if match else 0.0
    except ValueError:
        return 0.0
    return value if math.isfinite(value) else 0.0
