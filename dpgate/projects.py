"""Projects and grants through the client: `client.projects`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from dpgate.calls import Call, DriverT, Part, asked, record, records

Amounts = Mapping[str, str | float]


class Projects(Part[DriverT]):
    """Projects, and what they were granted. Every method is one request; answers are as the interface gives
    them."""

    @asked
    def make(self, name: str, *, title: str, purpose: str, ends_on: str) -> Call[dict[str, Any]]:
        """A project that you lead. `ends_on` is its last day, such as 2027-01-31, in UTC."""
        body = {"name": name, "title": title, "purpose": purpose, "ends_on": ends_on}
        return Call(record, "POST", "/projects", json=body)

    @asked
    def mine(self) -> Call[list[dict[str, Any]]]:
        """Your projects; for a rights holder those that asked for their data sets."""
        return Call(records, "GET", "/projects")

    @asked
    def show(self, project: str) -> Call[dict[str, Any]]:
        """Purpose, members, and `grants` with their share of each budget."""
        return Call(record, "GET", _path(project))

    @asked
    def history(self, project: str) -> Call[list[dict[str, Any]]]:
        """What happened to it and to its grants, newest first."""
        return Call(records, "GET", f"{_path(project)}/history")

    @asked
    def add_member(self, project: str, member: str) -> Call[dict[str, Any]]:
        """A data user who sees from now on what the project was granted (lead)."""
        return Call(record, "PUT", f"{_path(project)}/members/{_quoted(member)}")

    @asked
    def remove_member(self, project: str, member: str) -> Call[dict[str, Any]]:
        """The lead removes a member, or you leave."""
        return Call(record, "DELETE", f"{_path(project)}/members/{_quoted(member)}")

    @asked
    def hand_over(self, project: str, member: str) -> Call[dict[str, Any]]:
        """Another member leads from now on (lead)."""
        return Call(record, "PUT", f"{_path(project)}/lead", json={"lead": member})

    @asked
    def close(self, project: str) -> Call[dict[str, Any]]:
        """For good: nothing can be submitted with it any more (lead)."""
        return Call(record, "POST", f"{_path(project)}/closing")

    @asked
    def ask(self, project: str, dataset: str, *, why: str) -> Call[dict[str, Any]]:
        """Ask for a data set (lead). The answer does not say whether there is one of that name."""
        return Call(record, "PUT", _grant(project, dataset), json={"why": why})

    @asked
    def withdraw(self, project: str, dataset: str) -> Call[dict[str, Any]]:
        """Take an ask back, or give a grant back (lead)."""
        return Call(record, "DELETE", _grant(project, dataset))

    @asked
    def asks(self) -> Call[list[dict[str, Any]]]:
        """What waits for your decision, the longest first (rights holder)."""
        return Call(records, "GET", "/grants")

    @asked
    def grant_of(self, project: str, dataset: str) -> Call[dict[str, Any]]:
        """One grant: what was asked, what was decided, and its `accounts`."""
        return Call(record, "GET", _grant(project, dataset))

    @asked
    def grant(
        self, project: str, dataset: str, *, amounts: Amounts, ends_on: str | None = None, reason: str = ""
    ) -> Call[dict[str, Any]]:
        """Grant what was asked for: `amounts` by currency, until a day or the project's (rights holder)."""
        return self._terms("approval", project, dataset, amounts, ends_on, reason)

    @asked
    def refuse(self, project: str, dataset: str, *, reason: str) -> Call[dict[str, Any]]:
        """Refuse what was asked for (rights holder)."""
        return Call(record, "POST", f"{_grant(project, dataset)}/refusal", json={"reason": reason})

    @asked
    def change(
        self,
        project: str,
        dataset: str,
        *,
        amounts: Amounts | None = None,
        ends_on: str | None = None,
        reason: str = "",
    ) -> Call[dict[str, Any]]:
        """Change amounts or the last day; what is left out stays (rights holder)."""
        return self._terms("change", project, dataset, amounts or {}, ends_on, reason)

    @asked
    def end(self, project: str, dataset: str, *, reason: str) -> Call[dict[str, Any]]:
        """End a grant at once: nothing more is submitted with it (rights holder)."""
        return Call(record, "POST", f"{_grant(project, dataset)}/end", json={"reason": reason})

    def _terms(
        self, step: str, project: str, dataset: str, amounts: Amounts, ends_on: str | None, reason: str
    ) -> Call[dict[str, Any]]:
        body = {"amounts": dict(amounts), "ends_on": ends_on, "reason": reason}
        return Call(record, "POST", f"{_grant(project, dataset)}/{step}", json=body)


def _quoted(name: str) -> str:
    return quote(name, safe="")


def _path(project: str) -> str:
    return f"/projects/{_quoted(project)}"


def _grant(project: str, dataset: str) -> str:
    return f"{_path(project)}/grants/{_quoted(dataset)}"
