"""Commands of operators: users and the audit trail of a running platform; people that registers share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpgate.cli.exit_codes import ExitCode
from dpgate.cli.hosting import HomeOption, home_of
from dpgate.cli.output import Json, Profile, err, out, plain, print_json, print_line, print_table, progress
from dpgate.cli.roles import RoleWord, read_role, role_name
from dpgate.client import connect
from dpgate.errors import DpgateError

if TYPE_CHECKING:
    from dpgate.embedded.home import Home
    from store.database import Database
    from worker.shared_people import SharedPeople

SHARED = (
    "Exact counts of original data, without noise: for whoever audits the platform, and for nobody else. A "
    "rights holder who is told of them learns who is in another's register."
)


def user_add(
    name: Annotated[str, typer.Argument(help="Small letters, digits, hyphens.")],
    role: Annotated[
        RoleWord, typer.Option(help="What the user may do; data_user is a researcher, too.")
    ] = "researcher",
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Add a user; print a first password and a token, once."""
    with connect(profile=profile) as client:
        added = client.add_user(name, read_role(role))
    if as_json:
        print_json(added)
    else:
        out.print(f"{role_name(added['role'])} [bold]{plain(added['name'])}[/]")
        if added.get("initial_password"):
            out.print("A first password for the pages, shown this once; it ends within a week:")
            print_line(plain(added["initial_password"]))
        out.print("A token for the command line, shown this once:")
        print_line(plain(added["token"]))  # the last line, where scripts take it from


def user_find(
    text: Annotated[str, typer.Argument(help="A part of a name, subject, affiliation or e-mail address.")],
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Find users by what their identity provider said at their last login, and see who is called alike."""
    with connect(profile=profile) as client:
        found = [user for user in client.users() if _fits(user, text)]
    if as_json:
        print_json(found)
        return
    rows = [
        (
            user["name"],
            role_name(user["role"]),
            *[(user["said"] or {}).get(part) or "-" for part in ("display_name", "affiliation", "email")],
            (user["said"] or {}).get("subject") or "-",
            ", ".join(user["near"]) or "-",
        )
        for user in found
    ]
    columns = ("name", "role", "called", "affiliation", "e-mail", "subject", "called alike")
    print_table("Users", columns, rows, empty="Nobody.")


def _fits(user: dict[str, Any], text: str) -> bool:
    parts = [user["name"], *[part for part in (user["said"] or {}).values() if part]]
    return any(text.casefold() in str(part).casefold() for part in parts)


def user_list(as_json: Json = False, profile: Profile = "default") -> None:
    """List all users."""
    with connect(profile=profile) as client:
        found = client.users()
    if as_json:
        print_json(found)
    else:
        rows = [
            (user["name"], role_name(user["role"]), "disabled" if user["disabled"] else "") for user in found
        ]
        print_table("Users", ("name", "role", ""), rows)


def user_password(
    name: Annotated[str, typer.Argument(help="Whose password is forgotten.")],
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Print a new first password for a user, once."""
    with connect(profile=profile) as client:
        renewed = client.renew_password(name)
    if as_json:
        print_json(renewed)
    else:
        out.print(f"A first password for [bold]{plain(name)}[/], shown this once; it ends within a week:")
        print_line(plain(renewed["initial_password"]))


def user_disable(
    name: Annotated[str, typer.Argument(help="Who may not log in any more.")],
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """End all sessions and tokens of a user, for good. What they did stays on record."""
    with connect(profile=profile) as client:
        disabled = client.disable_user(name)
    if as_json:
        print_json(disabled)
    else:
        out.print(f"[bold]{plain(name)}[/] is disabled")


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


def audit_shared_people(
    zone_folder: Annotated[
        Path | None, typer.Option(help="The worker zone's folder.", envvar="DPGATE_ZONE_FOLDER")
    ] = None,
    database_url: Annotated[
        str | None, typer.Option(help="The database of the workers.", envvar="DPGATE_DATABASE_URL")
    ] = None,
    home: HomeOption = None,
    as_json: Json = False,
) -> None:
    """Count people whom several rights holders have in common. On a worker's host, as the worker's user."""
    from store.keys import load_keys
    from store.people import CohortPeople
    from worker.shared_people import shared_people

    zone = zone_folder or home_of(home).worker_zone
    keys = load_keys(zone / "master.key")
    with opened_database(database_url, home) as database:
        found = shared_people(database, CohortPeople(zone / "cohorts", keys))
    if as_json:
        print_json({"warning": SHARED, "shared": [asdict(one) for one in found]})
        return
    rows = [
        (one.people, ", ".join(f"{each.cohort} ({each.owner})" for each in one.cohorts), _spent(one))
        for one in found
    ]
    print_table(
        "Shared people", ("people", "cohorts", "spent"), rows, empty="no two rights holders share one"
    )
    err.print(f"[yellow]{plain(SHARED)}[/]")


def _check_ours(place: Home) -> None:
    """Raises DpgateError where no database is known here, or where it is somebody else's."""
    if not place.has_database:
        if place.worker_zone.exists():
            raise DpgateError(
                f"{place.root} has a worker zone and no database: say where its database is, in "
                "DPGATE_DATABASE_URL or with --database-url, as the platform was started with"
            )
        raise DpgateError(f"there is no platform in {place.root}; name its folder with --home")
    if not place.is_ours:
        raise DpgateError(f"the platform in {place.root} is another user's; run this as that user")


@contextmanager
def opened_database(
    database_url: str | None, home: Path | None, *, is_new: bool = False
) -> Iterator[Database]:
    """Of this user, unless a restore makes it."""
    from store.database import Database

    place = home_of(home)
    if database_url is None and not is_new:
        _check_ours(place)
    database = Database(database_url or place.database_url)
    try:
        yield database
    finally:
        database.close()


def _spent(found: SharedPeople) -> str:
    """Cohort by cohort: amounts of several cohorts add up for whoever is in all of them."""
    return "; ".join(
        f"{each.cohort}: "
        + (", ".join(f"{currency} {amount}" for currency, amount in each.spent.items()) or "0")
        for each in found.cohorts
    )
