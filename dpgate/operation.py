"""The operator's side of a platform through the client: `client.operation`."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import quote

from dpgate.calls import Call, DriverT, Part, asked, nothing, record, records


class Operation(Part[DriverT]):
    """Workers, what is stuck, maintenance. Every method is one request, answered as the interface does."""

    @asked
    def show(self) -> Call[dict[str, Any]]:
        """The platform at a glance: versions, jobs by state, workers, what is stuck, maintenance."""
        return Call(record, "GET", "/operation")

    @asked
    def ready(self) -> Call[dict[str, Any]]:
        """Whether the gateway can do its work, in words. RequestRefused or PlatformUnreachable where not."""
        return Call(record, "GET", "/health/ready")

    @asked
    def workers(self) -> Call[list[dict[str, Any]]]:
        return Call(records, "GET", "/operation/workers")

    @asked
    def drain(self, worker: str, *, ends: bool = False) -> Call[dict[str, Any]]:
        """Take no new job; what runs is finished. `ends`: the worker's process ends then."""
        return Call(record, "PUT", f"{_path(worker)}/drain", json={"ends": ends})

    @asked
    def resume(self, worker: str) -> Call[dict[str, Any]]:
        """Take jobs again."""
        return Call(record, "DELETE", f"{_path(worker)}/drain")

    @asked
    def forget(self, worker: str) -> Call[None]:
        """Remove a worker from the list that is lost or has ended."""
        return Call(nothing, "DELETE", _path(worker))

    @asked
    def stuck(self) -> Call[list[dict[str, Any]]]:
        """What does not move, the longest first."""
        return Call(records, "GET", "/operation/stuck")

    @asked
    def mend(self, kind: str, subject: str) -> Call[dict[str, Any]]:
        """Have something taken up again that `stuck` lists; it may be asked twice."""
        return Call(record, "POST", "/operation/stuck", json={"kind": kind, "subject": subject})

    @asked
    def leadless(self) -> Call[list[dict[str, Any]]]:
        """Projects whose lead was disabled, with the members who could lead."""
        return Call(records, "GET", "/operation/projects")

    @asked
    def name_lead(self, project: str, member: str) -> Call[dict[str, Any]]:
        """Let a member lead a project whose lead was disabled."""
        path = f"/operation/projects/{quote(project, safe='')}/lead"
        return Call(record, "PUT", path, json={"lead": member})

    @asked
    def maintenance(self) -> Call[dict[str, Any]]:
        """Whether there is maintenance, why and until when; for everybody."""
        return Call(record, "GET", "/operation/maintenance")

    @asked
    def begin_maintenance(self, reason: str, *, until: datetime | None = None) -> Call[dict[str, Any]]:
        """Refuse what would change something, with this reason; `until` (with a zone) is the planned end."""
        body = {"reason": reason, "until": until.isoformat() if until else None}
        return Call(record, "PUT", "/operation/maintenance", json=body)

    @asked
    def end_maintenance(self) -> Call[dict[str, Any]]:
        return Call(record, "DELETE", "/operation/maintenance")

    @asked
    def providers(self) -> Call[list[dict[str, Any]]]:
        """Each identity provider, as it answers now."""
        return Call(records, "GET", "/operation/providers")

    @asked
    def decide_on(self, token: str) -> Call[list[dict[str, Any]]]:
        """What would be decided on an access token, step by step. It is kept nowhere."""
        return Call(records, "POST", "/operation/providers/decision", json={"token": token})

    @asked
    def tokens_of(self, user: str) -> Call[list[dict[str, Any]]]:
        """The tokens of a user that work, without their secret part."""
        return Call(records, "GET", f"/users/{quote(user, safe='')}/tokens")

    @asked
    def revoke_token_of(self, user: str, token_id: str) -> Call[None]:
        """It stops working at once."""
        return Call(nothing, "DELETE", f"/users/{quote(user, safe='')}/tokens/{quote(token_id, safe='')}")


def _path(worker: str) -> str:
    return f"/operation/workers/{quote(worker, safe='')}"
