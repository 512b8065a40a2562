"""Scrambled twins on the platform: offer one, sign for it, send it, withdraw it; take one under its terms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpgate.cli.catalogue import check_twin_folder
from dpgate.cli.output import Json, Profile, err, out, plain, print_json, print_line
from dpgate.cli.twin_scramble import scrambling, today_here
from dpgate.client import Client, connect
from dpgate.errors import DpgateError

if TYPE_CHECKING:
    from companions.scramble.folder import Folder

Name = Annotated[str, typer.Argument(metavar="DATASET", help="The data set's name.")]
Scrambled = Annotated[Path, typer.Argument(metavar="FOLDER", help="A scrambled folder.")]
Report = Annotated[
    Path | None, typer.Option(help="Its leak report (default: FOLDER.leaks.md beside the folder).")
]
HasRead = Annotated[
    bool, typer.Option("--has-read", help="You have read the leak report; else you are asked.")
]
Which = Annotated[str | None, typer.Option("--id", help="Which one (default: the one that is open).")]


@scrambling.command("attach", epilog="Example: dpgate twin scramble attach heights scrambled")
def scramble_attach(
    dataset: Name,
    folder: Scrambled,
    report: Report = None,
    sign: Annotated[bool, typer.Option("--sign", help="Sign for it yourself, too.")] = False,
    has_read: HasRead = False,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Offer a scrambled folder; once enough reviewers have signed, the same command sends it."""
    found = _read(folder, report)
    with connect(profile=profile) as client:
        one = _offered(client, dataset, found) or client.scrambles.offer(
            dataset, found.offer.model_dump(mode="json")
        )
        me = client.me()["name"]
        if sign and me not in {signature["signer"] for signature in one["signatures"]}:
            _confirm(found.report, has_read=has_read)
            one = _sign(client, dataset, one, found)
        if one["state"] == "signed" and not one["signatures_missing"]:
            one = client.scrambles.send(dataset, one["id"], found.parts)
    _print(one, as_json=as_json)
    if not as_json and one["signatures_missing"]:
        out.print(
            f"Nothing was sent. {one['signatures_missing']} more must sign: give them folder and report, "
            f"then [bold]dpgate twin scramble sign {plain(dataset)} FOLDER[/]. Then attach it again."
        )


