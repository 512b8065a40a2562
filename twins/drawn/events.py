"""Events of a person in a twin: one draw gives the rows of their table, the marks of the recording beside it
and what its stimulus channels hold, so that epochs cut by any of the three are the same.

The table stands beside the recording as BIDS has it: `x_events.tsv` beside `x_eeg.vhdr`. There `sample` is
the onset in samples, the first of a file being 0.
"""

from __future__ import annotations

import gzip
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from domain.dataset import Column
from domain.dataset.twin_content import ONSET, RECORDINGS, RecordedChannel, TwinRecording, TwinTable
from domain.twin.cells import written
from domain.twin.lattice import Lattice
from twins.drawn.blank import blank_cell
from twins.drawn.rules import number_of

SAMPLE, TRIAL_TYPE, VALUE = "sample", "trial_type", "value"
_PULSE_SECONDS = 0.01
_HIGHEST_CODE = 2**15 - 1

Row = list[str]


@dataclass(frozen=True)
class Event:
    """`at`: its sample, the first being 0. `kind`: which kind of trial. `names`: its value and trial type."""

    at: int
    kind: int
    names: tuple[str, ...]

    @property
    def code(self) -> int:
        """What a stimulus channel holds: the event's value where that is a whole number, else its kind."""
        for name in self.names:
            if name.isdecimal() and 0 < int(name) <= _HIGHEST_CODE:
                return int(name)
        return min(self.kind + 1, _HIGHEST_CODE)


def table_of(recording: str) -> str | None:
    """Where the table of events of a recording stands, if it is one."""
    for ending in RECORDINGS:
        if recording.endswith(ending) and "_" in recording:
            return f"{recording.removesuffix(ending).rpartition('_')[0]}_events.tsv"
    return None


def make_table(table: TwinTable, draw: random.Random, *, is_headless: bool, rate: float | None) -> bytes:
    """Text with tabs; one that is packed has no line of names, as BIDS has its continuous recordings.

    `rate`: samples a second of the recording beside it.
    """
    names = [column.name for column in table.columns]
    rows = _rows(table, draw, has_spread=not is_headless, rate=rate)
    lines = rows if is_headless else [names, *rows]
    content = "".join("\t".join(line) + "\n" for line in lines).encode()
    return gzip.compress(content, mtime=0) if is_headless else content


def events_of(table: TwinTable, draw: random.Random, *, rate: float) -> list[Event]:
    """What the rows of the same draw say, in the order of their onsets. A row without an onset is none."""
    at = {column.name: place for place, column in enumerate(table.columns)}
    kinds = _kinds(table)
    events = []
    for row in _rows(table, draw, has_spread=True, rate=rate):
        if row[at[ONSET]] != table.columns[at[ONSET]].missing:
            said = tuple(row[at[name]] for name in (VALUE, TRIAL_TYPE) if name in at)
            kind = next((kinds[name] for name in reversed(said) if name in kinds), 0)
            events.append(Event(round(number_of(row[at[ONSET]]) * _exact(rate)), kind, said))
    return events


def marks_of(recording: TwinRecording, events: Sequence[Event]) -> list[Mark]:
    """Each at its event: the marker of that name, or the one that stands where its kind does."""
    by_name = {marker.name: number for number, marker in enumerate(recording.markers)}
    return [
        (
            1 + event.at,
            next((by_name[name] for name in event.names if name in by_name), event.kind % len(by_name)),
        )
        for event in events
        if by_name and event.at < recording.samples
    ]


def pulses(recording: TwinRecording, events: Sequence[Event]) -> Samples:
    """The steps of a stimulus channel: for 10 ms from each event its code, and 0 between."""
    steps = np.zeros(recording.samples, dtype=np.int16)
    width = max(1, round(_PULSE_SECONDS * recording.rate))
    for number, event in enumerate(events):
        following = events[number + 1].at if number + 1 < len(events) else recording.samples
        # a pulse that touched the next would hide it: one sample between them is 0 where there is room
        end = min(event.at + width, max(following - 1, event.at + 1))
        steps[event.at : end] = event.code
    return steps


