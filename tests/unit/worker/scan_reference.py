"""What a scan must find, worked out row by row in Python from the declaration and `contribution` alone."""

from __future__ import annotations

import hashlib
import math
import operator
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from factories import make_declaration

from domain.dataset import Column, Declaration, Table
from domain.query import QueryRequest
from privacy.grid import OutputGrid
from worker.scan import scan as scanning
from worker.scan.source import Source

KEY = bytes(range(32))

COMPARE = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge, "in": lambda value, values: value in values,
}  # fmt: skip

COLUMNS = [
    {"name": "person", "kind": "person"},
    {"name": "age", "kind": "integer", "lower": 0, "upper": 120},
    {"name": "height", "kind": "number", "lower": 1, "upper": 2.2, "missing": "-9"},
    {"name": "sex", "kind": "categorical", "categories": ["f", "m", "d"]},
    {"name": "site", "kind": "categorical", "categories": ["north", "so'uth", ""]},
]


def declaration_of(*, path: str = "people.csv", rows: str = "one", **overrides: Any) -> Declaration:
    """A data set of one table; `rows` per person."""
    table = {"path": path, "columns": COLUMNS, "rows_per_person": rows}
    unit = {"table": path, "column": "person"}
    return make_declaration(tables=[table], privacy_unit=unit, **overrides)


def ask(query: Mapping[str, Any], **overrides: Any) -> QueryRequest:
    return QueryRequest.model_validate({"dataset": "heights", "query": query, "epsilon": "1", **overrides})


def scan(
    source: Source,
    request: QueryRequest,
    declaration: Declaration,
    *,
    key: bytes = KEY,
    limits: scanning.Limits | None = None,
) -> tuple[int, ...]:
    """The scan that is tested, with a key of the tests unless one is given."""
    return scanning.scan(source, request, declaration, key=key, limits=limits or scanning.Limits())


def expected_totals(
    rows: Iterable[Mapping[str, str]], request: QueryRequest, declaration: Declaration
) -> tuple[int, ...]:
    """The exact sums under KEY, from the text of the cells."""
    table = request.table(declaration)
    query, groups = request.mechanism_for(declaration), request.groups(declaration)
    totals = [0] * query.width
    for group, units in _contributed(rows, request, table, declaration):
        place = [groups.index(group)] if request.query.by else []
        for position, amount in query.contribution([*place, *units]).items():
            totals[position] += amount
    return tuple(totals)


def _contributed(rows, request, table, declaration):
    rule = request.contribution(declaration)
    taking_part = [found for row in rows if (found := _taking_part(row, request, table)) is not None]
    if rule is None:
        return [(group, units) for _, group, units in taking_part]
    of_person = defaultdict(list)
    for person, group, units in taking_part:
        if person:
            of_person[person].append((group, units))
    limit = _limited(rule, is_down=_is_down(request.query))
    return [row for person, held in of_person.items() for row in limit(person, held)]


def _is_down(query) -> bool:
    """Which cell a value lies in decides."""
    return query.kind in ("histogram", "quantile")


def _limited(rule, *, is_down):
    if rule.rows is not None:
        return lambda person, held: _winners(person, held)[: rule.rows]
    return lambda person, held: [_reduced(person, held, rule.reduce, is_down=is_down)]


def _winners(person, held):
    """The rows by their tickets: those of one content are numbered, so that none stands for the others."""
    seen, tickets = Counter(), []
    for group, units in held:
        number = seen[group, *units]
        seen[group, *units] += 1
        tickets.append((_ticket(person, number, *group, *units), group, units))
    return [(group, units) for _, group, units in sorted(tickets)]


def _ticket(*values):
    """As docs/explanation/privacy/trusted-query.md has it."""
    spelled = b"".join(b"%d:%s" % (len(told), told) for told in (str(value).encode() for value in values))
    return hashlib.sha256(KEY.hex().encode() + spelled).hexdigest()


def _reduced(person, held, reduce, *, is_down):
    counts = Counter(group for group, _ in held)
    most = max(counts.values())
    ties = [group for group, number in counts.items() if number == most]
    group = min(ties, key=lambda group: _ticket(person, *group))
    columns = list(zip(*(units for found, units in held if found == group), strict=True))
    half = Fraction(0 if is_down else 1, 2)
    mean = lambda values: math.floor(Fraction(sum(values), len(values)) + half)  # noqa: E731
    rule = {"mean": mean, "least": min, "greatest": max}[reduce]
    return group, [rule(values) for values in columns]


def _taking_part(row, request, table: Table):
    """(person, group, units), or None for a row that lacks something or fails a condition."""
    query = request.query
    half = 0.0 if _is_down(query) else 0.5
    units = [
        _steps(row[column.name], _column(table, column.name), grid, half)
        for column, grid in zip(query.read_columns, query.grids(table), strict=True)
    ]
    group = tuple(_category(row[name], _column(table, name)) for name in query.by)
    if None in units or None in group or not all(_holds(row, c, table) for c in query.where):
        return None
    return row[table.person_column.name].strip(), group, units


def _holds(row, comparison, table: Table) -> bool:
    column = _column(table, comparison.column)
    if column.kind == "categorical":
        value = _category(row[column.name], column)
        wanted = comparison.value
    else:
        value = _measured(row[column.name], column)
        wanted = comparison.value
    return value is not None and COMPARE[comparison.operator](value, wanted)


def _steps(cell: str, column: Column, grid: OutputGrid, half: float = 0.0) -> int | None:
    try:
        number = math.nan if cell == column.missing else float(cell)
    except ValueError:
        return None
    exact = (number - float(grid.lower)) * float(1 / grid.step)
    if not math.isfinite(exact) or not -(2**63) <= exact < 2**63:
        return None
    return min(max(math.floor(exact + half), 0), grid.cells)


def _measured(cell: str, column: Column) -> float | None:
    """The number itself, between the declared bounds."""
    if _steps(cell, column, OutputGrid.build(column.lower, column.upper)) is None:
        return None
    return min(max(float(cell), column.lower), column.upper)


def _category(cell: str, column: Column) -> str | None:
    return cell if cell in column.categories else None


def _column(table: Table, name: str) -> Column:
    return next(column for column in table.columns if column.name == name)
