"""What `dpgate --help` shows at first, and the doors behind which the rest is listed, by who needs it.

A door lists and changes nothing: `dpgate holder policy show` and `dpgate policy show` are one command.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import typer

FIRST = (
    "login", "datasets", "twin", "run", "preview", "submit", "status", "result", "cancel", "budget", "query",
    "up", "demo",
)  # fmt: skip
MORE, HOLDER, ADMIN, LAB = "more", "holder", "admin", "lab"
WHAT_IS_BEHIND = {
    MORE: "Also for researchers: rehearsals, citations, projects, notices, tokens.",
    HOLDER: "For rights holders: data sets, policies, reviews, keys.",
    ADMIN: "For operators: people, workers, images, the audit trail.",
    LAB: "Attack unsound noise, and ours, on data that you hold; perturb and check your own.",
}
IN_THE_LAB = ("perturb", "anonymity")
PANEL = "The rest, by who needs it"


def name_of(command: Any) -> str:
    return command.name or typer.main.get_command_name(command.callback.__name__)


def put_behind(app: typer.Typer, door_of_panel: dict[str, str]) -> None:
    """Hide from the first page what is not of it, and add the doors, which show it.

    `lab` has commands of its own and becomes the last of the doors.
    """
    laboratory = next(group for group in app.registered_groups if group.name == LAB)
    app.registered_groups.remove(laboratory)
    doors = {name: typer.Typer(no_args_is_help=True) for name in (MORE, HOLDER, ADMIN)}
    doors[LAB] = laboratory.typer_instance or typer.Typer()
    one: Any
    for one in (*app.registered_commands, *app.registered_groups):
        name, shown = name_of(one), copy(one)
        if name in FIRST:
            continue
        one.hidden, shown.rich_help_panel = True, None
        door = doors[LAB if name in IN_THE_LAB else door_of_panel[str(one.rich_help_panel)]]
        kept: list[Any] = (
            door.registered_groups if hasattr(one, "typer_instance") else door.registered_commands
        )
        kept.append(shown)
    for name, door in doors.items():
        app.add_typer(door, name=name, help=WHAT_IS_BEHIND[name], rich_help_panel=PANEL)
