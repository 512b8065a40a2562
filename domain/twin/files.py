"""The files of each person of a twin, at the paths that are declared, under the twin's own names of people.

Text, and volumes of plain noise, draw from the one generator of the whole twin, as the first twins did, to
the byte. Everything newer has a generator of its own for each person and path.
"""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator, Sequence

from domain.dataset import PERSON, Declaration, PersonFile
from domain.dataset.twin_content import TwinTable
from domain.twin.blank import blank_cell
from domain.twin.files_recordings import make_files
from domain.twin.files_volumes import make_file
from domain.twin.rules import number_of
from domain.twin_volume import make_volume

ONSET = "onset"


def person_files(
    declaration: Declaration, people: Sequence[str], draw: random.Random, *, seed: str
) -> Iterator[tuple[str, bytes]]:
    """Path and content of each. `seed` is the twin's; equal ones give equal bytes."""
    lacking = _lacking(declaration.person_files, people, seed)
    alike: dict[str, bytes] = {}
    for person in people:
        for file in declaration.person_files:
            path = file.path.replace(PERSON, person)
            if (person, file.path) in lacking:
                continue
            if file.twin_volume is not None and file.twin_volume.fill == "zeros":
                if file.path not in alike:
                    alike |= _own(file, file.path, random.Random(0))  # noqa: S311 - nothing is drawn
                yield path, alike[file.path]
            elif _is_as_ever(file):
                yield path, _as_ever(file, person, draw)
            else:
                own = random.Random(f"{seed}:{path}")  # noqa: S311 - not a secret
                yield from _own(file, path, own).items()


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


def _own(file: PersonFile, path: str, draw: random.Random) -> dict[str, bytes]:
    if file.twin_recording is not None:
        return make_files(path, file.twin_recording, draw)
    if file.twin_table is not None:
        return {path: _table(file.twin_table, draw, is_headless=path.endswith(".gz"))}
    assert file.twin_volume is not None
    return {path: make_file(file.twin_volume, draw, compressed=path.endswith(".gz"))}


def _table(table: TwinTable, draw: random.Random, *, is_headless: bool) -> bytes:
    """Text with tabs; one that is packed has no line of names, as BIDS has its continuous recordings."""
    names = [column.name for column in table.columns]
    spread = table.rows // 5 if ONSET in names and not is_headless else 0
    cells = [blank_cell(column) for column in table.columns]
    rows = [[cell("", draw) for cell in cells] for _ in range(table.rows + draw.randint(-spread, spread))]
    if ONSET in names:
        _rise(rows, names.index(ONSET), table.columns[names.index(ONSET)].missing)
    lines = rows if is_headless else [names, *rows]
    content = "".join("\t".join(line) + "\n" for line in lines).encode()
    return gzip.compress(content, mtime=0) if is_headless else content


def _rise(rows: list[list[str]], at: int, missing: str) -> None:
    """Onsets in rising order, in place; a missing one stays where it is."""
    present = [row for row in rows if row[at] != missing]
    rising = sorted((row[at] for row in present), key=number_of)
    for row, text in zip(present, rising, strict=True):
        row[at] = text
