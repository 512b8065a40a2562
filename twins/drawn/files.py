"""The files of each person of a twin, at the paths that are declared, under the twin's own names of people.

Text, and volumes of plain noise, draw from the one generator of the whole twin, as the first twins did, to
the byte. Everything newer has a generator of its own for each person and path.
"""

from __future__ import annotations

import gzip
import math
import random
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from domain.dataset import PERSON, Declaration, PersonFile
from domain.dataset.twin_content import ONSET
from formats import nifti
from twins.drawn.events import Event, events_of, make_table, table_of
from twins.drawn.files_recordings import make_files
from twins.drawn.files_volumes import make_file


def person_files(
    declaration: Declaration, people: Sequence[str], draw: random.Random, *, seed: str
) -> Iterator[tuple[str, bytes]]:
    """Path and content of each. `seed` is the twin's; equal ones give equal bytes."""
    lacking = _lacking(declaration.person_files, people, seed)
    events = _Events(declaration.person_files, seed)
    alike: dict[str, bytes] = {}
    for person in people:
        for file in declaration.person_files:
            path = file.path.replace(PERSON, person)
            if (person, file.path) in lacking:
                continue
            if file.twin_volume is not None and file.twin_volume.fill == "zeros":
                if file.path not in alike:
                    alike |= _own(file, file.path, random.Random(0), events, person)  # noqa: S311 - nothing is drawn
                yield path, alike[file.path]
            elif _is_as_ever(file):
                yield path, _as_ever(file, person, draw)
            else:
                yield from _own(file, path, own_draw(seed, path), events, person).items()


def own_draw(seed: str, path: str) -> random.Random:
    """The generator of one file of one person."""
    return random.Random(f"{seed}:{path}")  # noqa: S311 - not a secret


class _Events:
    """Which table of events stands beside which recording. A recording has what the table says that is drawn
    from the same seed, also where that person lacks the table."""

    def __init__(self, files: Sequence[PersonFile], seed: str) -> None:
        self._tables = {
            file.path: file.twin_table
            for file in files
            if file.twin_table is not None and ONSET in {column.name for column in file.twin_table.columns}
        }
        self._seed = seed
        self.rates = {
            place: file.twin_recording.rate
            for file in files
            if file.twin_recording is not None and (place := table_of(file.path)) in self._tables
        }

    def of(self, recording: PersonFile, person: str) -> Sequence[Event] | None:
        """None where no table of events stands beside it."""
        place = table_of(recording.path)
        if place is None or place not in self._tables or recording.twin_recording is None:
            return None
        draw = own_draw(self._seed, place.replace(PERSON, person))
        return events_of(self._tables[place], draw, rate=recording.twin_recording.rate)


def _lacking(files: Sequence[PersonFile], people: Sequence[str], seed: str) -> frozenset[tuple[str, str]]:
    """Who lacks which file. The first of the twin has all, and everybody has one."""
    found: set[tuple[str, str]] = set()
    for person in people[1:]:
        own = random.Random(f"{seed}:lacking:{person}")  # noqa: S311 - not a secret
        without = [file.path for file in files if file.missing_rate and own.random() < file.missing_rate]
        if without and len(without) == len(files):
            without.remove(own.choice(without))
        found |= {(person, path) for path in without}
    return frozenset(found)


def _is_as_ever(file: PersonFile) -> bool:
    is_new = file.twin_table is not None or file.twin_recording is not None
    volume = file.twin_volume
    if is_new or volume is None:
        return not is_new
    # a repetition time and a place are in the header alone, which its maker does not write
    is_plain = volume.orientation == "RAS" and volume.affine is None
    return volume.fill == "noise" and volume.repetition_time is None and is_plain


def _as_ever(file: PersonFile, person: str, draw: random.Random) -> bytes:
    volume = file.twin_volume
    if volume is None:
        return file.twin_text.replace(PERSON, person).encode()
    return make_volume(
        volume.shape,
        kind=volume.kind,
        lower=volume.lower,
        upper=volume.upper,
        zooms=volume.zooms,
        draw=draw,
        compressed=file.path.endswith(".gz"),
    )


def _own(file: PersonFile, path: str, draw: random.Random, events: _Events, person: str) -> dict[str, bytes]:
    if file.twin_recording is not None:
        return make_files(path, file.twin_recording, draw, events.of(file, person))
    if file.twin_table is not None:
        rate = events.rates.get(file.path)
        return {path: make_table(file.twin_table, draw, is_headless=path.endswith(".gz"), rate=rate)}
    assert file.twin_volume is not None
    return {path: make_file(file.twin_volume, draw, compressed=path.endswith(".gz"))}


# Volumes for a twin: the declared grid and type, voxels drawn at random inside the declared bounds.

VolumeKind = Literal["u1", "i1", "u2", "i2", "u4", "i4", "f4", "f8"]


def make_volume(
    shape: tuple[int, ...],
    *,
    kind: VolumeKind,
    lower: float,
    upper: float,
    draw: random.Random,
    zooms: tuple[float, ...] = (1.0, 1.0, 1.0),
    compressed: bool = False,
) -> bytes:
    """A NIfTI-1 file of `shape` voxels (3 or 4 axes), each drawn uniformly from [lower, upper].

    Whole-number types round. Equal states of `draw` give equal bytes. Raises ValueError for a shape that is
    none, or for bounds that the type cannot hold.
    """
    voxels = math.prod(shape)
    stored = np.dtype(kind)
    if not 1 <= len(shape) <= 4 or min(shape) < 1 or voxels * stored.itemsize > nifti.MAX_VOLUME_BYTES:
        raise ValueError(f"a twin's volume has 1 to 4 axes and at most {nifti.MAX_VOLUME_BYTES} bytes")
    if stored.kind in "ui" and (lower < np.iinfo(stored).min or upper > np.iinfo(stored).max):
        raise ValueError(f"voxels of type {kind} cannot hold all of {lower} to {upper}")
    shares = np.frombuffer(draw.randbytes(4 * voxels), dtype="<u4") / 2**32
    values = lower + shares * (upper - lower)
    if stored.kind in "ui":
        values = np.floor(values + 0.5).clip(math.ceil(lower), math.floor(upper))
    content = (
        nifti.new_header(shape, kind=kind, zooms=zooms) + values.astype(stored.newbyteorder("<")).tobytes()
    )
    return gzip.compress(content, mtime=0) if compressed else content
