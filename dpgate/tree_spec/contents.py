"""What the twin's file at each path should hold, from the first bytes of people's files.

What most people's headers say, if FEW or more agree; never a word of theirs outside closed lists.
"""

from __future__ import annotations

import json
import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from domain import nifti
from domain.dataset.twin_content import MAX_SAMPLES
from domain.errors import PipelineError
from domain.profile.draft import ASK
from domain.twin import files_headers, files_sidecars
from dpgate.tree_spec.places import FEW, Group

MOST_LOOKED_AT = 500
LineT = TypeVar("LineT", bound=Hashable)
_TYPES = {"u1": "uint8", "i1": "int8", "u2": "uint16", "i2": "int16", "u4": "uint32", "i4": "int32",
          "f4": "float32", "f8": "float64"}  # fmt: skip
_MASKS = ("mask", "defacemask", "dseg")
_HEAD = 64 * 1024
_STEP_SECONDS, _UNKNOWN_SECONDS = 10, 60
_ROWS_OF_SIGNALS = 1000
_MOST_COLUMNS = 500

# kinds and bounds by the specification and by common sense: none is looked up in the data
_COLUMNS: Mapping[str, Mapping[str, Any]] = {
    "onset": {"kind": "number", "lower": 0, "upper": 600, "decimals": 3},
    "duration": {"kind": "number", "lower": 0, "upper": 10, "decimals": 3},
    "response_time": {"kind": "number", "lower": 0, "upper": 10, "decimals": 3, "missing_rate": 0.05},
    "sample": {"kind": "integer", "lower": 0, "upper": 1_000_000},
    "trial_type": {"kind": "categorical", "categories": ASK},
    "value": {"kind": "categorical", "categories": ASK},
}


@dataclass(frozen=True)
class Proposal:
    """Fields for a person file beside its path; `notes` are for the rights holder alone."""

    fields: Mapping[str, Any]
    notes: tuple[str, ...] = ()


def propose(group: Group) -> Proposal | None:
    """None for a file that comes along with another one."""
    if group.ending in (".eeg", ".vmrk"):
        return None
    makers: Mapping[str, Callable[[Group], Proposal]] = {
        ".nii": _volume, ".nii.gz": _volume, ".json": _sidecar, ".vhdr": _recording, ".edf": _recording,
        ".tsv": _channels if group.suffix == "channels" else _table, ".tsv.gz": _signals,
    }  # fmt: skip
    return makers[group.ending](group)


def _agreed(group: Group, read: Callable[[str, Path], LineT]) -> tuple[LineT | None, str]:
    """What most files say, if FEW or more say the same; and a sentence on the others."""
    found: Counter[LineT] = Counter()
    unread = 0
    for path in list(group.of.values())[:MOST_LOOKED_AT]:
        try:
            found[read(path.name, path)] += 1
        except (PipelineError, ValueError):
            unread += 1
    ranked = found.most_common(1)
    if not ranked or ranked[0][1] < FEW:
        return None, f"no {FEW} people have the same readable header: declare it by hand"
    most, times = ranked[0]
    others = sum(found.values()) - times
    said = [f"{others} people have another header"] if others else []
    return most, "; ".join([*said, *([f"{unread} headers could not be read"] if unread else [])])


