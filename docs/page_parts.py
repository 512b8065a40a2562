"""What generated pages are put together from: the note at their top, tables, and words of the code."""

from __future__ import annotations

from collections.abc import Sequence

NOTE = "<!-- Written by docs/generate.py from the code. Change the code, then run it again. -->\n\n"


def table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def code(text: object) -> str:
    return f"`{text}`" if text not in ("", None) else ""
