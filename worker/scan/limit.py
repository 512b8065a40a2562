"""SQL that brings the rows of each person down to a limit, by rules that look at one person's rows alone.

Both take a relation `taking_part` with columns person, g0, g1, ... and q0, q1, ... of rows that hold all of
them, and a lot: which rows or groups of a person win is a keyed hash, fair to every value and the same in
every scan.

Sensitivity. The tickets of a row are a function of the lot's key, the person's name and that person's rows;
the winners of a person are the least of the person's own tickets. So for every fixed key, a person who comes
or goes takes along at most `limit` rows (one where rows are reduced), and the rows that count of everybody
else are the same ones. A release is epsilon-differentially private for each fixed key, however many releases
share it, and so it is for a key drawn at random, provided that the key does not depend on the rows: it
belongs to the data set's version, whose id is random, and never to a digest of what is in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from worker.scan.cells import Parameters

KEY_BYTES = 32
_BLOCK = 1024

_MEAN = "CAST((sum({0}) + {half}) // count(*) AS BIGINT)"
_VALUE = {"mean": _MEAN, "least": "min({0})", "greatest": "max({0})"}


@dataclass(frozen=True)
class Lot:
    """By what rows of a person win against each other; the key is bound, never spliced.

    A ticket is SHA-256 of the key, 64 hexadecimal digits and so a block of the hash of its own, and of texts
    that each say their length first: no two lists of texts spell the same bytes. Nobody sees a ticket.
    """

    key: bytes
    parameters: Parameters

    def ticket(self, *values: str) -> str:
        """SQL for the ticket of these values, of which the first names the person."""
        if len(self.key) != KEY_BYTES:
            raise ValueError(f"the key of a choice must have {KEY_BYTES} bytes.")
        texts = [f"CAST({value} AS VARCHAR)" for value in values]
        spelled = ", ".join(f"strlen({text}), ':', {text}" for text in texts)
        return f"sha256(concat({self.parameters.bind(self.key.hex())}, {spelled}))"


def chosen(limit: int, lot: Lot, *, groups: Sequence[str], units: Sequence[str]) -> str:
    """At most `limit` rows of each person: a simple random sample of them, by the lot.

    Rows of a person that contribute the same are told apart by their number among those, so each of them has
    a ticket of its own. Which of them has which makes no difference to any sum, so the order of the file has
    no part in the choice.
    """
    names = [*groups, *units]
    if not names:
        per_person = f"unnest(range(least(count(*), {limit})))"
        kept = f"SELECT {per_person} FROM taking_part GROUP BY person"  # noqa: S608  as below
        return f"SELECT 1 FROM ({kept})"  # noqa: S608  built from our own names alone
    return f"SELECT unnest(kept, max_depth := 2) FROM ({kept_of_each(limit, lot, names)})"  # noqa: S608  as above


def kept_of_each(limit: int, lot: Lot, names: Sequence[str]) -> str:
    """The same as one list `kept` for each person, in no order; of at least one column."""
    packed = ", ".join(f"{name} := {name}" for name in names)
    least = f"arg_min(struct_pack({packed}), ticket, {limit})"
    drawn = tickets(lot, names, "FROM taking_part")
    return f"SELECT {least} AS kept FROM ({drawn}) GROUP BY person"  # noqa: S608  as above


def tickets(lot: Lot, names: Sequence[str], rows: str) -> str:
    """`person`, `ticket` and the columns of each row. What is alike is counted, and numbered in blocks: a
    list of all its numbers would be as long as one person's rows are many."""
    keys = ", ".join(["person", *names])
    alike = f"SELECT {keys}, count(*) AS held FROM ({rows}) GROUP BY {keys}"  # noqa: S608  as above
    blocks = f"SELECT *, unnest(range(0, held, {_BLOCK})) AS start FROM ({alike})"  # noqa: S608  as above
    numbers = f"unnest(range(start, least(held, start + {_BLOCK})))"
    each = f"SELECT {keys}, {numbers} AS turn FROM ({blocks})"  # noqa: S608  as above
    return f"SELECT {keys}, {lot.ticket('person', 'turn', *names)} AS ticket FROM ({each})"  # noqa: S608  as above


def reduced(reduce: str, lot: Lot, *, groups: Sequence[str], units: Sequence[str], is_down: bool) -> str:
    """One row for each person: that of the group where most of their rows are (ties: by the lot), with the
    mean, least or greatest of their values in this group. A mean is whole: the step below, or the nearest."""
    half = "0" if is_down else "count(*) // 2"
    keys = ", ".join(["person", *groups])
    values = [f"{_VALUE[reduce].format(name, half=half)} AS {name}" for name in units]
    columns = ", ".join([keys, "count(*) AS held", *values])
    per_group = f"SELECT {columns} FROM taking_part GROUP BY {keys}"  # noqa: S608  as above
    if not groups:
        return per_group
    order = f"held DESC, {lot.ticket('person', *groups)}"
    first = f"QUALIFY row_number() OVER (PARTITION BY person ORDER BY {order}) = 1"
    return f"SELECT * FROM ({per_group}) {first}"  # noqa: S608  as above
