"""What a preview says of correlations that two means over people would give with less error.

Looks at the lock, and at tables of the twin: a number that a pipeline gives and that is, on the twin, the
correlation of two declared columns is taken for it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from domain.dataset import Declaration
from domain.dataset.table import Table
from domain.errors import InvalidRequest
from domain.formats import FORMATS
from domain.mechanism import SampleAggregateRequest
from domain.model import parse
from domain.outputs import values_of
from domain.people import ColumnBounds
from domain.pipeline import Manifest
from domain.shape.table import rows_of
from domain.shape.text import find_number
from dpgate.pipeline_folder import Lock
from dpgate.preview import BlocksPreview
from privacy.preview import Errors
from privacy.preview.two_means import TwoMeans, beside_luck, forecast_two_means, plain_correlation
from privacy.sample_aggregate import SampleAggregate

_WINS = 1.1
"""Times less error from which it is said."""

_SAME = 1e-6
"""Of a correlation that a pipeline wrote with so many digits."""

_MOST_COLUMNS = 40
_MOST_PEOPLE = 100_000
"""Of so many people noise is no trouble, and replays of blocks of one take long."""


@dataclass(frozen=True)
class NumberColumn:
    """A column of a twin's table with one row for each person; `cells` are None where there is no number."""

    table: str
    name: str
    bounds: tuple[float, float]
    cells: tuple[float | None, ...]


@dataclass(frozen=True)
class Better:
    """`entry` is what the manifest would say; `instead` is what was asked for: its errors, and that without
    noise. `table` has the columns of a pipeline's own correlation; None where five means were asked for."""

    name: str
    table: str | None
    entry: dict[str, Any]
    found: TwoMeans
    instead: tuple[Errors, float]

    @property
    def wins(self) -> bool:
        own, other = self.errors
        return own * _WINS <= other

    @property
    def errors(self) -> tuple[float, ...]:
        """Beside the luck of who is in the data: of two means, and of what was asked for."""
        return beside_luck((self.found.error, self.found.without_noise_95), self.instead)

    @property
    def words(self) -> str:
        x, y = self.entry["column"], self.entry["beside"]["column"]
        own, other = self.errors
        error = f"is {own:.2g} instead of {other:.2g}"
        if self.table is None:
            start = f"{self.name} is drawn as five means. As two its error {error}"
            act = "Type centre and spread of both columns, such as"
        else:
            start = (
                f"{self.name} is, on the twin, the correlation of {x} and {y} in {self.table}. Over people, "
                f"as two means, its error {error}"
            )
            act = f"With levels: [participant], let a run write {x} and {y} of its person, and type"
        return (
            f"{start} at the same epsilon, beside the luck of who is in the data, if people have the "
            f"centres and spreads of the twin's. {act} {json.dumps(self.entry, ensure_ascii=False)}"
        )

    @property
    def document(self) -> dict[str, Any]:
        return {
            "output": self.name,
            "table": self.table,
            "entry": self.entry,
            "on_twin": self.found.on_twin,
            "error": asdict(self.found.error),
            "instead": asdict(self.instead[0]),
            "beside_luck": list(self.errors),
        }


def better_correlations(
    found: BlocksPreview,
    request: SampleAggregateRequest,
    manifest: Manifest,
    lock: Lock,
    *,
    columns: Sequence[NumberColumn],
) -> tuple[Better, ...]:
    """Of the recommended choice, where two means have less error on the twin."""
    if lock.nominal_size > _MOST_PEOPLE:
        return ()
    values = values_of(manifest, lock.shape)
    asked = request.in_one_step(values, nominal_size=lock.nominal_size, accounting=lock.accounting)
    chosen = found.recommendation.choice.apply(asked)
    each = (
        *_of_five_means(found, chosen, manifest, lock),
        *_of_a_pipeline(found, chosen, manifest, lock, columns),
    )
    return tuple(better for better in each if better.wins)


def number_columns(declaration: Declaration, twin: Path) -> tuple[NumberColumn, ...]:
    """Of the twin's text tables with one row for each person; none where the policy wants larger blocks."""
    if declaration.policy.min_block_size > 1:
        return ()
    found = [
        column
        for table in declaration.tables
        if table.rows_per_person == "one" and not table.path.endswith(".parquet")
        for column in _columns(table, twin / table.path)
    ]
    return tuple(found[:_MOST_COLUMNS])


