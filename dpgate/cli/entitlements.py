"""Commands about entitlements: which groups of people's organisations give which rights here."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from dpgate.cli import long_examples
from dpgate.cli.output import Json, Profile, plain, print_json, print_table, say
from dpgate.cli.roles import RoleWord, read_role
from dpgate.client import connect
from dpgate.errors import DpgateError

OfDataset = Annotated[str | None, typer.Option("--dataset", help="Reviews of this data set of yours.")]
OfProject = Annotated[str | None, typer.Option("--project", help="Places in this project of yours.")]
COLUMNS = ("id", "entitlement", "gives", "about", "holds for")


def entitlement_add(
    entitlement: Annotated[str, typer.Argument(help="As the identity provider writes it, letter by letter.")],
    role: Annotated[
        RoleWord | None, typer.Option(help="Gives this role; data_user is a researcher, too.")
    ] = None,
    dataset: OfDataset = None,
    project: OfProject = None,
    leads: Annotated[bool, typer.Option("--leads", help="With --project: they lead it too.")] = False,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Let an entitlement give a role, reviews of a data set, or places in a project."""
    if [role, dataset, project].count(None) != 2:
        raise DpgateError("name one of --role, --dataset and --project")
    if leads and project is None:
        raise DpgateError("--leads belongs to --project")
    with connect(profile=profile) as client:
        if role is not None:
            found = client.entitlements.give_role(entitlement, read_role(role))
        elif dataset is not None:
            found = client.entitlements.give_reviews(dataset, entitlement)
        else:
            found = client.entitlements.give_places(str(project), entitlement, leads=leads)
    say(found, f"{plain(found['id'])}: from their next login on", as_json=as_json)


def entitlement_list(
    dataset: OfDataset = None,
    project: OfProject = None,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """List what entitlements give, and for whom: roles, or of one data set or project."""
    _check_one(dataset, project)
    with connect(profile=profile) as client:
        if dataset is not None:
            found = client.entitlements.reviewers(dataset)
        elif project is not None:
            found = client.entitlements.places(project)
        else:
            found = client.entitlements.roles()
    _print(found, as_json=as_json)


def entitlement_remove(
    rule: Annotated[str, typer.Argument(metavar="ID", help="As `dpgate entitlement list` shows it.")],
    dataset: OfDataset = None,
    project: OfProject = None,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Take a right from an entitlement. Whoever had it by that alone has it no longer."""
    _check_one(dataset, project)
    with connect(profile=profile) as client:
        if dataset is not None:
            found = client.entitlements.take_reviews(dataset, rule)
        elif project is not None:
            found = client.entitlements.take_places(project, rule)
        else:
            found = client.entitlements.take_role(rule)
    _print(found, as_json=as_json)


def _check_one(dataset: str | None, project: str | None) -> None:
    if dataset is not None and project is not None:
        raise DpgateError("name either --dataset or --project")


def _print(found: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    rows = [
        (one["id"], one["entitlement"], one["gives"], one["about"], ", ".join(one["holds_for"]) or "-")
        for one in found
    ]
    print_table("Entitlements", COLUMNS, rows, empty="None.")


commands = typer.Typer(help="Rights that groups of people's organisations give.", no_args_is_help=True)
for name, command, example in (
    ("add", entitlement_add, long_examples.ENTITLEMENT),
    ("list", entitlement_list, "dpgate entitlement list --profile operator"),
    ("remove", entitlement_remove, "dpgate entitlement remove 0123456789abcdef --profile operator"),
):
    commands.command(name, epilog=f"Example: {example}")(command)
