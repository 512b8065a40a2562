"""Commands that need no running platform of yours: log in to one, the demo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpgate.cli.hosting import interrupt_on_signals
from dpgate.cli.output import Json, plain, print_json, print_line
from dpgate.client import Client
from dpgate.credentials import Login, keep_login


def login(
    url: Annotated[str, typer.Option(prompt="Address", help="The platform's address.", envvar="DPGATE_URL")],
    token: Annotated[
        str,
        typer.Option(prompt="Token", hide_input=True, help="Asked for when left out.", envvar="DPGATE_TOKEN"),
    ],
    profile: Annotated[str, typer.Option(help="A name for this login.")] = "default",
    as_json: Json = False,
) -> None:
    """Keep a login on this machine."""
    kept = Login(url.strip(), token.strip())
    with Client(kept) as client:
        user = client.me()
    path = keep_login(kept, profile=profile)
    if as_json:
        print_json(user | {"profile": profile})
    else:
        print_line(
            f"Logged in as [bold]{plain(user['name'])}[/] ({plain(user['role'])}); kept in {plain(path)}"
        )


def demo(
    examples: Annotated[Path | None, typer.Option(help="The examples folder of a checkout.")] = None,
    as_json: Json = False,
) -> None:
    """Run the main job end to end on real data, in a platform of its own that ends with the demo."""
    from dpgate.demo import run_demo

    interrupt_on_signals()
    run_demo(examples, as_json=as_json)