def correlated(number: float, columns: Sequence[NumberColumn]) -> tuple[NumberColumn, NumberColumn] | None:
    """The columns of one table of which it is the correlation, if there are any."""
    for one, other in combinations(columns, 2):
        both = [] if one.table != other.table else _both(one, other)
        found = plain_correlation([x for x, _ in both], [y for _, y in both])
        if found is not None and abs(found - number) <= _SAME:
            return one, other
    return None


def _columns(table: Table, path: Path) -> Iterator[NumberColumn]:
    is_read = path.exists() and path.stat().st_size <= FORMATS["table"].most_bytes
    read = rows_of(table.path, path.read_bytes()) if is_read else None
    if read is None:
        return
    headings, rows = read
    for column in table.columns:
        if column.kind in ("integer", "number") and column.name in headings:
            place = headings.index(column.name)
            cells = tuple(find_number(row[place]) for row in rows)
            yield NumberColumn(table.path, column.name, column.bounds, cells)


def _of_five_means(
    found: BlocksPreview, chosen: SampleAggregate, manifest: Manifest, lock: Lock
) -> Iterator[Better]:
    runs = [run for run in lock.outputs_of("blocks", 1) or () if run is not None]
    places = {value.name: place for place, value in enumerate(values_of(manifest, lock.shape))}
    for column in (column for output in manifest.outputs for column in output.columns):
        result = column.result
        if result is None or result.kind != "correlation":
            continue
        parts = [places[name] for name in result.parts]
        x, y = ([float(chosen.grids[part].value(run[part])) for run in runs] for part in parts[:2])
        two = forecast_two_means(chosen, x, y, without=parts, nominal_size=lock.nominal_size)
        row = found.results[column.name]
        instead = (row.error, row.without_noise_95)
        yield from _told(column.name, None, column.model_dump(mode="json", exclude_none=True), two, instead)


def _of_a_pipeline(
    found: BlocksPreview,
    chosen: SampleAggregate,
    manifest: Manifest,
    lock: Lock,
    columns: Sequence[NumberColumn],
) -> Iterator[Better]:
    """Of one whose only result is a correlation: what others would cost in a job of their own is another
    question."""
    if len(lock.twin_numbers) != 1 or manifest.needs_blocks_of_one:
        return
    (value,) = values_of(manifest, lock.shape)
    row = next(row for row in found.forecasts if row.choice == found.recommendation.choice)
    instead = (row.error, row.without_noise_95)
    alone = replace(chosen, repeats=1)
    pair = correlated(lock.twin_numbers[0], columns)
    if pair is None:
        return
    one, other = pair
    x, y = zip(*_both(one, other), strict=True)
    two = forecast_two_means(alone, x, y, without=(0,), nominal_size=lock.nominal_size)
    sides = [{"column": side.name, "lower": side.bounds[0], "upper": side.bounds[1]} for side in pair]
    entry = {**sides[0], "name": value.name, "aggregate": "correlation", "beside": sides[1]}
    yield from _told(value.name, one.table, entry, two, instead)


def _both(one: NumberColumn, other: NumberColumn) -> list[tuple[float, float]]:
    rows = zip(one.cells, other.cells, strict=True)
    return [(x, y) for x, y in rows if x is not None and y is not None and math.isfinite(x + y)]


def _told(
    name: str, table: str | None, entry: dict[str, Any], two: TwoMeans | None, instead: tuple[Errors, float]
) -> Iterator[Better]:
    """Nothing where a manifest would not take these centres and spreads between these bounds."""
    if two is None:
        return
    sides = [
        dict(zip(("centre", "spread"), each, strict=True))
        for each in zip(two.centres, two.spreads, strict=True)
    ]
    typed = {**entry, **sides[0], "beside": {**entry["beside"], **sides[1]}}
    try:
        parse(ColumnBounds, typed)
    except InvalidRequest:
        return
    yield Better(name, table, typed, two, instead)
