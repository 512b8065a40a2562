"""The help lists commands in the order of the route, also where one of them is a group."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup


class InRouteOrder(TyperGroup):
    """A group comes after all commands of its parent, unless it is named here with the command it follows."""

    after = {"twin": "datasets"}  # noqa: RUF012 - a class-wide table

    def list_commands(self, ctx: Any) -> list[str]:
        names = super().list_commands(ctx)
        for name, before in self.after.items():
            if name in names and before in names:
                names.remove(name)
                names.insert(names.index(before) + 1, name)
        return names
