"""One table, one model: the rows that a training reads, person by person, in whole numbers.

They are original data. Nothing but a trainer may get them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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
from worker.scan.engine import Engine, opened
from worker.scan.limit import Lot, kept_of_each
from worker.scan.rows import Pass, Rows
from worker.scan.scan import Limits
from worker.scan.source import Source
from worker.scan.winners import WON, Choice

# of the engine's memory a group of columns may take an eighth, as they lie in the file; and each column takes
# what is computed from it
_SHARE_OF_MEMORY = 8
_MOST_AT_ONCE = 256


@dataclass(frozen=True)
class _Columns:
    """What the training reads, as `Rows` takes it: numbers in `read_columns`, categories in `by`."""

    read_columns: tuple[Clipped, ...]
    by: tuple[str, ...]
    own_grids: tuple[OutputGrid, ...]
    where: tuple[Comparison, ...] = ()
    reads_down: bool = True

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
    engine_limits = limits or Limits()
    reading = _Reading(_asked(used, request), declaration, source, key, used, request.model.rows)
    passes = request.passes(declaration, memory_mib=engine_limits.memory_mib)
    with opened(source, memory_mib=engine_limits.memory_mib, threads=engine_limits.threads) as engine:
        if source.form == "parquet" and request.table(declaration).rows_per_person == "one":
            return _by_columns(engine, reading, engine_limits)
        parts = [
            _people(found, used, request)
            for found in reading.parts(engine, passes=passes, memory_mib=engine_limits.memory_mib)
        ]
    return parts[0] if len(parts) == 1 else _together(parts)


def _asked(used: Sequence[Feature | Target], request: TrainingRequest) -> _Asked:
    columns = _Columns(
        read_columns=tuple(Clipped(name=part.name) for part in used if part.grid is not None),
        by=tuple(part.name for part in used if part.grid is None),
        own_grids=tuple(part.grid for part in used if part.grid is not None),
    )
    return _Asked(columns, request)


@dataclass(frozen=True)
class _Reading:
    asked: _Asked
    declaration: Declaration
    source: Source
    key: bytes
    used: Sequence[Feature | Target]
    most: int
    is_numbered: bool = False

    def parts(
        self, engine: Engine, *, passes: int, memory_mib: int
    ) -> Iterator[dict[str, NDArray[np.generic]]]:
        """Columns q0, ... and g0, ..., a person's rows together, in an order that follows from these rows
        alone; `person` is a number that means nothing."""
        if self._is_one_each:
            yield self.of_one_each(engine)
            return
        held = self._choice(Pass(0, 1)).turns(engine, parts=passes, memory_mib=memory_mib)
        for number, turns in enumerate(held):
            parameters, part = Parameters(), Pass(number, passes)
            if turns > 1:
                self._choice(part).keep(engine, self.most, key=self.key, turns=turns)
                packed = ", ".join(f"{name} := {name}" for name in self._names)
                kept = f"SELECT list(struct_pack({packed})) AS kept FROM {WON} GROUP BY person"  # noqa: S608  as above
            else:
                rows = self._complete(parameters, part)
                chosen = kept_of_each(self.most, Lot(self.key, parameters), self._names)
                kept = f"WITH taking_part AS NOT MATERIALIZED ({rows}) {chosen}"
            each = f"SELECT row_number() OVER () AS person, kept FROM ({kept})"  # noqa: S608  as above
            unpacked = f"SELECT person, unnest(kept, max_depth := 2) FROM ({each})"  # noqa: S608  as above
            # by all that is in a row, too: lengths are running sums, which an order that others decide could
            # round otherwise
            order = ", ".join(["person", *self._names])
            yield self._columns(engine, f"({unpacked}) ORDER BY {order}", parameters, reads=turns == 1)

    def of_one_each(self, engine: Engine) -> dict[str, NDArray[np.generic]]:
        """The same of a table with one row per person, in any order."""
        parameters = Parameters()
        rows = self._complete(parameters, Pass(0, 1))
        return self._columns(engine, f"({rows})", parameters, reads=True)

    def some(self, used: Sequence[Feature | Target]) -> _Reading:
        """Of these columns alone, with each row's `place_in_file`."""
        return replace(self, asked=_asked(used, self.asked.training), used=used, is_numbered=True)

    def _columns(
        self, engine: Engine, rows: str, parameters: Parameters, *, reads: bool
    ) -> dict[str, NDArray[np.generic]]:
        """In the numbers that a trainer reads, of two or four bytes each: the engine makes them, and so only
        it holds wider ones, in its own memory. Categories are numbered in their declared order, from 0."""
        listed = (", ".join(map(parameters.bind, part.categories)) for part in self.used if part.grid is None)
        numbered = [
            _narrow(f"list_position([{categories}], {name}) - 1", name)
            for name, categories in zip(self._groups, listed, strict=True)
        ]
        bounded = [(part, part.grid) for part in self.used if part.grid is not None]
        units = [name for name in self._names if name not in self._groups]
        scaled = [
            _scaled(name, grid, is_target=isinstance(part, Target))
            for name, (part, grid) in zip(units, bounded, strict=True)
        ]
        place = {"place": self.source.place} if reads else {}
        whose = [] if self._is_one_each else ["person"]
        whose += ["place_in_file"] if self.is_numbered else []
        statement = f"SELECT {', '.join([*whose, *scaled, *numbered])} FROM {rows}"  # noqa: S608  as above
        return engine.columns(statement, {**parameters.values, **place})

    def _choice(self, part: Pass) -> Choice:
        return Choice(lambda parameters: self._complete(parameters, part), self._names, self.source.place)

    @property
    def _is_one_each(self) -> bool:
        return self.asked.table(self.declaration).rows_per_person == "one"

    @property
    def _groups(self) -> tuple[str, ...]:
        return self._rows(Parameters(), Pass(0, 1)).groups

    @property
    def _names(self) -> tuple[str, ...]:
        return (*self._groups, *self._rows(Parameters(), Pass(0, 1)).units)

    def _complete(self, parameters: Parameters, part: Pass) -> str:
        """The rows that lack nothing."""
        there = " AND ".join(f"{name} IS NOT NULL" for name in self._names)
        taking_part = self._rows(parameters, part).taking_part()
        return f"SELECT * FROM ({taking_part}) WHERE {there}"  # noqa: S608  see Parameters

    def _rows(self, parameters: Parameters, part: Pass) -> Rows:
        return Rows(
            self.asked,
            self.declaration,
            self.source,
            parameters,
            part,
            self.key,
            is_numbered=self.is_numbered,
        )


