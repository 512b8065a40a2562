"""The operator's side of a platform through the client: `client.operation`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any
from urllib.parse import quote


class Operation:
    """Workers, what is stuck, maintenance. Every method is one request, answered as the interface does."""

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask

    def show(self) -> dict[str, Any]:
        """The platform at a glance: versions, jobs by state, workers, what is stuck, maintenance."""
        return dict(self._ask("GET", "/operation"))

    def ready(self) -> dict[str, Any]:
        """Whether the gateway can do its work, in words. RequestRefused or PlatformUnreachable where not."""
        return dict(self._ask("GET", "/health/ready"))

    def workers(self) -> list[dict[str, Any]]:
        return list(self._ask("GET", "/operation/workers"))

    def drain(self, worker: str, *, ends: bool = False) -> dict[str, Any]:
        """Take no new job; what runs is finished. `ends`: the worker's process ends then."""
        return dict(self._ask("PUT", f"{_path(worker)}/drain", json={"ends": ends}))

    def resume(self, worker: str) -> dict[str, Any]:
        """Take jobs again."""
        return dict(self._ask("DELETE", f"{_path(worker)}/drain"))

    def forget(self, worker: str) -> None:
        """Remove a worker from the list that is lost or has ended."""
        self._ask("DELETE", _path(worker))

    def stuck(self) -> list[dict[str, Any]]:
        """What does not move, the longest first."""
        return list(self._ask("GET", "/operation/stuck"))

    def mend(self, kind: str, subject: str) -> dict[str, Any]:
        """Have something taken up again that `stuck` lists; it may be asked twice."""
        return dict(self._ask("POST", "/operation/stuck", json={"kind": kind, "subject": subject}))

    def leadless(self) -> list[dict[str, Any]]:
        """Projects whose lead was disabled, with the members who could lead."""
        return list(self._ask("GET", "/operation/projects"))

    def name_lead(self, project: str, member: str) -> dict[str, Any]:
        """Let a member lead a project whose lead was disabled."""
        path = f"/operation/projects/{quote(project, safe='')}/lead"
        return dict(self._ask("PUT", path, json={"lead": member}))

    def maintenance(self) -> dict[str, Any]:
        """Whether there is maintenance, why and until when; for everybody."""
        return dict(self._ask("GET", "/operation/maintenance"))

    def begin_maintenance(self, reason: str, *, until: datetime | None = None) -> dict[str, Any]:
        """Refuse what would change something, with this reason; `until` (with a zone) is the planned end."""
        body = {"reason": reason, "until": until.isoformat() if until else None}
        return dict(self._ask("PUT", "/operation/maintenance", json=body))

    def end_maintenance(self) -> dict[str, Any]:
        return dict(self._ask("DELETE", "/operation/maintenance"))

    def providers(self) -> list[dict[str, Any]]:
        """Each identity provider, as it answers now."""
        return list(self._ask("GET", "/operation/providers"))

    def decide_on(self, token: str) -> list[dict[str, Any]]:
        """What would be decided on an access token, step by step. It is kept nowhere."""
        return list(self._ask("POST", "/operation/providers/decision", json={"token": token}))

    def tokens_of(self, user: str) -> list[dict[str, Any]]:
        """The tokens of a user that work, without their secret part."""
        return list(self._ask("GET", f"/users/{quote(user, safe='')}/tokens"))

    def revoke_token_of(self, user: str, token_id: str) -> None:
        """It stops working at once."""
        self._ask("DELETE", f"/users/{quote(user, safe='')}/tokens/{quote(token_id, safe='')}")


def _path(worker: str) -> str:
    return f"/operation/workers/{quote(worker, safe='')}"