def _rows(table: TwinTable, draw: random.Random, *, has_spread: bool, rate: float | None) -> list[Row]:
    """Cells of their columns; where there are onsets, they rise with a gap, and what follows from onset and
    kind of trial does."""
    at = {column.name: place for place, column in enumerate(table.columns)}
    spread = table.rows // 5 if ONSET in at and has_spread else 0
    cells = [blank_cell(column) for column in table.columns]
    rows = [[cell("", draw) for cell in cells] for _ in range(table.rows + draw.randint(-spread, spread))]
    if ONSET not in at:
        return rows
    onset = table.columns[at[ONSET]]
    present = [row for row in rows if row[at[ONSET]] != onset.missing]
    _rise(present, at[ONSET], onset, table.smallest_gap)
    if rate is not None and SAMPLE in at and table.columns[at[SAMPLE]].kind in ("integer", "number"):
        sample = table.columns[at[SAMPLE]]
        for row in present:
            point = round(number_of(row[at[ONSET]]) * _exact(rate)) * Lattice.of(sample).unit
            row[at[SAMPLE]] = written(sample, Lattice.of(sample), point)
    if values := _values(table):
        for row in rows:
            row[at[VALUE]] = values.get(row[at[TRIAL_TYPE]], row[at[VALUE]])
    return rows


def _rise(rows: list[Row], at: int, onset: Column, gap: float) -> None:
    """Onsets in rising order, in place. With a gap, they are drawn in what the gaps leave of the time, and
    each is later by the gaps before it."""
    rising = sorted((row[at] for row in rows), key=number_of)
    if gap:
        lattice = Lattice.of(onset)
        room, least = lattice.last - lattice.first, math.ceil(_exact(gap) * lattice.unit)
        left = room - (len(rows) - 1) * least
        points = [math.floor(number_of(text) * lattice.unit) - lattice.first for text in rising]
        shrunk = [min(max(point, 0), room) * left // max(room, 1) for point in points]
        rising = [
            written(onset, lattice, lattice.first + point + number * least)
            for number, point in enumerate(shrunk)
        ]
    for row, text in zip(rows, rising, strict=True):
        row[at] = text


def _kinds(table: TwinTable) -> Mapping[str, int]:
    """Which kind of trial a category is: of `trial_type`, or of `value` where there is none."""
    columns = {column.name: column for column in table.columns}
    found = next((columns[name] for name in (TRIAL_TYPE, VALUE) if _is_plain(columns.get(name))), None)
    return {} if found is None else {category: kind for kind, category in enumerate(found.categories)}


def _values(table: TwinTable) -> Mapping[str, str]:
    """The value of each kind of trial, where both are declared and there are enough values."""
    columns = {column.name: column for column in table.columns}
    trial, value = columns.get(TRIAL_TYPE), columns.get(VALUE)
    if trial is None or value is None or not _is_plain(trial):
        return {}
    if _is_plain(value):
        known: Sequence[str] = value.categories
    elif value.kind == "integer" and _is_kept(value):
        lattice = Lattice.of(value)
        start = max(lattice.first, min(1, lattice.last))
        room = min(len(trial.categories), lattice.last - start + 1)
        known = [lattice.text(start + kind) for kind in range(room)]
    else:
        known = ()
    return dict(zip(trial.categories, known, strict=False)) if len(known) >= len(trial.categories) else {}


def _is_plain(column: Column | None) -> bool:
    """Whether its cells are its categories as they are declared."""
    return column is not None and column.kind == "categorical" and _is_kept(column)


def _is_kept(column: Column) -> bool:
    return column.pii is None or column.pii.decision == "keep"


def _exact(number: float) -> Fraction:
    return Fraction(repr(number))


# What the writers of recordings share: samples as whole steps, and marks.

Samples = NDArray[np.int16]
"""Steps: a row for each channel."""

Mark = tuple[int, int]
"""The sample that it stands at, counted from 1, and the number of its marker."""


def resolution(channel: RecordedChannel) -> float:
    """Units of a channel for a step of one; not of magnetic ones. A stimulus channel holds whole codes."""
    return 1.0 if channel.type == "TRIG" else 0.1
