"""Commands of operators on a running platform: users, the audit trail."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from dpgate.cli.exit_codes import ExitCode
from dpgate.cli.output import Json, Profile, out, plain, print_json, print_line, print_table, progress
from dpgate.client import connect


def user_add(
    name: Annotated[str, typer.Argument(help="Small letters, digits, hyphens.")],
    role: Annotated[
        Literal["data_user", "rights_holder", "operator"], typer.Option(help="What the user may do.")
    ] = "data_user",
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Add a user and print the token, once."""
    with connect(profile=profile) as client:
        added = client.add_user(name, role)
    if as_json:
        print_json(added)
    else:
        out.print(f"{plain(added['role'])} [bold]{plain(added['name'])}[/]; token, shown this once:")
        print_line(plain(added["token"]))


def user_list(as_json: Json = False, profile: Profile = "default") -> None:
    """List all users."""
    with connect(profile=profile) as client:
        found = client.users()
    if as_json:
        print_json(found)
    else:
        print_table("Users", ("name", "role"), [(user["name"], user["role"]) for user in found])


def audit_verify(
    expected_head: Annotated[str | None, typer.Option(help="A head that you kept elsewhere.")] = None,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Walk the audit trail's hash chain."""
    with connect(profile=profile) as client, progress("walking the chain", shown=not as_json):
        verdict = client.verify_audit(expected_head)
    if as_json:
        print_json(verdict)
    elif verdict["intact"]:
        out.print(f"[green]{verdict['events']} events, the chain holds.[/] Head, worth keeping elsewhere:")
        print_line(plain(verdict["head"]))
    elif verdict["broken_at"] > verdict["events"]:
        out.print("[bold red]The chain's end was cut off, or it never held the head that you kept.[/]")
    else:
        out.print(f"[bold red]The chain is broken at event {verdict['broken_at']}.[/]")
    if not verdict["intact"]:
        raise typer.Exit(ExitCode.BROKEN_CHAIN)
