"""`--format wp15`: tables as the tools of SIESTA's work package 15 have them, rows of numbers without names.

Theirs holds the noise itself, always the same for the same samples, and their addnoise adds it as it is. Ours
has that shape and holds scales: addnoise draws with them. What a row cannot say lies beside it, in a
description that addnoise needs: so a row that was computed otherwise is refused, never taken for a scale.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from companions.siesta.group_files import is_number
from companions.siesta.new_folder import write_secret
from companions.siesta.noise_table import NoiseTable, table_of, unnamed
from companions.siesta.samples import MERGED, Samples, read_samples
from dpgate.errors import DpgateError
from privacy.stability import LABEL

ROW = "noise.tsv"
WHAT = "scales of Laplace noise that addnoise draws; added as they are, they are no noise"


def read_merged(path: Path) -> Samples:
    """A merged table, or the folder it is in: one of dpgate's, or rows of numbers alone.

    Raises DpgateError, without quoting a cell, for rows of different lengths and cells that are no numbers.
    """
    path = path / MERGED if path.is_dir() else path
    rows = _rows(path)
    if not all(is_number(cell) for cell in rows[0]):
        return read_samples(path)
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise DpgateError(
                f"{path}, line {number}, has {len(row)} numbers, the first line {len(rows[0])}, so it has "
                "no row for each sample (a row for each file, for instance): merge the results anew with "
                "dpgate siesta mergegroup"
            )
        if not all(is_number(cell) for cell in row):
            raise DpgateError(f"{path}, line {number}, holds a cell that is no finite number")
    return Samples(unnamed(len(rows[0])), rows)


def named_alike(one: Samples, other: Samples) -> Samples:
    """With the names of the other where this table has none, and they are as many."""
    if one.names != unnamed(len(one.names)) or len(one.names) != len(other.names):
        return one
    return replace(one, names=other.names)


def row_of(path: Path) -> Path:
    """Where the row lies: a name without `.tsv` is a folder."""
    return path if path.suffix == ".tsv" else path / ROW


def write_row(table: NoiseTable, path: Path) -> None:
    """The scales as one row, and the description beside it. Raises DpgateError if one of them is there."""
    description = {"what": WHAT, "guarantee": "empirical", "label": LABEL, "noise": table.columns()}
    if path.exists():
        raise DpgateError(f"{path} is there already; remove it, or name another file")
    write_secret(_description(path), json.dumps(description, indent=2, ensure_ascii=False) + "\n")
    write_secret(path, "\t".join(repr(float(scale)) for scale in table.scales) + "\n")


def read_row(path: Path) -> NoiseTable:
    """A row that `write_row` wrote. Raises DpgateError for any other, and where the two do not fit."""
    rows, beside = _rows(path), _description(path)
    if not beside.is_file():
        raise DpgateError(
            f"{path} has no {beside.name} beside it, so dpgate did not write it. The row of "
            "work package 15's tool is no scale: nothing bounds it from below, and it is the same each time. "
            "Calibrate here, with --format wp15, from the merged table"
        )
    try:
        columns = json.loads(beside.read_bytes())["noise"]
        table = table_of({row: tuple(map(str, cells)) for row, cells in columns.items()})
    except (ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError) as error:
        raise DpgateError(f"{beside} is no description of calibratenoise: {error}") from None
    if [[float(cell) for cell in row if is_number(cell)] for row in rows] != [list(map(float, table.scales))]:
        raise DpgateError(f"{path} does not hold the scales of {beside.name}; calibrate anew")
    return table


def _description(path: Path) -> Path:
    return path.with_suffix(".json")


def _rows(path: Path) -> tuple[tuple[str, ...], ...]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise DpgateError(f"{path} is not UTF-8") from None
    if not text.strip():
        raise DpgateError(f"{path} is empty")
    return tuple(tuple(line.split("\t")) for line in text.splitlines())
