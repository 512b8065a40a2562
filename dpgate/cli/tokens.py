"""Commands for one's own tokens."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from dpgate.cli.output import Json, Profile, out, plain, print_json, print_line, print_table, say
from dpgate.client import connect


def token_add(
    label: Annotated[str, typer.Argument(help="What it is for: small letters, digits, hyphens.")],
    scope: Annotated[
        list[str] | None,
        typer.Option(
            help="read, submit, review, register, projects, administer, metrics or tokens; repeat it."
        ),
    ] = None,
    days: Annotated[int, typer.Option(min=1, max=366, help="How long it lasts.")] = 90,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Make a token that reaches only so far, and print it, once."""
    with connect(profile=profile) as client:
        made = client.add_token(label, scopes=scope or ["read"], days=days)
    if as_json:
        print_json(made)
    else:
        out.print(f"Token [bold]{plain(label)}[/] for {plain(', '.join(made['scopes']))}, shown this once:")
        print_line(plain(made["token"]))


def token_list(as_json: Json = False, profile: Profile = "default") -> None:
    """List your tokens that work."""
    with connect(profile=profile) as client:
        found = client.tokens()
    if as_json:
        print_json(found)
        return
    columns = ("id", "for", "may", "until", "last used")
    print_table("Tokens", columns, [_row(one) for one in found], note="A token is shown when it is made.")


def _row(token: dict[str, Any]) -> tuple[str, ...]:
    until, used = token["expires_at"][:10], token["last_used_on"] or "-"
    return token["id"], token["label"], ", ".join(token["scopes"]), until, used


def token_revoke(
    token_id: Annotated[str, typer.Argument(help="As `dpgate token list` shows it.")],
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Take a token back. It stops working at once."""
    with connect(profile=profile) as client:
        client.revoke_token(token_id)
    say({"revoked": token_id}, f"{plain(token_id)} is revoked", as_json=as_json)
