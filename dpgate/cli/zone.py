"""The worker zone's own beginning. On a worker's host, as the worker's user."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpgate.cli.operation import opened_database
from dpgate.cli.output import out, plain
from dpgate.errors import DpgateError

commands = typer.Typer(help="The worker zone: its folder with keys and sealed data.", no_args_is_help=True)


@commands.callback()
def zone() -> None:
    """Keeps `begin` a word of its own, though it is the only one."""


@commands.command("begin", epilog="Example: dpgate zone begin")
def zone_begin(
    zone_folder: Annotated[Path, typer.Option(help="Its folder, new or empty.", envvar="DPGATE_ZONE_FOLDER")],
    database_url: Annotated[
        str, typer.Option(help="The database of the workers.", envvar="DPGATE_DATABASE_URL")
    ],
) -> None:
    """Make the master key and the ledger of a new zone, where `dpgate up` does not.

    The folder must be empty: a key is never made in place of one that was lost. Keep a copy of the key apart.
    """
    from store.keys import create_keys
    from worker.catching_up import begin_ledger, zone_ledger

    if zone_folder.exists() and any(zone_folder.iterdir()):
        raise DpgateError(f"{zone_folder} is not empty; name a new folder, or put back what is missing there")
    key = zone_folder / "master.key"
    with opened_database(database_url, None) as database:
        create_keys(key)
        (zone_folder / "deliveries").mkdir(mode=0o700)
        begin_ledger(zone_ledger(zone_folder), database)
    out.print(f"The zone is begun: {plain(zone_folder)}", soft_wrap=True)
    out.print(f"Keep a copy of {plain(key)} apart from the data: without it they are lost.", soft_wrap=True)
