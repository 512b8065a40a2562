"""What the twin's recordings hold, and the tables of channels and electrodes beside them.

Rates, lengths and the names of known channels. Places of electrodes are those of the system of their names:
where they were on a head is the head's shape, which is a person's own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from domain.dataset.twin_content import MAGNETIC, MAX_SAMPLES, ChannelType
from dpgate.tree_spec.agreed import Proposal, agreed, head_of
from dpgate.tree_spec.places import Group
from twins.drawn import files_headers, files_sidecars
from twins.drawn.files_headers import Electrode
from twins.drawn.positions import RADIUS_MM, position
from twins.drawn.recording_heads import read_recording
from twins.profile.draft import ASK

_HEAD = 64 * 1024
_STATUS = "status"
_STEP_SECONDS, _UNKNOWN_SECONDS = 10, 60
_SENSOR_TYPES: dict[str, ChannelType] = {"MEGMAG": "MEGMAG", "MEGGRADPLANAR": "MEGGRADPLANAR"}


def propose_recording(group: Group) -> Proposal:
    def read(_name: str, path: Path) -> tuple[Any, ...]:
        found = read_recording(str(path), _opened)
        return found.channels, found.rate, _rounded_up(found.seconds), found.beside

    found, said = agreed(group, read)
    if found is None:
        return Proposal({}, (f"{said}; until then it is empty in the twin",))
    channels, rate, seconds, beside = found
    notes = [said] if said else []
    if unknown := sum(not channel.is_known for channel in channels):
        notes.append(f"{unknown} channels have names of their own: they are called by their number")
    most = int(MAX_SAMPLES / (rate * len(channels)))
    recording = {
        "channels": [{"name": each.name, "type": each.type, "units": each.units} for each in channels],
        "rate": round(rate) if group.ending in (".edf", ".bdf") else files_sidecars.rounded(rate),
        "seconds": max(1, min(seconds, most)),
    }
    if beside:
        recording["fdt"] = True
    notes.append("marks are left out: declare markers, with a rate, from the design of the experiment")
    return Proposal({"twin_recording": recording}, tuple(notes))


def propose_channels(group: Group) -> Proposal:
    """A pipeline that leaves out bad channels finds the column. Which were bad in whom is in no proposal."""

    def read(_name: str, path: Path) -> tuple[bool, tuple[Electrode, ...]]:
        text = head_of(path, _HEAD)
        return _STATUS in _cells(text)[0], tuple(_channel_rows(text))

    found, said = agreed(group, read)
    if found is None:
        return Proposal({"twin_table": {"columns": ASK}}, (said,))
    has_status, channels = found
    more = ("\tstatus", "\tgood") if has_status else ("", "")
    lines = "".join(f"{each.name}\t{each.type}\t{each.units}{more[1]}\n" for each in channels)
    kept = "name, type, units and status, which is good for all," if has_status else "name, type and units"
    notes = (f"columns but {kept} are left out", *((said,) if said else ()))
    return Proposal({"twin_text": f"name\ttype\tunits{more[0]}\n{lines}"}, notes)


def propose_electrodes(group: Group) -> Proposal:
    found, said = agreed(group, lambda _name, path: tuple(_named(head_of(path, _HEAD))))
    if found is None:
        return Proposal({"twin_table": {"columns": ASK}}, (said,))
    is_inside = "/ieeg/" in group.path  # where an electrode in a brain is, no system of names says
    lines = "".join(f"{name}\t{_place(None if is_inside else name)}\n" for name in found)
    notes = ("places are computed from names, n/a where none is known", *((said,) if said else ()))
    return Proposal({"twin_text": f"name\tx\ty\tz\n{lines}"}, notes)


def _opened(place: str) -> BinaryIO:
    return Path(place).open("rb")


def _rounded_up(seconds: float | None) -> int:
    return math.ceil(seconds / _STEP_SECONDS) * _STEP_SECONDS if seconds else _UNKNOWN_SECONDS


def _channel_rows(text: bytes) -> Iterator[Electrode]:
    header, *rows = _cells(text)
    named = header.index("name")
    unit = header.index("units") if "units" in header else None
    kind = header.index("type") if "type" in header else None
    units = ["uV" if unit is None else row[unit] for row in rows]
    found = files_headers.electrodes([row[named] for row in rows], units)
    for row, each in zip(rows, found, strict=True):
        declared = _SENSOR_TYPES.get(row[kind]) if kind is not None else None
        made = declared and files_headers.sensor(row[named], declared, MAGNETIC[declared])
        yield made or each


def _named(text: bytes) -> Iterator[str]:
    header, *rows = _cells(text)
    for each in files_headers.electrodes([row[header.index("name")] for row in rows], ["uV"] * len(rows)):
        yield each.name


def _cells(text: bytes) -> list[list[str]]:
    """Of a table with a column of names. Raises ValueError for any other."""
    lines = re.split(r"\r?\n", text.decode("utf-8-sig", "replace").rstrip("\r\n"))
    rows = [line.split("\t") for line in lines]
    if "name" not in rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise ValueError("it is no table of channels")
    return rows


def _place(name: str | None) -> str:
    """In millimetres, to the right, to the front and up."""
    found = position(name) if name is not None else None
    return "\t".join(f"{RADIUS_MM * part:.1f}" for part in found) if found else "n/a\tn/a\tn/a"
