"""The texts that go with a scrambled folder: the note inside it, and the leak report that stays behind."""

from __future__ import annotations

from collections.abc import Sequence

from companions.scramble import OUTSIDE
from companions.scramble.agreement import Agreement
from companions.scramble.identifiers import Identifier
from companions.scramble.leaks import ColumnLeaks, TableLeaks

_DOES = {
    "stub": "Cells are emptied. The number of rows and people stays, and the names of columns and files.",
    "permute": "The cells of each column are in another order. Every value of somebody stands there again.",
    "swap": "Some cells of each column have traded places. Most rows are still nearly somebody's.",
    "jitter": "Numbers are moved a little. Everything that is no number stands in somebody's row as it was.",
    "bidscramble": "BIDScramble put the cells of each column in another order. Every value is still there.",
}


def note(agreement: Agreement, method: str, *, kept: Sequence[str] = ()) -> str:
    """NOT-ANONYMOUS.md. `kept`: columns that identify people and are there as they were."""
    said = f"\nColumns with real identifiers: {', '.join(kept)}.\n" if kept else ""
    return f"""# NOT anonymous

{OUTSIDE}

{_DOES[method]} People can be recognised in it by rare values, by smallest and largest values, and by
what somebody already knows of them. New names for people change none of that.
{said}
- Signed by: {agreement.signed_by}
- Agreement: {agreement.agreement}
- May be used until: {agreement.expires.isoformat()}. Then delete it, with every copy.

No epsilon, no delta and no other promise stands behind this folder: its guarantee class is none. It was
charged to no budget, and adds to what releases tell. `dpgate twin scramble verify FOLDER` says whether it has
expired, and whether it is still as it was handed over.
"""


def leak_report(
    tables: Sequence[TableLeaks], *, people: int, empty: Sequence[str], is_key_kept: bool, lot: str
) -> str:
    """Markdown, for the rights holder alone: it was computed from the original without noise. `lot` is a
    number drawn by lot, so that the report's digest tells nothing of what it says."""
    key = "in the key file: keep it secret" if is_key_kept else "by a key that was forgotten"
    lines = [
        "# What the scrambled folder shows of people",
        "",
        "For you alone. These counts come from the original without noise and are as sensitive as it is.",
        f"Guarantee class: none. {OUTSIDE}",
        "Whoever signs for the folder on the platform confirms by this file's SHA-256 to have read it.",
        "",
        f"- People, all still counted by the folder: {people}. Their names were replaced {key}.",
        f"- Files that are there by name only, without content: {len(empty)}.",
    ]
    for one in tables:
        lines += ["", f"## {one.path}", "", *_table(one)]
    lines += ["", f"Number of this report, drawn by lot: {lot}"]
    return "\n".join(lines) + "\n"


def _table(one: TableLeaks) -> list[str]:
    share = f" ({one.exact_rows / one.rows:.1%})" if one.rows else ""
    ids = ", ".join(one.id_columns) or "none found: if a column names people, say so with --id or --drop"
    held = sum(column.held_by_one for column in one.columns)
    back = sum(column.reappear for column in one.columns)
    return [
        f"- Rows: {one.rows}, the original has {one.rows_before}.",
        f"- Columns with names of people: {ids}.",
        *map(_identifier, one.identifiers),
        f"- Rows that equal a row of the original: {one.exact_rows}{share}.",
        f"- Values that one person has: {held}; of these stand there again: {back}.",
        "",
        "| column | values that one person has | stand there again | smallest | largest |",
        "| --- | --- | --- | --- | --- |",
        *[_row(column) for column in one.columns],
    ]


def _identifier(one: Identifier) -> str:
    shown = f"; of its {one.values} real values {one.reappear} stand in the table"
    return f"- `{one.name}` {one.doing} and was {one.fate}{shown}."


def _row(column: ColumnLeaks) -> str:
    words = (
        ("-", "-") if column.extremes is None else tuple("shown" if it else "gone" for it in column.extremes)
    )
    name = column.name.replace("|", "\\|")
    return f"| {name} | {column.held_by_one} | {column.reappear} | {words[0]} | {words[1]} |"
