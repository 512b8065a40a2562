"""A command of rights holders: allot the budget."""

from __future__ import annotations

from typing import Annotated

import typer

from dpgate.cli.output import Json, Profile, plain, say
from dpgate.client import connect
from dpgate.errors import DpgateError


def allot(
    dataset: Annotated[str, typer.Argument(help="The data set's name.")],
    epsilon: Annotated[str | None, typer.Option(help="How much of the budget of epsilon.")] = None,
    delta: Annotated[str | None, typer.Option(help="How much of the budget of delta.")] = None,
    rho: Annotated[str | None, typer.Option(help="How much rho, with accounting zcdp.")] = None,
    nats: Annotated[str | None, typer.Option(help="How many nats, for PAC privacy.")] = None,
    releases: Annotated[str | None, typer.Option(help="How many releases with no formal guarantee.")] = None,
    user: Annotated[str | None, typer.Option(help="For this user.")] = None,
    project: Annotated[str | None, typer.Option(help="For this project.")] = None,
    member: Annotated[list[str] | None, typer.Option(help="A member of the project; repeat it.")] = None,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Allot a part of a data set's budget to a user or a project."""
    if bool(user) == bool(project):
        raise DpgateError("name either --user or --project")
    if user and member:
        raise DpgateError("--member belongs to --project")
    asked = {"epsilon": epsilon, "delta": delta, "rho": rho, "nats": nats, "releases": releases}
    given = [(currency, amount) for currency, amount in asked.items() if amount is not None]
    if len(given) != 1:
        raise DpgateError("name one amount: --epsilon, --delta, --rho, --nats or --releases")
    currency, amount = given[0]
    kind, holder = ("user", user) if user else ("project", project)
    with connect(profile=profile) as client:
        account = client.allot(
            dataset,
            kind=kind,
            holder=str(holder),
            currency=currency,
            amount=amount,
            members=tuple(member) if member else None,
        )
    say(
        vars(account),
        f"{account.kind} {plain(account.holder)}: may spend {account.currency} {plain(account.cap)} of "
        f"the budget of {plain(dataset)}, {plain(account.left)} left",
        as_json=as_json,
    )
