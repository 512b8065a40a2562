"""Profiles of deliveries through the client: `client.profiles`.

A profile has seen original data. The worker zone seals it to your key; what comes here is what your key alone
opens, and `dpgate twin profile` opens it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from dpgate.calls import Call, DriverT, Part, Pause, Steps, asked, nothing
from dpgate.errors import NotFinished


@dataclass(frozen=True)
class DeliveredProfile:
    """How far a profile is. `fingerprint` is that of the key which the platform was asked to seal it to."""

    id: str
    name: str
    delivery: str
    state: str
    problem: str | None
    fingerprint: str
    next_end_at: str | None
    raw: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, raw: dict[str, Any]) -> DeliveredProfile:
        names = ("id", "name", "delivery", "state", "problem", "fingerprint", "next_end_at")
        return cls(**{name: raw[name] for name in names}, raw=raw)

    @property
    def is_finished(self) -> bool:
        return self.state in ("SEALED", "FAILED")


class Profiles(Part[DriverT]):
    """The part of a client that has deliveries profiled."""

    @asked
    def request(
        self, profile_id: str, name: str, *, delivery: str, key: str, people: Mapping[str, str] | None = None
    ) -> Call[DeliveredProfile]:
        """Have a delivery profiled for the public key that came with it. `people`: the column of people by
        table, where the platform would guess wrong. Repeating it with the same id is harmless."""
        body = {"name": name, "delivery": delivery, "key": key, "people": dict(people or {})}
        return Call(DeliveredProfile.of, "PUT", _of(profile_id), json=body)

    @asked
    def get(self, profile_id: str) -> Call[DeliveredProfile]:
        return Call(DeliveredProfile.of, "GET", _of(profile_id))

    @asked
    def all(self) -> Call[list[DeliveredProfile]]:
        """Yours, newest first."""
        return Call(lambda raw: [DeliveredProfile.of(one) for one in raw], "GET", "/profiles")

    @asked
    def sealed(self, profile_id: str) -> Call[bytes]:
        """What the worker zone sealed."""
        return Call(bytes, "GET", f"{_of(profile_id)}/sealed", takes="octets")

    @asked
    def remove(self, profile_id: str) -> Call[None]:
        """Whatever its state; what was delivered stays."""
        return Call(nothing, "DELETE", _of(profile_id))

    @asked
    def wait(
        self,
        profile_id: str,
        *,
        timeout_s: float = 6 * 3600,
        poll_s: float = 1,
        progress: Callable[[DeliveredProfile], None] | None = None,
    ) -> Steps[DeliveredProfile]:
        """The profile once it is SEALED or FAILED. Raises NotFinished when it takes longer."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            found = yield Call(DeliveredProfile.of, "GET", _of(profile_id))
            if progress is not None:
                progress(found)
            if found.is_finished:
                return found
            yield Pause(poll_s)
        raise NotFinished(f"profile {profile_id} is not finished after {timeout_s:g} s; ask again later")


def _of(profile_id: str) -> str:
    return f"/profiles/{quote(profile_id, safe='')}"