def _together(parts: Sequence[PeopleRows]) -> PeopleRows:
    before = np.cumsum([0, *(len(part.targets) for part in parts)])
    starts = [part.starts[:-1] + first for part, first in zip(parts, before, strict=False)]
    return PeopleRows(
        np.concatenate([part.inputs for part in parts]),
        np.concatenate([part.targets for part in parts]),
        np.concatenate([*starts, before[-1:]]).astype(np.int64),
        parts[0].most_rows,
    )


def _by_columns(engine: Engine, reading: _Reading, limits: Limits) -> PeopleRows:
    """A Parquet table with one row each: whole columns of a row group are in the engine's memory at once, so
    no more of them are read at a time than fit, and a row's cells come together by its place in the file."""
    size, groups = _rows_and_groups(engine, reading.source, reading.used, limits)
    inputs, targets = _inputs(size, reading.used), np.zeros(size, np.int32)
    found, at = np.zeros(size, np.int16), 0
    for group in groups:
        columns = reading.some(group).of_one_each(engine)
        rows = columns.pop("place_in_file").astype(np.int64)
        if isinstance(group[-1], Target):
            targets[rows] = columns.pop(_named(group)[-1][0])
        at = _fill(inputs, at, rows, columns, group)
        found[rows] += 1
    # what lacks a value in one group of columns is not among its rows
    complete = found == len(groups)
    starts = np.arange(np.count_nonzero(complete) + 1)
    return PeopleRows(inputs[complete], targets[complete], starts, reading.most)


