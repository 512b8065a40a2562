"""The levels of a twin, in the words that its rights holder and its users read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from domain.dataset import Declaration
from domain.twin.counts import TableCounts

README = "TWIN-README.md"
LABEL = (
    "BLANK FORM: made without opening the data. Every value was drawn at random inside the declared bounds "
    "and categories; columns do not belong together. Privacy budget spent: 0."
)
"""Of a twin at level 0, for those who use it."""

CUSTODIAN_LABELS: Mapping[int, str] = {
    0: "Blank form: made without opening your data",
    1: "Each column looks right, columns do not belong together",
    2: "Columns and their strongest pairs look right",
    3: "NOT anonymous: real values in mixed order. Treat as personal data",
}
LOOKED_AT = "schema reveals values you looked at"
SHOWS: Mapping[int, str] = {
    0: "Nothing about people, as long as every declared item was decided without looking, or is public.",
    1: "Each column's shape, within the noise; no row was copied from anybody, no link between columns.",
    2: "Each column's shape and the strongest pairs of columns, within the noise; no row was copied from "
    "anybody.",
    3: "Every value that only one person has, the number of people, the smallest and largest value, text.",
}
_COUNTED = {
    1: "each column was counted by itself, so columns do not belong together",
    2: "columns and their strongest pairs were counted",
}


def label(level: int, *, looked_at: Iterable[str] = ()) -> str:
    """The label that a rights holder reads; `looked_at` are columns whose declaration came from the data."""
    names = ", ".join(looked_at)
    return f"{CUSTODIAN_LABELS[level]}; {LOOKED_AT} ({names})" if names else CUSTODIAN_LABELS[level]


def columns_looked_at(declaration: Declaration) -> tuple[str, ...]:
    """Columns whose bounds or categories were typed in after a look at the data."""
    return tuple(
        column.name
        for table in declaration.tables
        for column in table.columns
        if column.basis == "looked_at_data"
    )


def readme(declaration: Declaration, counts: Mapping[str, TableCounts]) -> bytes:
    """What the twin is, for a file beside it."""
    if not counts:
        return f"# Twin of {declaration.title}\n\n{LABEL}\n".encode()
    lines = [f"# Twin of {declaration.title}", ""]
    for table in declaration.tables:
        found = counts.get(table.path)
        if found is None:
            lines += [f"- `{table.path}`: {LABEL}"]
            continue
        blank = len(table.columns) - len(found.columns)
        rest = f" The other {blank} of its columns are a blank form." if blank else ""
        lines += [
            f"- `{table.path}`: LEVEL {found.level}, drawn from noisy counts of {len(found.columns)} "
            f"columns: {_COUNTED[found.level]}. Each set of counts is released and charged once, of "
            f"class pure_dp; its certificate names what it cost.{rest}"
        ]
    lines += ["", "No row was copied from anybody. Names of people are made up.", ""]
    return "\n".join(lines).encode()