@scrambling.command("sign", epilog="Example: dpgate twin scramble sign heights scrambled")
def scramble_sign(
    dataset: Name,
    folder: Scrambled,
    report: Report = None,
    has_read: HasRead = False,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Sign for a folder that was offered, as a reviewer who has looked at it and read its leak report."""
    found = _read(folder, report)
    with connect(profile=profile) as client:
        one = _offered(client, dataset, found)
        if one is None:
            raise DpgateError(f"{folder} is not the folder that was offered for {dataset}; ask for that one")
        _confirm(found.report, has_read=has_read)
        one = _sign(client, dataset, one, found)
    _print(one, as_json=as_json)


@scrambling.command("refuse", epilog="Example: dpgate twin scramble refuse heights --reason 'names a clinic'")
def scramble_refuse(
    dataset: Name,
    reason: Annotated[str, typer.Option(help="Why; reviewers alone read it.")],
    which: Which = None,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Refuse to sign for what was offered: it never comes."""
    with connect(profile=profile) as client:
        one = _chosen(client, dataset, which, ("waiting", "signed"))
        one = client.scrambles.refuse(dataset, one["id"], reason=reason)
    _print(one, as_json=as_json)


@scrambling.command("withdraw", epilog="Example: dpgate twin scramble withdraw heights")
def scramble_withdraw(
    dataset: Name,
    which: Which = None,
    reason: Annotated[str, typer.Option(help="Why; reviewers alone read it.")] = "",
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Stop handing it out at once, remove it from the platform, and hear who has it."""
    with connect(profile=profile) as client:
        one = _chosen(client, dataset, which, ("waiting", "signed", "attached"))
        one = client.scrambles.withdraw(dataset, one["id"], reason=reason)
    _print(one, as_json=as_json)
    if not as_json and one["takers"]:
        names = ", ".join(taker["name"] for taker in one["takers"])
        out.print(f"[bold]Tell them to delete it:[/] {plain(names)}")


@scrambling.command("list", epilog="Example: dpgate twin scramble list heights")
def scramble_list(dataset: Name, as_json: Json = False, profile: Profile = "default") -> None:
    """List the scrambled twins of a data set that you may see."""
    with connect(profile=profile) as client:
        found = client.scrambles.all(dataset)
    if as_json:
        print_json(found)
        return
    for one in found:
        _print(one, as_json=False)
    if not found:
        out.print("none that you may see")


@scrambling.command("get", epilog="Example: dpgate twin scramble get heights -o scrambled")
def scramble_get(
    dataset: Name,
    folder: Annotated[Path, typer.Option("--output", "-o", help="Where to put it.")] = Path("scrambled"),
    accept: Annotated[
        bool, typer.Option("--accept-terms", help="You agree to its terms; else they are shown and asked.")
    ] = False,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Agree to the terms of a data set's scrambled twin and fetch it. That you agreed is recorded."""
    from companions.scramble.verify import verify

    check_twin_folder(folder)
    with connect(profile=profile) as client:
        one = _chosen(client, dataset, None, ("attached",))
        for sentence in one["terms"]:
            err.print(f"- {plain(sentence)}", soft_wrap=True)
        if not accept and not typer.confirm("Do you agree?", err=True):
            raise DpgateError("without your agreement nothing is fetched")
        paths = client.scrambles.take(dataset, one["id"], folder, terms=one["terms_digest"])
    problems = verify(folder, today=today_here()).problems
    if problems:
        raise DpgateError(f"what came is not what was signed for: {problems[0]}; delete {folder}")
    if as_json:
        print_json({"folder": str(folder), "files": paths, "label": one["label"], "expires": one["expires"]})
        return
    out.print(f"[bold]{len(paths)} files[/] in {plain(folder)}\n[bold red]{plain(one['label'])}[/]")
    out.print(f"Delete it at the end of {plain(one['expires'])}, with every copy.")


def _read(folder: Path, report: Path | None) -> Folder:
    from companions.scramble.folder import read_folder

    return read_folder(folder, report, today=today_here())


def _offered(client: Client, dataset: str, found: Folder) -> dict[str, Any] | None:
    """The open one that is this very folder."""
    return next(
        (
            one
            for one in client.scrambles.all(dataset)
            if one["record"] == found.offer.record and one["state"] in ("waiting", "signed", "attached")
        ),
        None,
    )


def _sign(client: Client, dataset: str, one: dict[str, Any], found: Folder) -> dict[str, Any]:
    offer = found.offer
    return client.scrambles.sign(dataset, one["id"], leak_report=offer.leak_report, record=offer.record)


def _confirm(report: Path, *, has_read: bool) -> None:
    if not has_read and not typer.confirm(f"Have you read {report}, all of it?", err=True):
        raise DpgateError(f"read {report} first; without that nobody signs")


def _chosen(client: Client, dataset: str, which: str | None, states: tuple[str, ...]) -> dict[str, Any]:
    found = [
        one
        for one in client.scrambles.all(dataset)
        if (one["id"] == which if which else one["state"] in states)
    ]
    if len(found) != 1:
        raise DpgateError(
            f"{dataset} has {len(found) or 'no'} such scrambled twins; "
            f"see dpgate twin scramble list {dataset}"
        )
    return found[0]


def _print(one: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(one)
        return
    signers = ", ".join(each["signer"] for each in one["signatures"] if each["signs"]) or "nobody yet"
    print_line(f"{plain(one['id'])} {plain(one['state'])}, until {plain(one['expires'])}")
    out.print(
        f"Answers for it: {plain(one['signed_by'])}, under {plain(one['agreement'])}. "
        f"Signed off by: {plain(signers)}."
    )
    out.print(f"[bold red]{plain(one['label'])}[/]")
