"""One table, one query: the exact sums that its mechanism releases with noise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from domain.dataset import Declaration
from domain.query import QueryRequest
from domain.scan_memory import passes
from worker.scan.cells import Parameters
from worker.scan.engine import Engine, opened
from worker.scan.rows import Pass, Rows
from worker.scan.source import Source
from worker.scan.totals import Bins, Sums, totals_of


@dataclass(frozen=True)
class Limits:
    """What the engine may use."""

    memory_mib: int = 1024
    threads: int = 2


def scan(
    source: Source,
    request: QueryRequest,
    declaration: Declaration,
    *,
    key: bytes,
    limits: Limits = Limits(),
) -> tuple[int, ...]:
    """The query's `width` exact sums, a secret. Raises ScanFailed, whose text has seen no data.

    Where a table has many rows per person, people are gone through in passes by a hash of their name: how
    many passes follows from the public nominal size, and each needs only its own people in memory. The key
    decides which rows of a person count where not all of them do.
    """
    totals = totals_of(request.mechanism_for(declaration))
    turns = _passes(request, declaration, limits)
    with opened(source, memory_mib=limits.memory_mib, threads=limits.threads) as engine:
        parts = [
            _one_pass(engine, source, request, declaration, totals, part=Pass(number, turns), key=key)
            for number in range(turns)
        ]
    return tuple(map(sum, zip(*parts, strict=True)))


def _one_pass(
    engine: Engine,
    source: Source,
    request: QueryRequest,
    declaration: Declaration,
    totals: Sums | Bins,
    *,
    part: Pass,
    key: bytes,
) -> list[int]:
    parameters = Parameters()
    rows = Rows(request, declaration, source, parameters, part, key)
    found = engine.rows(_statement(rows, totals), {**parameters.values, "place": source.place})
    groups = {group: position for position, group in enumerate(request.groups(declaration))}
    width = totals.width if isinstance(totals, Bins) else len(totals.finish(0, [0] * len(totals.aggregates)))
    filled = [0] * (len(groups) * width)
    for position, place, amount in _amounts(found, totals, depth=len(rows.groups), groups=groups):
        filled[position * width + place] += amount
    return filled


def _statement(rows: Rows, totals: Sums | Bins) -> str:
    # a NULL in the only column read takes no part in sums and counts of it
    counted = f"count({rows.units[0]})" if rows.units else "count(*)"
    select = [counted, *totals.aggregates] if isinstance(totals, Sums) else [totals.expression, counted]
    by = [str(number + 1) for number in range(len(rows.groups) + isinstance(totals, Bins))]
    group_by = f" GROUP BY {', '.join(by)}" if by else ""
    columns = ", ".join([*rows.groups, *select])
    return f"{rows.contributed()} SELECT {columns} FROM contributed{group_by}"  # noqa: S608  see Parameters


def _amounts(
    found: Sequence[tuple[Any, ...]], totals: Sums | Bins, *, depth: int, groups: dict[tuple[str, ...], int]
) -> Iterator[tuple[int, int, int]]:
    """(group, place among the group's sums, amount) for every row that the engine returned."""
    for row in found:
        position, values = groups[row[:depth]], row[depth:]
        if isinstance(totals, Bins):
            if values[0] is not None:
                yield position, int(values[0]), int(values[1])
            continue
        # the sum of no rows is NULL
        count, *sums = (int(value or 0) for value in values)
        for place, amount in enumerate(totals.finish(count, sums)):
            yield position, place, amount


def _passes(request: QueryRequest, declaration: Declaration, limits: Limits) -> int:
    rule = request.contribution(declaration)
    if rule is None:
        return 1
    return passes(
        nominal_size=declaration.nominal_size,
        rows=rule.rows or 1,
        values=len(request.query.read_columns) + len(request.query.by),
        is_choice=rule.rows is not None,
        memory_mib=limits.memory_mib,
    )
