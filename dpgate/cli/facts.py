"""Commands that say what pages say: dictionary, spending, what an attacker could learn, how to cite."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dpgate.cli.jobs import JobArgument
from dpgate.cli.output import Json, Profile, out, plain, print_json, print_line, print_table, print_text, say
from dpgate.client import Client, connect
from formats.delimited_text import csv_text

Named = Annotated[str, typer.Argument(help="The data set's name.")]
Csv = Annotated[Path | None, typer.Option("--csv", help="Write a table for spreadsheets to this file.")]
PART = 10_000
"""So many entries of a budget are asked for at once."""


def dictionary(
    dataset: Named,
    search: Annotated[str, typer.Option(help="Words that names or meanings have.")] = "",
    csv: Csv = None,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Show the data dictionary: every declared column with its kind, values and meaning."""
    from domain.dictionary import COLUMNS

    with connect(profile=profile) as client:
        found = client.facts.dictionary(dataset, search)
    if csv is not None:
        rows = [
            ["|".join(value) if isinstance(value, list) else value for value in map(entry.get, COLUMNS)]
            for entry in found["columns"]
        ]
        _write(csv, csv_text(COLUMNS, rows))
    elif as_json:
        print_json(found)
    else:
        rows = [
            [entry["table"], entry["column"], entry["kind"], _values(entry), entry["description"]]
            for entry in found["columns"]
        ]
        print_table(f"Columns of {dataset}", ("table", "column", "kind", "values", "meaning"), rows)
        for table, words in found.get("rewritten", {}).items():
            out.print(plain(f"{table}: {words}"), soft_wrap=True)


def spending(
    dataset: Named,
    account: Annotated[str, typer.Option(help="cohort, project:NAME or user:NAME.")] = "cohort",
    user: Annotated[str | None, typer.Option(help="Entries of this user.")] = None,
    project: Annotated[str | None, typer.Option(help="Entries of this project.")] = None,
    csv: Csv = None,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Show how a data set's privacy budget was spent: who, what, how much, when."""
    with connect(profile=profile) as client:
        found = _whole(client, dataset, account=account, user=user, project=project)
    columns = ("at", "author", "project", "job", "action", "amount", "currency")
    rows = [[entry[name] or "" for name in columns] for entry in reversed(found["entries"])]
    if csv is not None:
        _write(csv, csv_text(columns, rows))
    elif as_json:
        print_json(found)
    else:
        note = ". ".join(
            f"{course['currency']}: {course['standings'][-1]['spent']} of {course['cap']} spent"
            for course in found["courses"]
            if course["standings"]
        )
        print_table(f"Budget of {dataset}", columns, rows, note=plain(note), empty="nothing was spent yet")


def _whole(client: Client, dataset: str, **asked: Any) -> dict[str, Any]:
    """All entries, newest first, part by part. What comes meanwhile moves none of them."""
    found = client.facts.spending(dataset, **asked, limit=PART)
    entries = part = found["entries"]
    while part and (left := found["total"] - len(entries)) > 0:
        part = client.facts.spending(dataset, **asked, before=left + 1, limit=PART)["entries"]
        entries.extend(part)
    return found


def attacker(dataset: Named, as_json: Json = False, profile: Profile = "default") -> None:
    """Show what somebody could learn about one person at most, from everything that is released."""
    with connect(profile=profile) as client:
        found = client.facts.attacker(dataset)
    if as_json:
        print_json(found)
        return
    columns = ("after reading", "a suspicion", "people", "epsilon", "odds at most ×", "50 % becomes at most")
    keys = ("what", "about", "people", "epsilon", "odds_grow_by", "from_50_percent")
    rows = [[bound[key] for key in keys] for bound in found["bounds"]]
    exceptions = sorted({bound["exception"] for bound in found["bounds"]} - {""})
    out.print(plain(found["example"]))
    print_table("What suspicions become", columns, rows, note=plain("; ".join(exceptions)))
    for sentence in found["sentences"]:
        out.print(f"[bold]{plain(sentence['about'])}[/] {plain(sentence['text'])}")


def dataset_dpia(dataset: Named, as_json: Json = False, profile: Profile = "default") -> None:
    """Draft a data protection impact assessment (GDPR Article 35) from declaration and policy, as Markdown.

    Nothing in it was read from the data. What you have to write is marked TO FILL.
    """
    with connect(profile=profile) as client:
        found = client.facts.assessment(dataset)
    say(found, found["text"], as_json=as_json, show=print_text)


def cite(
    job_id: JobArgument,
    bibtex: Annotated[bool, typer.Option("--bibtex", help="Print a BibTeX entry.")] = False,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Say how to cite a release."""
    with connect(profile=profile) as client:
        found = client.facts.citation(job_id)
    say(found, plain(found["bibtex" if bibtex else "text"]), as_json=as_json, show=print_line)


def audit_list(
    action: Annotated[str | None, typer.Option(help="What happened, such as job.submit.")] = None,
    actor: Annotated[str | None, typer.Option(help="Who did it.")] = None,
    subject: Annotated[str | None, typer.Option(help="The beginning of what it is about.")] = None,
    since: Annotated[str | None, typer.Option(help="A day, such as 2026-03-02.")] = None,
    limit: Annotated[int, typer.Option(help="At most so many, the newest.", min=1, max=10_000)] = 100,
    csv: Csv = None,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Show events of the audit trail, newest first."""
    with connect(profile=profile) as client:
        found = client.facts.events(action=action, actor=actor, subject=subject, since=since, limit=limit)
    columns = ("number", "at", "actor", "action", "subject")
    if csv is not None:
        _write(csv, csv_text((*columns, "hash"), [[e[name] for name in (*columns, "hash")] for e in found]))
    elif as_json:
        print_json(found)
    else:
        print_table("Audit trail", columns, [[event[name] for name in columns] for event in found])


def _values(entry: dict[str, object]) -> str:
    if entry["lower"] is not None and entry["upper"] is not None:
        return f"{_bound(entry['lower'])} to {_bound(entry['upper'])}"
    categories = entry["categories"]
    return ", ".join(map(str, categories)) if isinstance(categories, list) else ""


def _bound(value: object) -> str:
    """A number, or the day that bounds a column of dates."""
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="")
    out.print(f"[bold]{plain(path)}[/]")
