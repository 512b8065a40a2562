"""Commands about identity providers."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from dpgate.cli.exit_codes import ExitCode
from dpgate.cli.output import Json, Profile, out, print_json, print_table
from dpgate.client import connect

commands = typer.Typer(help="How the identity providers are.", no_args_is_help=True)
WORDS = {True: "well", False: "wrong", None: "-"}


def oidc_check(
    token: Annotated[
        bool, typer.Option("--token", help="Ask for an access token, and say what would be decided on it.")
    ] = False,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Ask each identity provider how it is, or what would be decided on a token. Ends with 7 if not well."""
    pasted = typer.prompt("Access token", hide_input=True, err=as_json).strip() if token else None
    with connect(profile=profile) as client:
        found = client.operation.providers() if pasted is None else client.operation.decide_on(pasted)
    if as_json:
        print_json(found)
    elif pasted is not None:
        print_table("What would be decided", ("", "", ""), _rows(found))
    else:
        print_providers(found)
        if not found:
            out.print("This platform has no identity provider.")
    looked = found if pasted is not None else [part for one in found for part in one["found"]]
    if any(one["well"] is False for one in looked):
        raise typer.Exit(ExitCode.NOT_READY)


def ask_providers(profile: str) -> list[dict[str, Any]]:
    """How the identity providers of a platform answer it now."""
    with connect(profile=profile) as client:
        return list(client.operation.providers())


def print_providers(found: list[dict[str, Any]]) -> None:
    for one in found:
        print_table(f"{one['name']}, {one['issuer']}", ("", "", ""), _rows(one["found"]))


def _rows(found: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    return [(one["what"], WORDS[one["well"]], one["says"]) for one in found]


commands.command("check", epilog="Example: dpgate oidc check --profile operator")(oidc_check)
