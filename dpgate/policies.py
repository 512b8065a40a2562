"""Policies through the client: `client.policies`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

Policy = dict[str, Any]


class Policies:
    """The policies of data sets. Every method is one request; answers are as the interface gives them."""

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask

    def show(self, dataset: str) -> dict[str, Any]:
        """The policy in effect: `number`, `policy`, and for its rights holder who changed it and why."""
        return dict(self._ask("GET", _path(dataset)))

    def history(self, dataset: str) -> list[dict[str, Any]]:
        """All policies, the newest first, each with the fields that `changed` (rights holder)."""
        return list(self._ask("GET", f"{_path(dataset)}/history"))

    def change(self, dataset: str, policy: Policy, *, number: int, reason: str) -> dict[str, Any]:
        """Bring another policy into effect (rights holder).

        `number` is that of the policy which the change was made from: RequestRefused (409) when another is
        in effect by now. Jobs on their way keep the policy they were submitted under.
        """
        body = {"number": number, "reason": reason, "policy": policy}
        return dict(self._ask("PUT", _path(dataset), json=body))

    def simulate(self, dataset: str, policy: Policy) -> dict[str, Any]:
        """What a policy would have decided on the jobs on record (rights holder). Nothing changes."""
        return dict(self._ask("POST", f"{_path(dataset)}/simulation", json={"policy": policy}))


def _path(dataset: str) -> str:
    return f"/datasets/{quote(dataset, safe='')}/policy"
