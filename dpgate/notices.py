"""Notices and channels of the logged-in user: `client.notices`. Every method is one request."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import quote


class Notices:
    """Part of a client: what was sent to you, and where it goes."""

    def __init__(self, send: Callable[..., Any]) -> None:
        self._send = send

    def sent(self) -> list[dict[str, Any]]:
        """What was or is to be sent to you, newest first."""
        return list(self._send("GET", "/notices"))

    def retry(self, notice_id: str) -> dict[str, Any]:
        """Try one of yours again that was given up."""
        return dict(self._send("POST", f"/notices/{_part(notice_id)}/retry"))

    def channels(self) -> dict[str, Any]:
        """Your e-mail address, your webhooks, what you are not told, and what the platform can send."""
        return dict(self._send("GET", "/channels"))

    def set_email(self, address: str) -> dict[str, Any]:
        """A code is sent there; `confirm_email` takes it. Nothing else goes there before."""
        return dict(self._send("PUT", "/channels/email", json={"address": address}))

    def confirm_email(self, code: str) -> dict[str, Any]:
        return dict(self._send("POST", "/channels/email/confirmation", json={"code": code}))

    def remove_email(self) -> dict[str, Any]:
        return dict(self._send("DELETE", "/channels/email"))

    def add_webhook(self, url: str) -> dict[str, Any]:
        """The answer holds the secret that notices are signed with, this once."""
        return dict(self._send("POST", "/channels/webhooks", json={"url": url}))

    def remove_webhook(self, webhook_id: str) -> dict[str, Any]:
        return dict(self._send("DELETE", f"/channels/webhooks/{_part(webhook_id)}"))

    def rotate_webhook(self, webhook_id: str) -> str:
        """Another secret; the one so far signs as well for a day."""
        answer = self._send("POST", f"/channels/webhooks/{_part(webhook_id)}/rotation")
        return str(answer["secret"])

    def test_webhook(self, webhook_id: str) -> dict[str, Any]:
        """Post a test there."""
        return dict(self._send("POST", f"/channels/webhooks/{_part(webhook_id)}/test"))

    def mute(self, kinds: Iterable[str]) -> dict[str, Any]:
        """Exactly these kinds are not told from now on."""
        return dict(self._send("PUT", "/channels/off", json={"off": sorted(set(kinds))}))

    def standing(self) -> list[dict[str, Any]]:
        """How many notices wait, were sent or were given up on the whole platform (operator)."""
        return list(self._send("GET", "/operation/notices"))

    def retry_all(
        self, *, channel: str | None = None, kind: str | None = None, problem: str | None = None
    ) -> int:
        """Try all again that were given up, of one sort if one is named (operator); how many."""
        wanted = {"channel": channel, "kind": kind, "problem": problem}
        return int(self._send("POST", "/operation/notices/retry", json=wanted)["retried"])


def _part(text: str) -> str:
    # an id with a slash must not become another address
    return quote(text, safe="")
