"""What the twin's file at each path should hold, from the first bytes of people's files.

What most people's headers say, if FEW or more agree; never a word of theirs outside closed lists.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from domain.dataset.twin_content import RECORDINGS
from dpgate.tree_spec.agreed import MOST_LOOKED_AT, Proposal, agreed, head_of
from dpgate.tree_spec.places import FEW, Group
from dpgate.tree_spec.sensors import propose_channels, propose_electrodes, propose_recording
from formats import nifti
from twins.drawn import files_sidecars
from twins.profile.draft import ASK

_TYPES = {"u1": "uint8", "i1": "int8", "u2": "uint16", "i2": "int16", "u4": "uint32", "i4": "int32",
          "f4": "float32", "f8": "float64"}  # fmt: skip
_MASKS = ("mask", "defacemask", "dseg")
_HEAD = 64 * 1024
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


def propose(group: Group) -> Proposal | None:
    """None for a file that comes along with another one."""
    if group.ending in (".eeg", ".vmrk", ".fdt"):
        return None
    if group.ending in RECORDINGS:
        return propose_recording(group)
    tables = {"channels": propose_channels, "electrodes": propose_electrodes}
    makers: Mapping[str, Callable[[Group], Proposal]] = {
        ".nii": _volume, ".nii.gz": _volume, ".json": _sidecar, ".tsv": tables.get(group.suffix, _table),
        ".tsv.gz": _signals,
    }  # fmt: skip
    return makers[group.ending](group)


def _volume(group: Group) -> Proposal:
    def read(name: str, path: Path) -> tuple[Any, ...]:
        grid = nifti.read_grid(name, head_of(path, nifti.HEAD_BYTES))
        seconds = None if grid.seconds is None else round(grid.seconds, 3)
        return grid.dims, grid.kind, tuple(round(zoom, 3) for zoom in grid.zooms), seconds, grid.axes

    found, said = agreed(group, read)
    if found is None:
        return _asked(group, said)
    dims, kind, zooms, seconds, axes = found
    if len(dims) > 4 or kind not in _TYPES or max(dims) > 1024 or min(zooms) <= 0:
        return _asked(group, "a volume of this form is not made: state one that is, or leave the file out")
    volume = {
        "shape": list(dims), "dtype": _TYPES[kind], "lower": 0,
        "upper": 1 if group.suffix in _MASKS else 100 if kind in ("u1", "i1") else 1000,
        "zooms": list(zooms), "fill": "phantom",
    }  # fmt: skip
    if seconds and len(dims) == 4:
        volume["repetition_time"] = seconds
    place, asked = _place(group, axes)
    return Proposal({"twin_volume": volume | place}, (*((said,) if said else ()), *asked))


def _asked(group: Group, why: str) -> Proposal:
    """A file of nothing opens in no tool, so the rights holder answers."""
    upper = 1 if group.suffix in _MASKS else 1000
    return Proposal({"twin_volume": {"shape": ASK, "lower": 0, "upper": upper, "fill": "phantom"}}, (why,))


def _place(group: Group, axes: str | None) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Where the volumes lie: an affine that everybody's header has is a grid's, such as a template's. Other
    people's are the pose of each in the scanner, of which the directions alone go on."""

    def read(name: str, path: Path) -> tuple[tuple[float, ...], ...] | None:
        affine = nifti.read_grid(name, head_of(path, nifti.HEAD_BYTES)).affine
        return affine and tuple(tuple(round(number, 4) for number in row) for row in affine)

    shared, others = agreed(group, read)
    if shared and not others:
        rows = [list(row) for row in shared]
        return {"affine": rows}, (
            f"affine: everybody's header has {json.dumps(rows)}: is this a public grid, as a template's is? "
            "Otherwise remove affine and state orientation",
        )
    if axes is None:
        return {}, (
            "no direction of its axes is known: set the sform of the volumes, or they are not imported",
        )
    question = f"orientation: most headers lead to {axes}; is that so for everybody? Others are not imported"
    return ({} if axes == "RAS" else {"orientation": axes}), (question,)


def _sidecar(group: Group) -> Proposal:
    values: dict[str, Counter[str]] = {}
    dropped: set[str] = set()
    unread = 0
    for path in list(group.of.values())[:MOST_LOOKED_AT]:
        try:
            kept = files_sidecars.technical(group.path, head_of(path, files_sidecars.MAX_BYTES + 1))
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


def _first_line(path: Path) -> tuple[str, ...]:
    head = head_of(path, _HEAD)
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
    found, said = agreed(group, lambda _name, path: _first_line(path))
    names = found or ()
    columns = [{"name": name, **_COLUMNS[name]} for name in dict.fromkeys(names) if name in _COLUMNS]
    notes = [said] if said else []
    if dropped := [name for name in names if name not in _COLUMNS]:
        notes.append(f"columns left out, declare them: {', '.join(dropped)}")
    notes.append("rows, bounds and levels are not read from the data: state them")
    return Proposal({"twin_table": {"columns": columns or ASK, "rows": 20}}, tuple(notes))


def _signals(group: Group) -> Proposal:
    """A packed table has no names; that there are so many columns is all that is read."""
    found, said = agreed(group, lambda _name, path: len(_first_line(path)))
    if found is None:
        return Proposal({}, (f"{said}; until then it is empty in the twin",))
    columns = [
        {"name": f"signal{number}", "kind": "number", "lower": -1, "upper": 1, "decimals": 3}
        for number in range(1, found + 1)
    ]
    notes = ("rows and bounds are not read from the data: state them", *((said,) if said else ()))
    return Proposal({"twin_table": {"columns": columns, "rows": _ROWS_OF_SIGNALS}}, notes)
