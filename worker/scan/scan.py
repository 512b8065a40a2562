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
    many passes follows from the public nominal size, and each needs only its own people in memory: of whoever
    has very many rows, a part at a time. The key decides which rows of a person count where not all do.
    """
    totals = totals_of(request.mechanism_for(declaration))
    turns = _passes(request, declaration, limits)
    with opened(source, memory_mib=limits.memory_mib, threads=limits.threads) as engine:
        one = _OnePass(engine, source, request, declaration, totals, key, limits.memory_mib)
        parts = [one.sums(part, held) for part, held in one.parts(turns)]
    return tuple(map(sum, zip(*parts, strict=True)))


@dataclass(frozen=True)
class _OnePass:
    engine: Engine
    source: Source
    request: QueryRequest
    declaration: Declaration
    totals: Sums | Bins
    key: bytes
    memory_mib: int

    def parts(self, passes: int) -> Iterator[tuple[Pass, int]]:
        """The parts of the people, and in how many turns the rows of each are held."""
        rule, rows = self.request.contribution(self.declaration), self._rows(Pass(0, 1), Parameters())
        if rule is None or not rows.choice.names:
            yield from ((Pass(number, passes), 1) for number in range(passes))
            return
        for number, turns in enumerate(
            rows.choice.turns(self.engine, parts=passes, memory_mib=self.memory_mib)
        ):
            if rule.rows is not None:
                yield Pass(number, passes), turns
            else:
                # of each person there are no more than groups: fewer people at a time are enough
                yield from ((Pass(number + passes * turn, passes * turns), 1) for turn in range(turns))

    def sums(self, part: Pass, turns: int) -> list[int]:
        parameters = Parameters()
        rows = self._rows(part, parameters)
        rule = self.request.contribution(self.declaration)
        if turns > 1:
            assert rule is not None
            assert rule.rows is not None
            rows.choice.keep(self.engine, rule.rows, key=self.key, turns=turns)
        place = {} if turns > 1 else {"place": self.source.place}
        found = self.engine.rows(
            _statement(rows, self.totals, is_kept=turns > 1), {**parameters.values, **place}
        )
        groups = {group: position for position, group in enumerate(self.request.groups(self.declaration))}
        width = _width(self.totals)
        filled = [0] * (len(groups) * width)
        for position, at, amount in _amounts(found, self.totals, depth=len(rows.groups), groups=groups):
            filled[position * width + at] += amount
        return filled

    def _rows(self, part: Pass, parameters: Parameters) -> Rows:
        return Rows(self.request, self.declaration, self.source, parameters, part, self.key)


def _width(totals: Sums | Bins) -> int:
    return totals.width if isinstance(totals, Bins) else len(totals.finish(0, [0] * len(totals.aggregates)))


def _statement(rows: Rows, totals: Sums | Bins, *, is_kept: bool) -> str:
    # a NULL in the only column read takes no part in sums and counts of it
    counted = f"count({rows.units[0]})" if rows.units else "count(*)"
    select = [counted, *totals.aggregates] if isinstance(totals, Sums) else [totals.expression, counted]
    by = [str(number + 1) for number in range(len(rows.groups) + isinstance(totals, Bins))]
    group_by = f" GROUP BY {', '.join(by)}" if by else ""
    columns = ", ".join([*rows.groups, *select])
    relations = rows.contributed(is_kept=is_kept)
    return f"{relations} SELECT {columns} FROM contributed{group_by}"  # noqa: S608  see Parameters


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
