"""Commands for a rights holder's own machine: profile tables, decide on columns that identify people."""

from __future__ import annotations

import getpass
import uuid
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpgate.cli.output import Json, Profile, plain, print_json, print_line, progress
from dpgate.cli.profile_results import say_results
from dpgate.cli.twin_at_gateway import Asked, DeliveriesFolder, profile_at_gateway
from dpgate.errors import DpgateError
from twins.verbs import Verb

if TYPE_CHECKING:
    from twins.profile.decide import Decision


Data = Annotated[Path | None, typer.Argument(metavar="[DATA]", help="A folder, a BIDS tree, or one table.")]
To = Annotated[Path, typer.Option("--out", "-o", help="A folder for report, profile and draft.")]
WithoutSandbox = Annotated[
    bool, typer.Option("--without-sandbox", help="Read the tables in this process. Trust them first.")
]
AtGateway = Annotated[
    str | None,
    typer.Option(help="Have the platform's worker zone do it: under which name the data are registered."),
]
_WHICH = "name --column and --decision, or --accept-proposals without a column; --data goes with the second"


def twin_profile(
    data: Data = None,
    to: To = Path("profile"),
    declaration: Annotated[
        Path | None, typer.Option("--declaration", "-d", help="The draft to write (default: in the folder).")
    ] = None,
    person: Annotated[
        list[str] | None, typer.Option("--person", help="TABLE=COLUMN that names people, once for each.")
    ] = None,
    without_sandbox: WithoutSandbox = False,
    at_gateway: AtGateway = None,
    delivery: Annotated[
        str | None, typer.Option(help="With --at-gateway: the number of what was delivered.")
    ] = None,
    deliveries: DeliveriesFolder = None,
    key: Annotated[
        Path | None, typer.Option(help="The platform's certificate key (PEM) that the profile must fit.")
    ] = None,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Look through tables, here or in the worker zone; write a report for you alone and a draft."""
    draft = declaration or to / "dataset.yaml"
    if draft.exists():
        raise DpgateError(f"{draft} is there already, with answers perhaps; name another with --declaration")
    people = dict(map(_person, person or ()))
    if at_gateway is not None:
        if without_sandbox:
            raise DpgateError("the worker zone reads tables in its sandbox; leave --without-sandbox out")
        asked = Asked(at_gateway, data, delivery, deliveries, people, key, profile)
        profile_at_gateway(asked, to, draft, as_json=as_json)
        return
    if data is None:
        raise DpgateError("name the data, or a data set with --at-gateway")
    _profile_here(data, to, draft, people, without_sandbox=without_sandbox, as_json=as_json)


def _profile_here(
    data: Path, to: Path, draft: Path, people: dict[str, str], *, without_sandbox: bool, as_json: bool
) -> None:
    from dpgate.profile.places import dictionaries_of, find_tables, name_of
    from dpgate.profile.results import write_results
    from dpgate.profile.run import Options, profile_all

    found = find_tables(data)
    total = max(sum(source.bytes for source in found.sources), 1)
    with progress("profiling", shown=not as_json) as step:
        document = profile_all(
            found,
            to,
            Options(without_sandbox, people),
            lambda name, done, size: step(done, size, f"{name}, of {total / 1e6:.1f} MB"),
        )
    profile_id = str(uuid.uuid4())
    write_results(document, dictionaries_of(found), to, draft, profile_id=profile_id, name=name_of(found))
    say_results(document, to, draft, profile_id, as_json=as_json, then="dpgate dataset check")


def _person(text: str) -> tuple[str, str]:
    table, is_there, column = text.rpartition("=")
    if not is_there:
        raise DpgateError(f"{text}: write TABLE=COLUMN")
    return table, column


def twin_decide(
    declaration: Annotated[Path, typer.Argument(metavar="DATASET.YAML", help="The draft.")],
    *,
    column: Annotated[str | None, typer.Option("--column", help="Which column.")] = None,
    decision: Annotated[Verb | None, typer.Option("--decision", help="What becomes of it.")] = None,
    accept_proposals: Annotated[
        bool,
        typer.Option(
            "--accept-proposals",
            help="Take what the draft proposes for columns that are open; with --decision, where it is that.",
        ),
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="FOLDER",
            help="With --accept-proposals: look at these data for bounds, categories and rows, as "
            "looked_at_data: round, and of ten people at least.",
        ),
    ] = None,
    without_sandbox: WithoutSandbox = False,
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
    from dpgate.pipeline_folder import parse_yaml, read_text
    from twins.profile.decide import Decision, decide
    from twins.profile.draft import open_questions

    if not why.strip() or "\n" in why:
        raise DpgateError("--why must say in one line why")
    text = read_text(declaration)
    content = parse_yaml(text, place=str(declaration))
    decided = Decision(decision or "keep", by or getpass.getuser(), why.strip(), kind, classification)
    said: list[str] = []
    if accept_proposals and column is None:
        changed, said = _proposals_taken(declaration, text, of=decision, decision=decided)
        if data is not None:
            changed, more = _looked_at(data, declaration, changed, without_sandbox, shown=not as_json)
            said += more
    elif column is not None and decision is not None and not accept_proposals and data is None:
        changed = decide(text, content, table=table, column=column, decision=decided)
        said = [f"{decision}: {column}."]
    else:
        raise DpgateError(_WHICH)
    left = open_questions(parse_yaml(changed, place=str(declaration)))
    declaration.write_text(changed, encoding="utf-8")
    if as_json:
        print_json({"declaration": str(declaration), "open": [vars(question) for question in left]})
        return
    still = [f"  {question.place}: {question.sentence}" for question in left[:10]]
    for line in [*said, f"{len(left)} questions are open.", *still]:
        print_line(plain(line))


def _proposals_taken(
    declaration: Path, text: str, *, of: Verb | None, decision: Decision
) -> tuple[str, list[str]]:
    from dpgate.pipeline_folder import parse_yaml
    from twins.profile.accept import accept

    taken = accept(text, partial(parse_yaml, place=str(declaration)), of=of, decision=decision)
    said = [f"dialect: {', '.join(taken.dialects)}."] if taken.dialects else []
    said += [f"{verb}: {', '.join(names)}." for verb, names in taken.decided.items()]
    return taken.text, said + [f"left open: {one}" for one in taken.left]


def _looked_at(
    data: Path, declaration: Path, text: str, without_sandbox: bool, *, shown: bool
) -> tuple[str, list[str]]:
    from dpgate.profile.look import look_at

    seen = look_at(data, declaration, text, without_sandbox=without_sandbox, shown=shown)
    said = [f"looked at the data for: {', '.join(seen.answered) or 'nothing'}."]
    return seen.text, said + [f"left open: {one}." for one in seen.left]
