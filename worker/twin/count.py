"""One table, one level: the exact counts of cells and of pairs of cells that its mechanism asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from domain.dataset import Table
from domain.scan_memory import passes
from domain.twin.cells import CellGrid
from domain.twin.request import COLUMNS_AT_ONCE
from privacy.twin import TwinMechanism
from privacy.twin.mechanism import starts
from worker.scan.cells import Parameters, person
from worker.scan.engine import Engine, opened
from worker.scan.limit import Lot, chosen
from worker.scan.rows import Pass
from worker.scan.scan import Limits
from worker.scan.source import Source
from worker.scan.winners import WON, Choice

# it gains nothing here, and takes time with the square of the columns of a statement
_SLOW_WITH_MANY_COLUMNS = "statistics_propagation"


@dataclass(frozen=True)
class Counting:
    """What is counted: the columns' cells in order, and which pairs."""

    table: Table
    grids: tuple[CellGrid, ...]
    mechanism: TwinMechanism
    nominal_size: int

    @property
    def is_of_many(self) -> bool:
        return self.table.rows_per_person == "many"

    def passes(self, limits: Limits) -> int:
        """How often people are gone through, each time a part of them by a hash of the name, so that only
        their rows need be in memory. Public: from the nominal size."""
        if not self.is_of_many:
            return 1
        return passes(
            nominal_size=self.nominal_size,
            rows=self.mechanism.rows,
            values=len(self.grids),
            is_choice=True,
            memory_mib=limits.memory_mib,
        )


def count(source: Source, counting: Counting, *, key: bytes, limits: Limits) -> tuple[int, ...]:
    """The mechanism's `width` exact counts, a secret. Raises ScanFailed, whose text has seen no data."""
    turns = counting.passes(limits)
    totals = [0] * counting.mechanism.width
    with opened(
        source, memory_mib=limits.memory_mib, threads=limits.threads, without=_SLOW_WITH_MANY_COLUMNS
    ) as engine:
        for part in _parts(counting):
            held = [1] * turns
            if counting.is_of_many:
                choice = _choice(source, counting, part, Pass(0, 1))
                held = choice.turns(engine, parts=turns, memory_mib=limits.memory_mib)
            for number in range(turns):
                turn = Pass(number, turns)
                if held[number] > 1:
                    choice = _choice(source, counting, part, turn)
                    choice.keep(engine, counting.mechanism.rows, key=key, turns=held[number])
                is_kept = held[number] > 1
                for place, amount in _counted(engine, source, counting, part, turn, key, is_kept=is_kept):
                    totals[place] += amount
    return tuple(totals)


def _parts(counting: Counting) -> Iterator[range]:
    """Columns that are counted in one go: all of them where pairs are, or else not so many that the statement
    grows without end. Each part chooses a person's rows by itself, and no more of them than the limit."""
    columns = len(counting.grids)
    step = columns if counting.mechanism.pairs else COLUMNS_AT_ONCE
    ends = [*range(0, columns, step), columns]
    yield from (range(start, end) for start, end in pairwise(ends))


def _counted(
    engine: Engine,
    source: Source,
    counting: Counting,
    part: range,
    turn: Pass,
    key: bytes,
    *,
    is_kept: bool,
) -> Iterator[tuple[int, int]]:
    """(place among the counts, rows)."""
    parameters = Parameters()
    names = [f"q{column}" for column in part]
    taking_part = "" if is_kept else _taking_part(source, counting, part, parameters, turn)
    kept = f"SELECT {', '.join(names)} FROM {WON}" if is_kept else "SELECT * FROM taking_part"  # noqa: S608
    if counting.is_of_many and not is_kept:
        kept = chosen(counting.mechanism.rows, Lot(key, parameters), groups=(), units=names)
    places = ", ".join(_places(counting, part))
    # of our own names and numbers alone, like all below; what is declared is bound
    placed = f"SELECT unnest([{places}]) AS place FROM contributed"  # noqa: S608
    relations = {"contributed": kept, "placed": placed}
    if not is_kept:
        relations = {"taking_part": taking_part, **relations}
    # each is used once: what is not kept in memory needs no room there
    chain = ", ".join(f"{name} AS NOT MATERIALIZED ({sql})" for name, sql in relations.items())
    sql = f"WITH {chain} SELECT place, count(*) FROM placed GROUP BY place"  # noqa: S608
    place = {} if is_kept else {"place": source.place}
    found = engine.rows(sql, {**parameters.values, **place})
    yield from ((int(place), int(amount)) for place, amount in found)


def _choice(source: Source, counting: Counting, part: range, turn: Pass) -> Choice:
    return Choice(
        lambda parameters: _taking_part(source, counting, part, parameters, turn),
        tuple(f"q{column}" for column in part),
        source.place,
    )


