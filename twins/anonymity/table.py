"""A table by column, as text: what the measures and the search read. No file, no quotes, no line ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from domain.errors import InvalidRequest

MISSING = ("", "n/a")
"""Cells that say nothing. They are a value like any other: an empty cell may be what sets somebody apart."""


@dataclass(frozen=True)
class TextTable:
    """`columns[i]` are the cells of `names[i]`; all columns have `rows` cells."""

    names: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    rows: int

    def column(self, name: str, *, field: str) -> tuple[str, ...]:
        """Raises InvalidRequest, on behalf of `field`, for a column that is not there."""
        if name not in self.names:
            raise InvalidRequest(
                field, f"names a column {name!r} that the table lacks.", "Check its spelling."
            )
        return self.columns[self.names.index(name)]


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> TextTable:
    """Of rows as long as the header. Raises InvalidRequest for two columns of one name, and for none."""
    twice = [name for name, count in Counter(header).items() if count > 1]
    if twice:
        raise InvalidRequest("table", f"has two columns named {twice[0]!r}.", "Rename one of them.")
    if not any(header):
        raise InvalidRequest("table", "has no header.", "Write the names of the columns on its first line.")
    columns = tuple(zip(*rows, strict=True)) if rows else tuple(() for _ in header)
    return TextTable(tuple(header), columns, len(rows))
