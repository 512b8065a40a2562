"""How many rows of a table one person may contribute to a count: public, and what its noise is for."""

from __future__ import annotations

MAX_ROWS = 1000
"""Most rows that one person may contribute; noise grows in proportion."""


def check_rows(rows: int) -> None:
    """Raises ValueError for anything but a whole number from 1 to MAX_ROWS."""
    if isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= MAX_ROWS:
        raise ValueError(f"rows, the most that one person contributes, must be from 1 to {MAX_ROWS}.")
