"""What a person may do, as people type and read it: programs call a researcher `data_user`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from dpgate.cli.output import plain

if TYPE_CHECKING:
    from domain.permissions import Role

RoleWord = Literal["researcher", "rights_holder", "operator", "data_user"]


def read_role(word: RoleWord) -> Role:
    from domain.permissions import Role

    return Role.DATA_USER if word == "researcher" else Role(word)


def role_name(role: str) -> str:
    """The word for people. A role that this version does not know stays as it is."""
    from domain.permissions import ROLE_NAMES, Role

    return ROLE_NAMES[Role(role)] if role in set(Role) else plain(role)
