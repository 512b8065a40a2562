"""Rights that entitlements of the identity provider give, through the client: `client.entitlements`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

ROLES = "/entitlements/roles"


class Entitlements:
    """Groups of people's organisations, and what they give. Every method is one request."""

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask

    def roles(self) -> list[dict[str, Any]]:
        """Which entitlements give a role, beside those of the settings (operator)."""
        return [*self._ask("GET", ROLES)]

    def give_role(self, entitlement: str, role: str) -> dict[str, Any]:
        """Whoever is entitled has this role from their next login on (operator)."""
        return dict(self._ask("POST", ROLES, json={"entitlement": entitlement, "role": role}))

    def take_role(self, rule: str) -> list[dict[str, Any]]:
        """Sessions and tokens of those for whom it held end (operator). Returns what is left."""
        return [*self._ask("DELETE", f"{ROLES}/{_quoted(rule)}")]

    def reviewers(self, dataset: str) -> list[dict[str, Any]]:
        """Which entitlements give reviews of your data set (rights holder)."""
        return [*self._ask("GET", _dataset(dataset))]

    def give_reviews(self, dataset: str, entitlement: str) -> dict[str, Any]:
        """Whoever is entitled and a rights holder reviews the data set beside you (rights holder)."""
        return dict(self._ask("POST", _dataset(dataset), json={"entitlement": entitlement}))

    def take_reviews(self, dataset: str, rule: str) -> list[dict[str, Any]]:
        """They review it no longer, at once (rights holder). Returns what is left."""
        return [*self._ask("DELETE", f"{_dataset(dataset)}/{_quoted(rule)}")]

    def places(self, project: str) -> list[dict[str, Any]]:
        """Which entitlements make members of a project of yours."""
        return [*self._ask("GET", _project(project))]

    def give_places(self, project: str, entitlement: str, *, leads: bool = False) -> dict[str, Any]:
        """Whoever is entitled and a data user is a member, or leads it too (lead)."""
        body = {"entitlement": entitlement, "leads": leads}
        return dict(self._ask("POST", _project(project), json=body))

    def take_places(self, project: str, rule: str) -> list[dict[str, Any]]:
        """Who came by it alone is no member any more (lead). Returns what is left."""
        return [*self._ask("DELETE", f"{_project(project)}/{_quoted(rule)}")]


def _quoted(name: str) -> str:
    return quote(name, safe="")


def _dataset(name: str) -> str:
    return f"/datasets/{_quoted(name)}/entitlements"


def _project(name: str) -> str:
    return f"/projects/{_quoted(name)}/entitlements"
