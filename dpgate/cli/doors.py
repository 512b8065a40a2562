"""What `dpgate --help` shows at first, and the doors behind which the rest is listed, by who needs it.

A door lists and changes nothing: `dpgate holder policy show` and `dpgate policy show` are one command.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import typer

RESEARCHERS, HOLDERS, OPERATORS = "Researcher, in the order of the route", "Rights holder", "Operator"
# what the first page says of each command: it is shown without the imports of any
FIRST = {
    "login": "Keep a login on this machine: with a token, a password, or your organisation's account.",
    "datasets": "Show the data sets that you may use.",
    "twin": "Anonymised stand-ins of data sets, to develop on.",
    "run": "Run a pipeline on the twin, here, in the same sandbox, and lock the shape of its output.",
    "preview": "Show the error to expect and what to choose, before anything is spent.",
    "submit": "Submit a pipeline to run on the original data.",
    "status": "Show one job, or your newest ones.",
    "result": (
        "Print a job's release: values, noise interval, guarantee; with --json the certificate as well."
    ),
    "cancel": "Cancel a job. Before it runs the budget comes back; afterwards the charge stands.",
    "budget": "Show what is left of a data set's privacy budget.",
    "query": "Counts, means, quantiles and the like, without a pipeline.",
    "up": "Start the whole platform on this machine and keep it running.",
    "demo": (
        "Ask public data questions, let a spy try, run out of budget: in a platform that ends with the demo."
    ),
}
MORE, HOLDER, ADMIN, LAB = "more", "holder", "admin", "lab"
WHAT_IS_BEHIND = {
    MORE: "Also for researchers: rehearsals, citations, projects, notices, tokens.",
    HOLDER: "For rights holders: data sets, policies, reviews, keys.",
    ADMIN: "For operators: people, workers, images, the audit trail.",
    LAB: "Attack unsound noise, and ours, on data that you hold; perturb and check your own.",
}
IN_THE_LAB = ("perturb", "anonymity")
PANEL = "The rest, by who needs it"
_DOORS = {RESEARCHERS: MORE, HOLDERS: HOLDER, OPERATORS: ADMIN}


def name_of(command: Any) -> str:
    return command.name or typer.main.get_command_name(command.callback.__name__)


def name_of_place(place: str) -> str:
    """The name of a command by the function that it is."""
    return place.partition(".")[2].replace("_", "-")


def door_of(name: str, panel: str) -> str:
    """The door behind which it is listed; none of what the first page shows."""
    if name in FIRST:
        return ""
    return LAB if name == LAB or name in IN_THE_LAB else _DOORS[panel]


def put_behind(app: typer.Typer) -> None:
    """Hide from the first page what is not of it, and add the doors, which show it.

    `lab` has commands of its own and becomes the last of the doors.
    """
    doors = {name: typer.Typer(no_args_is_help=True) for name in (MORE, HOLDER, ADMIN)}
    for group in app.registered_groups:
        if group.name == LAB:
            doors[LAB] = group.typer_instance or typer.Typer()
    app.registered_groups = [group for group in app.registered_groups if group.name != LAB]
    one: Any
    for one in (*app.registered_commands, *app.registered_groups):
        name, shown = name_of(one), copy(one)
        if name in FIRST:
            continue
        one.hidden, shown.rich_help_panel = True, None
        # a part of the lab by its own word needs no door
        if (door := doors.get(door_of(name, str(one.rich_help_panel)))) is not None:
            is_group = hasattr(one, "typer_instance")
            kept: list[Any] = door.registered_groups if is_group else door.registered_commands
            kept.append(shown)
    for name, door in doors.items():
        add_door(app, name, door)


def add_door(app: typer.Typer, name: str, door: typer.Typer) -> None:
    app.add_typer(door, name=name, help=WHAT_IS_BEHIND[name], rich_help_panel=PANEL)


def first_page(app: typer.Typer) -> None:
    """Names and lines alone, for whoever asks what there is: they run nothing."""
    for name, line in FIRST.items():
        panel = OPERATORS if name in ("up", "demo") else RESEARCHERS
        app.command(name, help=line, rich_help_panel=panel)(_nothing)
    for name in WHAT_IS_BEHIND:
        add_door(app, name, typer.Typer())


def _nothing() -> None:
    raise AssertionError("a line of the first page was run")
