"""Commands that look: the catalogue, the budget, a release's certificate; and where a twin is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpgate.cli.exit_codes import ExitCode
from dpgate.cli.output import Json, Profile, amounts, out, plain, print_json, print_line, print_table
from dpgate.client import connect
from dpgate.errors import DpgateError
from dpgate.models import Dataset

if TYPE_CHECKING:  # at run time it would bring cryptography to every command
    from dpgate.verification import Recomputed

DECLARATION = Path(".dpgate") / "dataset.json"
VERSION = Path(".dpgate") / "version"


def datasets(as_json: Json = False, profile: Profile = "default") -> None:
    """Show the data sets that you may use."""
    with connect(profile=profile) as client:
        found = client.datasets()
    if as_json:
        print_json([dataset.raw for dataset in found])
        return
    rows = [(d.name, d.version, _title(d), d.declaration["nominal_size"], d.state, _images(d)) for d in found]
    columns = ("name", "version", "title", "people (declared)", "state", "images allowed")
    print_table("Data sets", columns, rows, empty="none that you may use; ask a rights holder")


def _title(dataset: Dataset) -> str:
    title = str(dataset.declaration["title"])
    return f"{title} (synthetic: nobody's data)" if dataset.declaration.get("synthetic") else title


def _images(dataset: Dataset) -> str:
    return ", ".join(dataset.declaration["policy"]["images"]) or "none yet"


def keep_declaration(folder: Path, dataset: Dataset) -> None:
    """Beside the twin's files, what `dpgate run` needs to know of the data set."""
    target = folder / DECLARATION
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(dataset.declaration, indent=2), encoding="utf-8")
    (folder / VERSION).write_text(f"{dataset.version}\n", encoding="utf-8")


def load_twin_declaration(folder: Path) -> dict[str, Any]:
    """What `dpgate twin` kept beside the twin's files."""
    from dpgate.pipeline_folder import load_json

    path = folder / DECLARATION
    if not path.exists():
        raise DpgateError(f"{folder} holds no twin; fetch one with: dpgate twin DATASET -o {folder}")
    declaration: dict[str, Any] = load_json(path)
    return declaration


def load_twin_version(folder: Path) -> int | None:
    """Of the data set whose twin this is; None where no platform has said it."""
    from dpgate.pipeline_folder import read_text

    path = folder / VERSION
    if not path.exists():
        return None
    text = read_text(path, max_bytes=20).strip()
    if not (text.isascii() and text.isdigit()):
        raise DpgateError(f"{path} holds no version; fetch the twin again with: dpgate twin")
    return int(text)


def budget(
    dataset: Annotated[str, typer.Argument(help="The data set's name.")],
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Show what is left of a data set's privacy budget."""
    with connect(profile=profile) as client:
        found = client.budget(dataset)
    if as_json:
        accounts = [vars(account) for account in found.accounts]
        head = {"dataset": dataset, "accounting": found.accounting, "sentence": found.sentence}
        print_json({**head, "accounts": accounts})
        return
    rows = [(a.kind, a.holder, a.currency, a.cap, a.spent, a.reserved, a.left) for a in found.accounts]
    columns = ("account", "holder", "currency", "cap", "spent", "reserved", "left")
    note = f"{plain(found.sentence)} The cohort's caps bind all users together; currencies are never added."
    print_table(f"Budget of {dataset}", columns, rows, note=note)


def verify(
    release: Annotated[Path, typer.Argument(help="A release as `dpgate result --json` printed it.")],
    key: Annotated[
        Path | None,
        typer.Option(help="The platform's certificate key (PEM); without it, the platform is asked."),
    ] = None,
    recompute: Annotated[
        bool,
        typer.Option(
            "--recompute", help="Derive noise, costs and intervals from what was asked, and compare them."
        ),
    ] = False,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Check a release against its certificate; with --key offline."""
    from dpgate.pipeline_folder import read_text
    from dpgate.verification import check_release, read_release
    from dpgate.verification import recompute as derived_from

    try:
        content = read_release(read_text(release))
    except (ValueError, RecursionError):
        raise DpgateError(f"{release} is not valid JSON, or names something twice") from None
    if not isinstance(content, dict) or "certificate" not in content:
        raise DpgateError(
            f"{release} holds no release; this writes one: dpgate result JOB --json > {release}"
        )
    statement = check_release(content, read_text(key) if key else _asked_key(profile))
    found = derived_from(statement) if recompute and statement is not None else None
    if as_json:
        derived = {"recomputed": vars(found)} if found else {}
        print_json({"fits": statement is not None, "statement": statement, **derived})
    elif statement is None:
        out.print("[bold red]The certificate does not fit this release.[/]")
    else:
        _print_statement(statement)
        if found:
            _print_derived(found)
    if statement is None or (found and not found.holds):
        raise typer.Exit(ExitCode.BROKEN_CHAIN)


def _print_statement(statement: dict[str, Any]) -> None:
    promise = statement["predicate"]["guarantee"]
    out.print("[bold green]The certificate fits[/]: signed by this key, every file and value unchanged.")
    # the first form of certificate knew epsilon alone
    cost = promise.get("cost") or {"epsilon": promise["epsilon"]}
    out.print(f"Guarantee class {plain(promise['class'])}, {amounts(cost)}.")
    # certificates of before, and those of queries, do not have it
    if runs := statement["predicate"].get("runs"):
        print_line(plain(runs["sentence"]))


def _print_derived(found: Recomputed) -> None:
    if found.differs:
        out.print("[bold red]What was signed does not follow from what was asked:[/]")
        for sentence in found.differs:
            print_line(plain(sentence))
    elif not found.agrees:
        out.print("[bold red]Nothing could be derived from what was asked.[/]")
    else:
        out.print(f"[bold green]Derived from what was asked, and the same[/]: {len(found.agrees)} figures.")
    for sentence in found.not_derived:
        print_line(f"Not derived: {plain(sentence)}.")


def _asked_key(profile: str) -> str:
    with connect(profile=profile) as client:
        return client.certificate_key()


def check_twin_folder(folder: Path) -> None:
    """A twin replaces a twin, never something else."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / DECLARATION).exists():
        raise DpgateError(
            f"{folder} holds other files, which a twin could replace; name a new folder with -o"
        )
