"""SQL that brings the rows of each person down to a limit, by rules that look at one person's rows alone.

Both take a relation `taking_part` with columns person, g0, g1, ... and q0, q1, ... of rows that hold all of
them.
"""

from __future__ import annotations

from collections.abc import Sequence

_VALUE = {"mean": "CAST(sum({0}) // count(*) AS BIGINT)", "least": "min({0})", "greatest": "max({0})"}


def chosen(limit: int, *, groups: Sequence[str], units: Sequence[str]) -> str:
    """At most `limit` rows of each person: those with the least hashes of what they contribute.

    The choice is the same in every scan and depends on nobody else. It is no fair choice: a hash of what a
    row says takes the same values of everybody. Rows that tie contribute the same, so it makes no difference
    to any sum which of them is taken.
    """
    names = [*groups, *units]
    if not names:
        per_person = f"unnest(range(least(count(*), {limit})))"
        kept = f"SELECT {per_person} FROM taking_part GROUP BY person"  # noqa: S608  as below
        return f"SELECT 1 FROM ({kept})"  # noqa: S608  built from our own names alone
    packed = ", ".join(f"{name} := {name}" for name in names)
    content = ", '|', ".join(f"CAST({name} AS VARCHAR)" for name in names)
    least = f"arg_min(struct_pack({packed}), sha256(concat({content})), {limit})"
    of_person = f"SELECT {least} AS kept FROM taking_part GROUP BY person"  # noqa: S608  as above
    return f"SELECT unnest(kept, max_depth := 2) FROM ({of_person})"  # noqa: S608  as above


def reduced(reduce: str, *, groups: Sequence[str], units: Sequence[str]) -> str:
    """One row for each person: that of the group where most of their rows are (ties: the first by name), with
    the mean, least or greatest of their values in this group."""
    keys = ", ".join(["person", *groups])
    values = [f"{_VALUE[reduce].format(name)} AS {name}" for name in units]
    columns = ", ".join([keys, "count(*) AS held", *values])
    per_group = f"SELECT {columns} FROM taking_part GROUP BY {keys}"  # noqa: S608  as above
    if not groups:
        return per_group
    order = ", ".join(["held DESC", *groups])
    first = f"QUALIFY row_number() OVER (PARTITION BY person ORDER BY {order}) = 1"
    return f"SELECT * FROM ({per_group}) {first}"  # noqa: S608  as above
