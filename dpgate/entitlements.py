"""Rights that entitlements of the identity provider give, through the client: `client.entitlements`."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from dpgate.calls import Call, DriverT, Part, asked, record, records

ROLES = "/entitlements/roles"


class Entitlements(Part[DriverT]):
    """Groups of people's organisations, and what they give. Every method is one request."""

    @asked
    def roles(self) -> Call[list[dict[str, Any]]]:
        """Which entitlements give a role, beside those of the settings (operator)."""
        return Call(records, "GET", ROLES)

    @asked
    def give_role(self, entitlement: str, role: str) -> Call[dict[str, Any]]:
        """Whoever is entitled has this role from their next login on (operator)."""
        return Call(record, "POST", ROLES, json={"entitlement": entitlement, "role": role})

    @asked
    def take_role(self, rule: str) -> Call[list[dict[str, Any]]]:
        """Sessions and tokens of those for whom it held end (operator). Returns what is left."""
        return Call(records, "DELETE", f"{ROLES}/{_quoted(rule)}")

    @asked
    def reviewers(self, dataset: str) -> Call[list[dict[str, Any]]]:
        """Which entitlements give reviews of your data set (rights holder)."""
        return Call(records, "GET", _dataset(dataset))

    @asked
    def give_reviews(self, dataset: str, entitlement: str) -> Call[dict[str, Any]]:
        """Whoever is entitled and a rights holder reviews the data set beside you (rights holder)."""
        return Call(record, "POST", _dataset(dataset), json={"entitlement": entitlement})

    @asked
    def take_reviews(self, dataset: str, rule: str) -> Call[list[dict[str, Any]]]:
        """They review it no longer, at once (rights holder). Returns what is left."""
        return Call(records, "DELETE", f"{_dataset(dataset)}/{_quoted(rule)}")

    @asked
    def places(self, project: str) -> Call[list[dict[str, Any]]]:
        """Which entitlements make members of a project of yours."""
        return Call(records, "GET", _project(project))

    @asked
    def give_places(self, project: str, entitlement: str, *, leads: bool = False) -> Call[dict[str, Any]]:
        """Whoever is entitled and a data user is a member, or leads it too (lead)."""
        body = {"entitlement": entitlement, "leads": leads}
        return Call(record, "POST", _project(project), json=body)

    @asked
    def take_places(self, project: str, rule: str) -> Call[list[dict[str, Any]]]:
        """Who came by it alone is no member any more (lead). Returns what is left."""
        return Call(records, "DELETE", f"{_project(project)}/{_quoted(rule)}")


def _quoted(name: str) -> str:
    return quote(name, safe="")


def _dataset(name: str) -> str:
    return f"/datasets/{_quoted(name)}/entitlements"


def _project(name: str) -> str:
    return f"/projects/{_quoted(name)}/entitlements"