def _taking_part(source: Source, counting: Counting, part: range, parameters: Parameters, turn: Pass) -> str:
    """Every row as the cells that it falls into, and whose it is where a person has many."""
    values = [f"{value_of(counting.grids[column], source, parameters)} AS x{column}" for column in part]
    cells = [f"{cell_of(counting.grids[column], f'x{column}', parameters)} AS q{column}" for column in part]
    if not counting.is_of_many:
        read = f"SELECT {', '.join(values)} FROM {source.relation()}"  # noqa: S608
        return f"SELECT {', '.join(cells)} FROM ({read})"  # noqa: S608
    name = counting.table.person_column.name
    is_text = source.is_text(name)
    who = person(source.column(name), parameters, is_text=is_text)
    read = f"SELECT {', '.join(values)}, {who} AS person FROM {source.relation()}"  # noqa: S608
    conditions = ["person <> ''" if is_text else "person IS NOT NULL"]
    conditions += [f"hash(person) % {turn.of} = {turn.number}"] if turn.of > 1 else []
    return f"SELECT {', '.join(cells)}, person FROM ({read}) WHERE {' AND '.join(conditions)}"  # noqa: S608


def _places(counting: Counting, part: range) -> Iterator[str]:
    """SQL for where a row counts: once in each column, once in each pair."""
    cells, pairs = counting.mechanism.cells, counting.mechanism.pairs
    own = starts(cells)
    yield from (f"{own[column]} + q{column}" for column in part)
    joint = starts([cells[a] * cells[b] for a, b in pairs])
    for (a, b), start in zip(pairs, joint, strict=False):
        yield f"{own[-1] + start} + q{a} * {cells[b]} + q{b}"


# SQL for the cell that a value falls into: what `CellGrid.codes` says of the same text, and never NULL. In
# two steps, so that the engine reads each value once: what stands in the file as a value of its kind, then
# the cell of the value. Both look at one cell of the file alone and cannot fail. Edges are written as
# floats in full, so that the engine and `CellGrid` compare the same numbers.

# as in `CellGrid`: other spellings could be a number to one of the two readers alone
_DIGITS = "[0-9]+(?:_[0-9]+)*"
_NUMBER = rf"[ \t-\r]*[+-]?(?:{_DIGITS}\.?(?:{_DIGITS})?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?[ \t-\r]*"
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_MOMENT = rf"{_DATE}T(?:[01][0-9]|2[0-3])(?::[0-5][0-9]){{2}}"
_FIRST_DAY = "DATE '0001-01-01'"


def value_of(grid: CellGrid, source: Source, parameters: Parameters) -> str:
    """SQL for what the file says: text of a category, a double of anything else, NULL where it is neither."""
    name = grid.column.name
    cell, is_text = source.column(name), source.is_text(name)
    if grid.column.kind in ("integer", "number") and not is_text:
        return f"CAST({cell} AS DOUBLE)"
    text = cell if is_text else f"CAST({cell} AS VARCHAR)"
    if grid.column.kind == "categorical":
        return f"coalesce({text}, '')" if "" in grid.words else text
    missing = parameters.bind(grid.column.missing)
    if grid.column.kind == "date":
        return _days(text, missing, parameters, with_time=grid.column.with_time)
    form = parameters.bind(_NUMBER)
    is_number = f"{text} <> {missing} AND regexp_full_match({text}, {form})"
    return f"CASE WHEN {is_number} THEN TRY_CAST({text} AS DOUBLE) END"


def cell_of(grid: CellGrid, value: str, parameters: Parameters) -> str:
    """SQL for the number of the cell, 0 to count - 1, whatever the value is."""
    if grid.column.kind == "categorical":
        return _of_category(grid, value, parameters)
    special = [f"WHEN {value} = {_exact(number)} THEN {cell}" for number, cell in grid.specials]
    nothing = f"WHEN {value} IS NULL OR NOT isfinite({value}) THEN {grid.unknown}"
    return f"(CASE {' '.join([nothing, *special])} ELSE {_search(value, grid.edges, first=0)} END)"


def _days(text: str, missing: str, parameters: Parameters, *, with_time: bool) -> str:
    """Days since the year 1, as Python's ordinals; no day before it."""
    form = parameters.bind(_MOMENT if with_time else _DATE)
    is_day = f"{text} <> {missing} AND regexp_full_match({text}, {form})"
    day = f"CASE WHEN {is_day} THEN TRY_CAST({text} AS {'TIMESTAMP' if with_time else 'DATE'}) END"
    ordinal = f"CAST(date_diff('day', {_FIRST_DAY}, {day}) + 1 AS DOUBLE)"
    return f"CASE WHEN {day} >= {_FIRST_DAY} THEN {ordinal} END"


def _of_category(grid: CellGrid, value: str, parameters: Parameters) -> str:
    """One case for each cell, which may hold several categories."""
    by_cell: dict[int, list[str]] = {}
    for word, found in grid.words.items():
        by_cell.setdefault(found, []).append(word)
    cases = [f"WHEN {value} IN {parameters.bind_all(words)} THEN {found}" for found, words in by_cell.items()]
    return f"(CASE {' '.join(cases)} ELSE {grid.unknown} END)"


def _search(value: str, edges: Sequence[float], *, first: int) -> str:
    """SQL for the number of edges that are at most `value`, plus `first`: a binary search."""
    if not edges:
        return str(first)
    half = len(edges) // 2
    below = _search(value, edges[:half], first=first)
    above = _search(value, edges[half + 1 :], first=first + half + 1)
    return f"CASE WHEN {value} < {_exact(edges[half])} THEN {below} ELSE {above} END"


def _exact(number: float) -> str:
    """A literal that the engine reads as this very float: one with an exponent is no decimal."""
    return f"{number:.17e}"