def _head(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        return file.read(size)


def _volume(group: Group) -> Proposal:
    def read(name: str, path: Path) -> tuple[Any, ...]:
        grid = nifti.read_grid(name, _head(path, nifti.HEAD_BYTES))
        seconds = None if grid.seconds is None else round(grid.seconds, 3)
        return grid.dims, grid.kind, tuple(round(zoom, 3) for zoom in grid.zooms), seconds

    found, said = _agreed(group, read)
    if found is None:
        return Proposal({}, (f"{said}; until then it is empty in the twin",))
    dims, kind, zooms, seconds = found
    if len(dims) > 4 or kind not in _TYPES or max(dims) > 1024 or min(zooms) <= 0:
        return Proposal({}, ("a volume of this form is not made: it is empty in the twin",))
    volume = {
        "shape": list(dims), "dtype": _TYPES[kind], "lower": 0,
        "upper": 1 if group.suffix in _MASKS else 100 if kind in ("u1", "i1") else 1000,
        "zooms": list(zooms), "fill": "phantom",
    }  # fmt: skip
    if seconds and len(dims) == 4:
        volume["repetition_time"] = seconds
    return Proposal({"twin_volume": volume}, (said,) if said else ())


def _sidecar(group: Group) -> Proposal:
    values: dict[str, Counter[str]] = {}
    dropped: set[str] = set()
    unread = 0
    for path in list(group.of.values())[:MOST_LOOKED_AT]:
        try:
            kept = files_sidecars.technical(group.path, _head(path, files_sidecars.MAX_BYTES + 1))
        except ValueError:
            unread += 1
            continue
        dropped |= set(kept.dropped)
        for key, value in kept.content.items():
            values.setdefault(key, Counter())[json.dumps(value)] += 1
    shared = {key: seen.most_common(1)[0] for key, seen in values.items()}
    content = {key: json.loads(text) for key, (text, times) in shared.items() if times >= FEW}
    dropped |= set(values) - set(content)
    notes = [f"{unread} are no JSON"] if unread else []
    if dropped:
        notes.append(f"keys left out: {', '.join(sorted(dropped))}")
    return Proposal({"twin_text": files_sidecars.written(content)}, tuple(notes))


def _recording(group: Group) -> Proposal:
    def read(_name: str, path: Path) -> tuple[Any, ...]:
        head = _head(path, files_headers.MAX_BYTES)
        if group.ending == ".edf":
            found = files_headers.read_edf(head)
            seconds = found.seconds
        else:
            found = files_headers.read_vhdr(head)
            samples = path.with_suffix(".eeg")
            size = samples.stat().st_size if samples.is_file() else 0
            seconds = size / (found.rate * len(found.channels) * found.sample_bytes) or None
        return found.channels, found.rate, _rounded_up(seconds)

    found, said = _agreed(group, read)
    if found is None:
        return Proposal({}, (f"{said}; until then it is empty in the twin",))
    channels, rate, seconds = found
    notes = [said] if said else []
    if unknown := sum(not channel.is_known for channel in channels):
        notes.append(f"{unknown} channels have names of their own: they are called by their number")
    most = int(MAX_SAMPLES / (rate * len(channels)))
    recording = {
        "channels": [{"name": each.name, "type": each.type, "units": each.units} for each in channels],
        "rate": round(rate) if group.ending == ".edf" else files_sidecars.rounded(rate),
        "seconds": max(1, min(seconds, most)),
    }
    notes.append("marks are left out: declare markers, with a rate, from the design of the experiment")
    return Proposal({"twin_recording": recording}, tuple(notes))


def _rounded_up(seconds: float | None) -> int:
    return math.ceil(seconds / _STEP_SECONDS) * _STEP_SECONDS if seconds else _UNKNOWN_SECONDS


def _first_line(path: Path) -> tuple[str, ...]:
    head = _head(path, _HEAD)
    if path.name.endswith(".gz"):
        try:
            head = zlib.decompressobj(wbits=31).decompress(head, _HEAD)
        except zlib.error:
            raise ValueError("it is no gzip file") from None
    line = head.split(b"\n", 1)[0].decode("utf-8-sig", "replace").rstrip("\r")
    cells = tuple(line.split("\t"))
    if not line or len(cells) > _MOST_COLUMNS:
        raise ValueError("its first line is no line of names")
    return cells


def _table(group: Group) -> Proposal:
    found, said = _agreed(group, lambda _name, path: _first_line(path))
    names = found or ()
    columns = [{"name": name, **_COLUMNS[name]} for name in dict.fromkeys(names) if name in _COLUMNS]
    notes = [said] if said else []
    if dropped := [name for name in names if name not in _COLUMNS]:
        notes.append(f"columns left out, declare them: {', '.join(dropped)}")
    notes.append("rows, bounds and levels are not read from the data: state them")
    return Proposal({"twin_table": {"columns": columns or ASK, "rows": 20}}, tuple(notes))


def _signals(group: Group) -> Proposal:
    """A packed table has no names; that there are so many columns is all that is read."""
    found, said = _agreed(group, lambda _name, path: len(_first_line(path)))
    if found is None:
        return Proposal({}, (f"{said}; until then it is empty in the twin",))
    columns = [
        {"name": f"signal{number}", "kind": "number", "lower": -1, "upper": 1, "decimals": 3}
        for number in range(1, found + 1)
    ]
    notes = ("rows and bounds are not read from the data: state them", *((said,) if said else ()))
    return Proposal({"twin_table": {"columns": columns, "rows": _ROWS_OF_SIGNALS}}, notes)


def _channels(group: Group) -> Proposal:
    found, said = _agreed(group, lambda _name, path: tuple(_channel_rows(_head(path, _HEAD))))
    if found is None:
        return Proposal({"twin_table": {"columns": ASK}}, (said,))
    lines = "".join(f"{name}\t{kind}\t{unit}\n" for name, kind, unit in found)
    notes = ("columns but name, type and units are left out", *((said,) if said else ()))
    return Proposal({"twin_text": f"name\ttype\tunits\n{lines}"}, notes)


def _channel_rows(text: bytes) -> Iterator[tuple[str, str, str]]:
    lines = re.split(r"\r?\n", text.decode("utf-8-sig", "replace").rstrip("\r\n"))
    header, *rows = (line.split("\t") for line in lines)
    if "name" not in header or any(len(row) != len(header) for row in rows):
        raise ValueError("it is no table of channels")
    named = header.index("name")
    unit = header.index("units") if "units" in header else None
    units = ["uV" if unit is None else row[unit] for row in rows]
    for each in files_headers.electrodes([row[named] for row in rows], units):
        yield each.name, each.type, each.units
