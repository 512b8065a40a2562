"""Commands for a rights holder's own machine: profile tables, decide on columns that identify people."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Annotated

import typer

from domain.profile.decide import Decision, Verb, decide
from domain.profile.draft import open_questions
from dpgate.cli.output import Json, err, out, plain, print_json, print_table, progress
from dpgate.errors import DpgateError
from dpgate.pipeline_folder import parse_yaml, read_text

Data = Annotated[Path, typer.Argument(metavar="DATA", help="A folder, a BIDS tree, or one table.")]


def twin_profile(
    data: Data,
    to: Annotated[Path, typer.Option("--out", "-o", help="A folder for report, profile and draft.")] = Path(
        "profile"
    ),
    declaration: Annotated[
        Path | None, typer.Option("--declaration", "-d", help="The draft to write (default: in the folder).")
    ] = None,
    person: Annotated[
        list[str] | None, typer.Option("--person", help="TABLE=COLUMN that names people, once for each.")
    ] = None,
    without_sandbox: Annotated[
        bool, typer.Option("--without-sandbox", help="Read the tables in this process. Trust them first.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Look through tables here, where they are; write a report for you alone and a draft declaration."""
    from dpgate.profile.places import find_tables
    from dpgate.profile.results import write_results
    from dpgate.profile.run import WARNING, Options, profile_all

    draft = declaration or to / "dataset.yaml"
    if draft.exists():
        raise DpgateError(f"{draft} is there already, with answers perhaps; name another with --declaration")
    found = find_tables(data)
    options = Options(without_sandbox, dict(map(_person, person or ())))
    total = max(sum(source.bytes for source in found.sources), 1)
    with progress("profiling", shown=not as_json) as step:
        document = profile_all(
            found, to, options, lambda name, done, size: step(done, size, f"{name}, of {total / 1e6:.1f} MB")
        )
    digest = write_results(document, found, to, draft)
    if as_json:
        print_json(
            {
                "report": str(to / "report.html"),
                "profile": str(to / "profile.json"),
                "draft": str(draft) if draft.exists() else None,
                "digest": digest,
                "warning": WARNING,
                "refused": {table.name: table.refused for table in document.tables if table.refused},
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
    out.print(f"Report: [bold]{plain(to / 'report.html')}[/]", soft_wrap=True)
    if draft.exists():
        out.print(f"Draft: [bold]{plain(draft)}[/]; answer every ASK in it, then: dpgate dataset check",
                  soft_wrap=True)  # fmt: skip
    err.print(f"[yellow]{plain(WARNING)}[/]")


def _person(text: str) -> tuple[str, str]:
    table, is_there, column = text.rpartition("=")
    if not is_there:
        raise DpgateError(f"{text}: write TABLE=COLUMN")
    return table, column


def _flagged(found: object) -> int:
    return sum(column.identifying.is_flagged for column in found.columns)  # type: ignore[attr-defined]


def twin_decide(
    declaration: Annotated[Path, typer.Argument(metavar="DATASET.YAML", help="The draft.")],
    column: Annotated[str, typer.Option("--column", help="Which column.")],
    decision: Annotated[Verb, typer.Option("--decision", help="What becomes of it.")],
    why: Annotated[str, typer.Option("--why", help="The reason; it becomes public with the declaration.")],
    table: Annotated[str | None, typer.Option("--table", help="Of which table, if several have it.")] = None,
    by: Annotated[str | None, typer.Option("--by", help="Who decided (default: your name here).")] = None,
    kind: Annotated[str, typer.Option("--kind", help="What it is, where nothing was flagged.")] = "TEXT",
    classification: Annotated[
        str, typer.Option("--class", help="direct, quasi or sensitive, where nothing was flagged.")
    ] = "quasi",
    as_json: Json = False,
) -> None:
    """Record what becomes of a column that may identify people; edits the draft and nothing else."""
    if not why.strip() or "\n" in why:
        raise DpgateError("--why must say in one line why")
    text = read_text(declaration)
    content = parse_yaml(text, place=str(declaration))
    decided = Decision(decision, by or getpass.getuser(), why.strip(), kind, classification)
    changed = decide(text, content, table=table, column=column, decision=decided)
    left = open_questions(parse_yaml(changed, place=str(declaration)))
    declaration.write_text(changed, encoding="utf-8")
    if as_json:
        print_json({"declaration": str(declaration), "open": [vars(question) for question in left]})
        return
    out.print(f"{plain(column)}: [bold]{plain(decision)}[/]. {len(left)} questions are open.")
    for question in left[:10]:
        out.print(f"  {plain(question.place)}: {plain(question.sentence)}", soft_wrap=True)
