"""Notices and channels of the logged-in user: `client.notices`. Every method is one request."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from dpgate.calls import Call, DriverT, Part, asked, record, records


class Notices(Part[DriverT]):
    """Part of a client: what was sent to you, and where it goes."""

    @asked
    def sent(self) -> Call[list[dict[str, Any]]]:
        """What was or is to be sent to you, newest first."""
        return Call(records, "GET", "/notices")

    @asked
    def retry(self, notice_id: str) -> Call[dict[str, Any]]:
        """Try one of yours again that was given up."""
        return Call(record, "POST", f"/notices/{_part(notice_id)}/retry")

    @asked
    def channels(self) -> Call[dict[str, Any]]:
        """Your e-mail address, your webhooks, what you are not told, and what the platform can send."""
        return Call(record, "GET", "/channels")

    @asked
    def set_email(self, address: str) -> Call[dict[str, Any]]:
        """A code is sent there; `confirm_email` takes it. Nothing else goes there before."""
        return Call(record, "PUT", "/channels/email", json={"address": address})

    @asked
    def confirm_email(self, code: str) -> Call[dict[str, Any]]:
        return Call(record, "POST", "/channels/email/confirmation", json={"code": code})

    @asked
    def remove_email(self) -> Call[dict[str, Any]]:
        return Call(record, "DELETE", "/channels/email")

    @asked
    def add_webhook(self, url: str) -> Call[dict[str, Any]]:
        """The answer holds the secret that notices are signed with, this once."""
        return Call(record, "POST", "/channels/webhooks", json={"url": url})

    @asked
    def remove_webhook(self, webhook_id: str) -> Call[dict[str, Any]]:
        return Call(record, "DELETE", f"/channels/webhooks/{_part(webhook_id)}")

    @asked
    def rotate_webhook(self, webhook_id: str) -> Call[str]:
        """Another secret; the one so far signs as well for a day."""
        path = f"/channels/webhooks/{_part(webhook_id)}/rotation"
        return Call(lambda raw: str(raw["secret"]), "POST", path)

    @asked
    def test_webhook(self, webhook_id: str) -> Call[dict[str, Any]]:
        """Post a test there."""
        return Call(record, "POST", f"/channels/webhooks/{_part(webhook_id)}/test")

    @asked
    def mute(self, kinds: Iterable[str]) -> Call[dict[str, Any]]:
        """Exactly these kinds are not told from now on."""
        return Call(record, "PUT", "/channels/off", json={"off": sorted(set(kinds))})

    @asked
    def standing(self) -> Call[list[dict[str, Any]]]:
        """How many notices wait, were sent or were given up on the whole platform (operator)."""
        return Call(records, "GET", "/operation/notices")

    @asked
    def retry_all(
        self, *, channel: str | None = None, kind: str | None = None, problem: str | None = None
    ) -> Call[int]:
        """Try all again that were given up, of one sort if one is named (operator); how many."""
        wanted = {"channel": channel, "kind": kind, "problem": problem}
        return Call(lambda raw: int(raw["retried"]), "POST", "/operation/notices/retry", json=wanted)


def _part(text: str) -> str:
    # an id with a slash must not become another address
    return quote(text, safe="")
