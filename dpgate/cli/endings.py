"""Commands that end a data set: `dpgate dataset withdraw`, `dpgate dataset erase`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from dpgate.cli.mandates import Deliveries, custody_of, delivered_to, say_where
from dpgate.cli.output import Json, Profile, err, out, plain, print_json
from dpgate.client import connect

Name = Annotated[str, typer.Argument(help="The data set's name.")]


class Running(StrEnum):
    finish = "finish"
    cancel = "cancel"


def dataset_withdraw(
    name: Name,
    running: Annotated[
        Running, typer.Option(help="Whether charged jobs end as they would, or are cancelled.")
    ] = Running.finish,
    yes: Annotated[bool, typer.Option("--yes", help="Withdraw without a question.")] = False,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Let no new job see a data set. Jobs that are not charged are cancelled; releases stay.

    What was spent of the budget stays spent. A later version of the data set takes jobs again.
    """
    with connect(profile=profile) as client:
        if not yes:
            found = client.endings.open_jobs(name)
            rest = "cancelled" if running is Running.cancel else "left to end"
            out.print(f"not charged, to be cancelled: {found['uncharged']}")
            out.print(f"charged, to be {rest}: {found['running']}")
            out.print(f"their release in review, to be {rest}: {found['in_review']}")
            out.print(f"close to their end, to be {rest}: {found['ending']}")
            typer.confirm(f"Withdraw {name}?", abort=True)
        done = client.endings.withdraw(name, running=running.value)
    if as_json:
        print_json(done)
        return
    out.print(f"[bold]{plain(name)}[/] is {plain(done['state'])}: it takes no new jobs")
    out.print(f"  {done['cancelled']} jobs were cancelled; {_left(done['open'])} go on to their end")


def _left(found: dict[str, int]) -> int:
    return found["running"] + found["in_review"] + found["ending"]


def dataset_erase(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Erase without a question.")] = False,
    deliveries: Deliveries = None,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Have the key destroyed that seals a data set. Nothing opens its data any more; releases stay.

    This cannot be undone. The data set is withdrawn, and jobs that run are cancelled. Where your key guards
    it, the worker zone goes on when that key has signed: this command signs. Again says how far it is, and
    with --json prints the deletion record that the worker zone has signed.
    """
    own = custody_of(profile)
    signs = own.newest(name) is not None
    if signs:
        own.check_opens()
    with connect(profile=profile) as client:
        found = client.endings.erasure(name)
        if found["state"] == "NONE" and not yes:
            out.print("The key is destroyed in the worker zone, for all versions. It cannot be undone.")
            if typer.prompt("The data set's name, to confirm").strip() != name:
                raise typer.Abort
        found = client.endings.erase(name)
    # what nobody signs, the worker zone does not erase; it says so
    if found["state"] != "DONE" and (order := own.to_erase(name)) is not None:
        say_where(own.deliver(order, delivered_to(own, deliveries)), err)
    if as_json:
        print_json(found)
        return
    if found["state"] == "DONE":
        out.print(f"[bold]{plain(name)}[/] is erased: its key was destroyed on {plain(found['done_at'])}")
        return
    waits = f"; it waits: {plain(found['waits_for'])}" if found["waits_for"] else ""
    out.print(f"[bold]{plain(name)}[/] is being erased{waits}. Ask again to see how far it is.")
