"""What a command says of a profile that is there: where everything is, and in a few words what was found."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dpgate.cli.output import err, out, plain, print_json, print_table

if TYPE_CHECKING:
    from twins.profile.document import ProfileDocument


def say_results(
    document: ProfileDocument,
    to: Path,
    draft: Path,
    profile_id: str,
    *,
    as_json: bool,
    then: str,
    more: Mapping[str, object] | None = None,
) -> None:
    """Where everything is, and in a few words what was found."""
    if as_json:
        print_json(
            {
                "report": str(to / "report.html"),
                "profile": str(to / "profile.json"),
                "draft": str(draft) if draft.exists() else None,
                "id": profile_id,
                "warning": document.warning,
                "refused": {table.name: table.refused for table in document.tables if table.refused},
                **(more or {}),
            }
        )
        return
    rows = [
        (table.name, table.found.rows, len(table.found.columns), _flagged(table.found), table.person or "")
        if table.found
        else (table.name, "", "", "", "not read")
        for table in document.tables
    ]
    print_table("Profile", ("table", "rows", "columns", "flagged", "people"), rows)
    for table in document.tables:
        if table.refused:
            out.print(f"[bold red]{plain(table.name)}:[/] {plain(table.refused)}", soft_wrap=True)
    for note in document.notes:
        out.print(plain(note), soft_wrap=True)
    out.print(f"Report: [bold]{plain(to / 'report.html')}[/]", soft_wrap=True)
    if draft.exists():
        out.print(f"Draft: [bold]{plain(draft)}[/]; answer every ASK in it, then: {plain(then)}",
                  soft_wrap=True)  # fmt: skip
    err.print(f"[yellow]{plain(document.warning)}[/]")


def _flagged(found: object) -> int:
    return sum(column.identifying.is_flagged for column in found.columns)  # type: ignore[attr-defined]
