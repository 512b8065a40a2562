"""One table, one level: the exact counts of cells and of pairs of cells that its mechanism asks for."""

from __future__ import annotations

from collections.abc import Iterator
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
from worker.twin.codes import cell_of, value_of

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
