"""A choice among the rows of people in bounded memory, however many rows anybody has.

Until a person's winners are known, all rows of that person that differ are held. Where a look says that they
are too many to be held at once, they are gone through in turns by a hash of what is in them, and the winners
so far alone are held between turns. Tickets are the same in any number of turns, and so are the winners. How
many turns there are depends on the rows: it moves the time that a scan takes, and nothing that it finds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from worker.scan.cells import Parameters
from worker.scan.engine import Engine
from worker.scan.limit import Lot, tickets

WON = "won"
"""The table of winners: `person`, `ticket`, and the columns of the rows."""

# at least what the engine was seen to keep of a row while rows are counted that are alike, of a value in it,
# and, of memory, for all of them: at once, and of one of several turns, beside which winners are held twice
_BYTES_PER_ROW, _BYTES_PER_VALUE = 64, 16
_AT_ONCE, _IN_TURNS = 3 / 8, 1 / 4


@dataclass(frozen=True)
class Choice:
    """Among rows that have `person` and at least one of `names`: at most `limit` of each person.

    `rows` is SQL for them, and binds what it compares.
    """

    rows: Callable[[Parameters], str]
    names: Sequence[str]
    place: str

    def turns(self, engine: Engine, *, parts: int, memory_mib: int) -> list[int]:
        """For each part of the people, by a hash of their names: in how many turns its rows are held."""
        parameters = Parameters()
        texts = ", ".join(f"CAST({name} AS VARCHAR)" for name in ["person", *self.names])
        look = (
            f"SELECT hash(person) % {parts}, approx_count_distinct(hash({self._keys})), count(*), "  # noqa: S608
            f"max(strlen(concat({texts}))) FROM ({self.rows(parameters)}) GROUP BY 1"
        )
        found = [1] * parts
        for part, different, rows, longest in engine.rows(look, self._bound(parameters)):
            # an estimate, within some hundredths
            held = min(1.2 * different, rows) * (
                _BYTES_PER_ROW + _BYTES_PER_VALUE * len(self.names) + longest
            )
            memory = memory_mib * 2**20
            if held > memory * _AT_ONCE:
                found[part] = int(held // (memory * _IN_TURNS)) + 1
        return found

    def keep(self, engine: Engine, limit: int, *, key: bytes, turns: int) -> None:
        """Leaves the winners in the table `WON`."""
        engine.drop(WON)
        for turn in range(turns):
            parameters = Parameters()
            own = f"hash({self._keys}) % {turns} = {turn}"
            rows = f"SELECT * FROM ({self.rows(parameters)}) WHERE {own}"  # noqa: S608  our own names alone
            drawn = tickets(Lot(key, parameters), self.names, rows)
            if turn:
                drawn = f"{_least(self._columns, limit, drawn)} UNION ALL FROM {WON}"
            engine.keep(WON, _least(self._columns, limit, drawn), self._bound(parameters))

    @property
    def _keys(self) -> str:
        return ", ".join(["person", *self.names])

    @property
    def _columns(self) -> Sequence[str]:
        return ["person", "ticket", *self.names]

    def _bound(self, parameters: Parameters) -> dict[str, object]:
        return {**parameters.values, "place": self.place}


def _least(columns: Sequence[str], limit: int, drawn: str) -> str:
    packed = ", ".join(f"{name} := {name}" for name in columns)
    least = f"arg_min(struct_pack({packed}), ticket, {limit})"
    kept = f"SELECT {least} AS kept FROM ({drawn}) GROUP BY person"  # noqa: S608  built from our own names alone
    return f"SELECT unnest(kept, max_depth := 2) FROM ({kept})"  # noqa: S608  as above