def _rows_and_groups(
    engine: Engine, source: Source, used: Sequence[Feature | Target], limits: Limits
) -> tuple[int, list[Sequence[Feature | Target]]]:
    """Each thread holds a row group's part of each column; each group of columns opens the file once more.

    Threat: one person's long cell in one column has every column read by itself, and ends the training
    late, which others see. So each counts with its own largest part.
    """
    look = "SELECT column_id, sum(num_values), max(greatest(total_compressed_size, total_uncompressed_size)) "
    look += "FROM parquet_metadata($place) GROUP BY ALL"
    parts = engine.rows(look, {"place": source.place})
    largest = {source.header[number]: size for number, _, size in parts}
    room = limits.memory_mib * 2**20 // _SHARE_OF_MEMORY // limits.threads
    groups, taken, first = list[Sequence[Feature | Target]](), 0, 0
    for place, part in enumerate(used):
        size = largest.get(part.name, 0)
        if place > first and (taken + size > room or place - first == _MOST_AT_ONCE):
            groups.append(used[first:place])
            taken, first = 0, place
        taken += size
    return max((rows for _, rows, _ in parts), default=0), [*groups, used[first:]]


def _people(
    found: dict[str, NDArray[np.generic]], used: Sequence[Feature | Target], request: TrainingRequest
) -> PeopleRows:
    """Takes each column out of `found` as it is copied."""
    targets = found.pop(_named(used)[-1][0]).astype(np.int32)
    size = len(targets)
    person = found["person"].astype(np.int64) if "person" in found else np.arange(size)
    starts = np.flatnonzero(np.diff(person, prepend=-1, append=-1)) if size else np.zeros(1, np.int64)
    inputs = _inputs(size, used)
    _fill(inputs, 0, slice(None), found, used)
    return PeopleRows(inputs, targets, starts.astype(np.int64), request.model.rows)


def _inputs(size: int, used: Sequence[Feature | Target]) -> NDArray[np.int16]:
    return np.zeros((size, sum(part.inputs for part in used if isinstance(part, Feature))), np.int16)


def _fill(
    inputs: NDArray[np.int16],
    at: int,
    rows: slice | NDArray[np.int64],
    columns: dict[str, NDArray[np.generic]],
    used: Sequence[Feature | Target],
) -> int:
    """The inputs of these features, from input `at` on; the input behind them."""
    for name, part in _named(used):
        if isinstance(part, Target):
            continue
        column = columns.pop(name)
        if part.grid is not None:
            inputs[rows, at] = column
        for place in range(len(part.categories)):
            inputs[rows, at + place] = (column == place) * np.int16(2**INPUT_BITS)
        at += part.inputs
    return at


def _named(used: Sequence[Feature | Target]) -> list[tuple[str, Feature | Target]]:
    """Each feature, and the target, with its column."""
    numbers, words = count(), count()
    return [(f"q{next(numbers)}" if part.grid is not None else f"g{next(words)}", part) for part in used]


def _narrow(number: str, name: str) -> str:
    return f"CAST({number} AS SMALLINT) AS {name}"


def _scaled(name: str, grid: OutputGrid, *, is_target: bool) -> str:
    """SQL for steps of the grid, 0 to `cells`, as whole units from -2^bits to 2^bits: the nearest, halves
    upwards. The grid has less than 2^21 cells."""
    bits = ERROR_BITS if is_target else INPUT_BITS
    units = f"({name} * {2 ** (bits + 2)} + {grid.cells}) // {2 * grid.cells} - {2**bits}"
    return f"CAST({units} AS INTEGER) AS {name}" if is_target else _narrow(units, name)
