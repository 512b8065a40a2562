"""One table, one model: the rows that a training reads, person by person, in whole numbers.

They are original data. Nothing but a trainer may get them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from domain.dataset import Declaration, Table
from domain.query.columns import Clipped
from domain.query.filters import Comparison
from domain.training import Feature, Target, TrainingRequest
from privacy.grid import OutputGrid
from privacy.training import PeopleRows
from privacy.training.fixed_point import ERROR_BITS, INPUT_BITS
from worker.scan.cells import Parameters
from worker.scan.engine import opened
from worker.scan.limit import Lot, kept_of_each
from worker.scan.rows import Pass, Rows
from worker.scan.scan import Limits
from worker.scan.source import Source


@dataclass(frozen=True)
class _Columns:
    """What the training reads, as `Rows` takes it: numbers in `read_columns`, categories in `by`."""

    read_columns: tuple[Clipped, ...]
    by: tuple[str, ...]
    own_grids: tuple[OutputGrid, ...]
    where: tuple[Comparison, ...] = ()

    def grids(self, _table: Table, /) -> tuple[OutputGrid, ...]:
        return self.own_grids


@dataclass(frozen=True)
class _Asked:
    query: _Columns
    training: TrainingRequest

    def table(self, declaration: Declaration, /) -> Table:
        return self.training.table(declaration)

    def contribution(self, _declaration: Declaration, /) -> None:
        return None  # rows are limited here: each keeps its person


def read_people(
    source: Source,
    request: TrainingRequest,
    declaration: Declaration,
    *,
    key: bytes,
    limits: Limits | None = None,
) -> PeopleRows:
    """Rows that lack a value are left out. Of a person with more than the limit, rows are chosen by a lot
    that looks at this person alone. Raises ScanFailed, whose text has seen no data."""
    used: tuple[Feature | Target, ...] = (*request.features(declaration), request.target(declaration))
    parameters, engine_limits = Parameters(), limits or Limits()
    rows = Rows(_asked(used, request), declaration, source, parameters, Pass(0, 1), key)
    statement = _statement(rows, used, Lot(key, parameters), most=request.model.rows)
    with opened(source, memory_mib=engine_limits.memory_mib, threads=engine_limits.threads) as engine:
        found = engine.columns(statement, {**parameters.values, "place": source.place})
    return _people(found, used, request)


def _asked(used: Sequence[Feature | Target], request: TrainingRequest) -> _Asked:
    columns = _Columns(
        read_columns=tuple(Clipped(name=part.name) for part in used if part.grid is not None),
        by=tuple(part.name for part in used if part.grid is None),
        own_grids=tuple(part.grid for part in used if part.grid is not None),
    )
    return _Asked(columns, request)


def _statement(rows: Rows, used: Sequence[Feature | Target], lot: Lot, *, most: int) -> str:
    """Columns `person` (a number that means nothing), q0, ... and g0, ...; a person's rows together.

    Categories are numbered in their declared order, from 0.
    """
    names = [*rows.groups, *rows.units]
    there = " AND ".join(f"{name} IS NOT NULL" for name in names)
    taking_part = f"SELECT * FROM ({rows.taking_part()}) WHERE {there}"  # noqa: S608  see Parameters
    listed = (", ".join(map(lot.parameters.bind, part.categories)) for part in used if part.grid is None)
    numbered = [
        f"list_position([{categories}], {name}) - 1 AS {name}"
        for name, categories in zip(rows.groups, listed, strict=True)
    ]
    wanted = ", ".join([*rows.units, *numbered])
    if rows.table.rows_per_person == "one":
        return f"SELECT {wanted} FROM ({taking_part})"  # noqa: S608  as above
    kept = kept_of_each(most, lot, names)
    each = f"SELECT row_number() OVER () AS person, kept FROM ({kept})"  # noqa: S608  as above
    unpacked = f"SELECT person, unnest(kept, max_depth := 2) FROM ({each})"  # noqa: S608  as above
    start = f"WITH taking_part AS NOT MATERIALIZED ({taking_part})"
    return f"{start} SELECT person, {wanted} FROM ({unpacked}) ORDER BY person"  # noqa: S608  as above


def _people(
    found: Mapping[str, NDArray[np.generic]], used: Sequence[Feature | Target], request: TrainingRequest
) -> PeopleRows:
    *features, target = used
    values = _in_order(found, used)
    size = len(values[-1])
    inputs = np.zeros((size, sum(max(1, len(feature.categories)) for feature in features)), np.int16)
    at = 0
    for feature, column in zip(features, values, strict=False):
        if feature.grid is not None:
            inputs[:, at] = _scaled(column, feature.grid, bits=INPUT_BITS)
            at += 1
        for place in range(len(feature.categories)):
            inputs[:, at] = (column == place) * np.int16(2**INPUT_BITS)
            at += 1
    targets = values[-1] if target.grid is None else _scaled(values[-1], target.grid, bits=ERROR_BITS)
    person = found["person"].astype(np.int64) if "person" in found else np.arange(size)
    starts = np.flatnonzero(np.diff(person, prepend=-1, append=-1)) if size else np.zeros(1, np.int64)
    return PeopleRows(inputs, targets.astype(np.int32), starts.astype(np.int64), request.model.rows)


def _in_order(
    found: Mapping[str, NDArray[np.generic]], used: Sequence[Feature | Target]
) -> list[NDArray[np.int64]]:
    """The column of each feature and of the target."""
    numbers, words = count(), count()
    names = [f"q{next(numbers)}" if part.grid is not None else f"g{next(words)}" for part in used]
    return [found[name].astype(np.int64) for name in names]


def _scaled(steps: NDArray[np.int64], grid: OutputGrid, *, bits: int) -> NDArray[np.int64]:
    """Steps of the grid, 0 to `cells`, as whole units from -2^bits to 2^bits: the nearest, halves upwards."""
    return ((steps << (bits + 2)) + grid.cells) // (2 * grid.cells) - (1 << bits)
