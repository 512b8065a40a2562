"""Commands of operators for the day on which the platform is lost. On a worker's host, as its user."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from dpgate.cli.hosting import HomeOption, home_of
from dpgate.cli.ledger import DatabaseOption, ZoneOption
from dpgate.cli.operation import opened_database
from dpgate.cli.output import Json, out, plain, print_json, progress
from dpgate.errors import DpgateError

commands = typer.Typer(
    help="Copy the platform while it runs, try the copy, restore it; change its key.",
    no_args_is_help=True,
)
Backup = Annotated[Path, typer.Argument(help="The backup's folder.")]
KeyOption = Annotated[Path, typer.Option(help="The worker zone's master key, from where you keep it.")]
DataKeysOption = Annotated[
    Path | None, typer.Option(help="The keys of data sets, where the backup's own are gone.")
]


@commands.command("make", epilog="Example: dpgate backup make backups/monday")
def backup_make(
    target: Annotated[Path, typer.Argument(help="A new folder, on another disk.")],
    zone_folder: ZoneOption = None,
    database_url: DatabaseOption = None,
    home: HomeOption = None,
    as_json: Json = False,
) -> None:
    """Copy database, ledger and sealed files of one moment, while everything goes on.

    Not the master key: without it the copy opens nothing. Keep it elsewhere. The keys of data sets are in a
    folder of their own, data-keys: move it elsewhere too, and keep it no longer than you need.
    """
    from dpgate.backup.making import back_up

    with opened_database(database_url, home) as database:
        zone = zone_folder or home_of(home).worker_zone
        with progress("copying", shown=not as_json):
            found = back_up(zone, database, target, now=datetime.now(UTC))
    if as_json:
        print_json({"backup": str(target), "head": found.head, "files": len(found.files)})
        return
    out.print(
        f"{len(found.files)} files, event {found.head[0]}, entry {found.ledger[0]}: {plain(str(target))}"
    )
    out.print("The master key is not in it.")


@commands.command("drill", epilog="Example: dpgate backup drill backups/monday --key master.key")
def backup_drill(
    backup: Backup, key: KeyOption, data_keys: DataKeysOption = None, as_json: Json = False
) -> None:
    """Try a backup: restore it into a folder that is removed again, and walk both books."""
    from dpgate.backup.restoring import drill

    with progress("trying the backup", shown=not as_json):
        found = drill(backup, key=key, data_keys=data_keys, now=datetime.now(UTC))
    if as_json:
        print_json({"intact": True, "made_at": found.made_at, "head": found.head})
        return
    out.print(f"The backup of {plain(found.made_at)} is whole, up to event {found.head[0]}")


@commands.command("restore", epilog="Example: dpgate backup restore backups/monday --key master.key")
def backup_restore(
    backup: Backup,
    key: KeyOption,
    data_keys: DataKeysOption = None,
    newest_ledger: Annotated[
        Path | None, typer.Option(help="The zone's ledger.sqlite as it was last, if it is left.")
    ] = None,
    zone_folder: ZoneOption = None,
    database_url: DatabaseOption = None,
    home: HomeOption = None,
    as_json: Json = False,
) -> None:
    """Restore a backup into an empty home. Nothing is charged or released until you have caught up."""
    from dpgate.backup.restoring import restore

    place = home_of(home)
    if place.is_claimed():
        raise DpgateError(f"a dpgate is up in {place.root}; end it with: dpgate down")
    with (
        opened_database(database_url, home, is_new=True) as database,
        progress("restoring", shown=not as_json),
    ):
        zone = zone_folder or place.worker_zone
        found = restore(
            backup,
            zone,
            database,
            key=key,
            data_keys=data_keys,
            newest_ledger=newest_ledger,
            now=datetime.now(UTC),
        )
    if database_url is not None and zone_folder is None:
        place.keep_database_url(database_url)
    if as_json:
        print_json({"made_at": found.made_at, "head": found.head})
        return
    out.print(f"Restored as of {plain(found.made_at)}. Before anything goes on: dpgate ledger catch-up")


@commands.command("rotate-key", epilog="Example: dpgate backup rotate-key")
def backup_rotate_key(zone_folder: ZoneOption = None, home: HomeOption = None, as_json: Json = False) -> None:
    """Wrap the keys of data sets under a new key of the zone, while everything goes on. No data are read.

    A copy of master.key from before opens no copy of data-keys that is made from now on. Copy both again.
    """
    from store.data_keys import DataKeys
    from store.keys import load_keys

    zone = zone_folder or home_of(home).worker_zone
    key_file = zone / "master.key"
    names = DataKeys(zone / "data-keys", lambda: load_keys(key_file)).rotate(key_file)
    if as_json:
        print_json({"wrapped": names})
        return
    out.print(f"The keys of {len(names)} data sets are wrapped under a new key.")
    out.print("Copy master.key and data-keys again, apart from each other.")
