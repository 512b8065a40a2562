"""Policies through the client: `client.policies`."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from dpgate.calls import Call, DriverT, Part, asked, record, records

Policy = dict[str, Any]


class Policies(Part[DriverT]):
    """The policies of data sets. Every method is one request; answers are as the interface gives them."""

    @asked
    def show(self, dataset: str) -> Call[dict[str, Any]]:
        """The policy in effect: `number`, `policy`, and for its rights holder who changed it and why."""
        return Call(record, "GET", _path(dataset))

    @asked
    def history(self, dataset: str) -> Call[list[dict[str, Any]]]:
        """All policies, the newest first, each with the fields that `changed` (rights holder)."""
        return Call(records, "GET", f"{_path(dataset)}/history")

    @asked
    def change(self, dataset: str, policy: Policy, *, number: int, reason: str) -> Call[dict[str, Any]]:
        """Bring another policy into effect (rights holder).

        `number` is that of the policy which the change was made from: RequestRefused (409) when another is
        in effect by now. Jobs on their way keep the policy they were submitted under.
        """
        body = {"number": number, "reason": reason, "policy": policy}
        return Call(record, "PUT", _path(dataset), json=body)

    @asked
    def simulate(self, dataset: str, policy: Policy) -> Call[dict[str, Any]]:
        """What a policy would have decided on the jobs on record (rights holder). Nothing changes."""
        return Call(record, "POST", f"{_path(dataset)}/simulation", json={"policy": policy})


def _path(dataset: str) -> str:
    return f"/datasets/{quote(dataset, safe='')}/policy"
