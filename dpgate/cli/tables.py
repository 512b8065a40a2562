"""Commands for whoever has the database's account: its tables, and the first operator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from dpgate.cli.output import Json, out, plain, print_json, print_line, say

if TYPE_CHECKING:
    from store.database import Database

Address = Annotated[
    str, typer.Option(help="The database of gateway and workers.", envvar="DPGATE_DATABASE_URL")
]


commands = typer.Typer(help="Its tables, and the first operator.", no_args_is_help=True)


@commands.command("upgrade", epilog="Example: dpgate database upgrade")
def database_upgrade(database_url: Address, as_json: Json = False) -> None:
    """Make the tables, or bring them to this version's form. Stop gateway and workers first.

    `dpgate up` does it itself.
    """
    from store.schema import schema

    with _opened(database_url) as database:
        database.migrate()
        with database.reading() as connection:
            found = schema(connection).found
    say({"tables": found}, f"the tables have form {found}", as_json=as_json)


@commands.command("operator", epilog="Example: dpgate database operator olga")
def database_operator(
    database_url: Address,
    name: Annotated[str, typer.Argument(help="The operator's name.")] = "operator",
    as_json: Json = False,
) -> None:
    """Add the first operator and print the token, once. Again: a new token, and the old one ends.

    For a platform that `dpgate up` did not start. Operators add all other users. It is in the audit trail.
    """
    from store.first_operator import token_of_operator

    with _opened(database_url) as database, database.transaction() as connection:
        token = token_of_operator(connection, name=name, now=datetime.now(UTC))
    if as_json:
        print_json({"name": name, "token": token})
        return
    out.print(f"The token of the operator [bold]{plain(name)}[/], shown this once:")
    print_line(token)
    out.print("Log in with it: dpgate login --url ADDRESS --profile operator")


@contextmanager
def _opened(url: str) -> Iterator[Database]:
    from store.database import Database

    database = Database(url)
    try:
        yield database
    finally:
        database.close()
