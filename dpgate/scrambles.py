"""Scrambled twins through the client: `client.scrambles`. Real values in mixed order; no guarantee class.

People sign for a folder before it is sent: what is offered and signed are digests.
"""

from __future__ import annotations

import base64
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dpgate.unpacking import unpack

Ask = Callable[..., Any]


class Scrambles:
    """The part of a client that is about scrambled twins. Answers are as the interface gives them."""

    def __init__(self, ask: Ask, download: Callable[..., bytes]) -> None:
        self._ask = ask
        self._download = download

    def all(self, dataset: str) -> list[dict[str, Any]]:
        """Those that you may see, newest first, with their terms."""
        return list(self._ask("GET", _of(dataset)))

    def offer(
        self, dataset: str, offer: Mapping[str, Any], *, scramble_id: str | None = None
    ) -> dict[str, Any]:
        """Offer a folder; nothing of it is sent. Repeating a request with its id is harmless."""
        place = _of(dataset, scramble_id or str(uuid.uuid4()))
        return dict(self._ask("PUT", place, json=dict(offer)))

    def sign(
        self, dataset: str, scramble_id: str, *, leak_report: str, record: str | None = None
    ) -> dict[str, Any]:
        """Sign for it, as somebody who has read its leak report: `leak_report` is the SHA-256 of that file,
        `record` of the scramble.json that you looked at."""
        body = {"decision": "sign", "leak_report": leak_report, "record": record, "has_read": True}
        return dict(self._ask("POST", _of(dataset, scramble_id, "signature"), json=body))

    def refuse(self, dataset: str, scramble_id: str, *, reason: str) -> dict[str, Any]:
        """Refuse to sign for it: it never comes."""
        body = {"decision": "refuse", "reason": reason}
        return dict(self._ask("POST", _of(dataset, scramble_id, "signature"), json=body))

    def send(self, dataset: str, scramble_id: str, parts: Sequence[bytes]) -> dict[str, Any]:
        """Send its archive, in parts of 1 MiB; from the last one on it is handed out."""
        answer: dict[str, Any] = {}
        for number, part in enumerate(parts, 1):
            body = {"content": base64.b64encode(part).decode()}
            answer = dict(self._ask("PUT", _of(dataset, scramble_id, "parts", str(number)), json=body))
        return answer

    def withdraw(self, dataset: str, scramble_id: str, *, reason: str = "") -> dict[str, Any]:
        """No longer handed out, at once; the answer names those who have taken it."""
        return dict(self._ask("POST", _of(dataset, scramble_id, "withdrawal"), json={"reason": reason}))

    def take(self, dataset: str, scramble_id: str, folder: str | Path, *, terms: str) -> list[str]:
        """Agree to its terms, by the digest that came with them, and unpack it below `folder`; returns the
        paths written. It is recorded that you agreed."""
        place = _of(dataset, scramble_id, "download")
        return unpack(self._download(place, method="POST", json={"terms": terms}), Path(folder))


def _of(dataset: str, *parts: str) -> str:
    # a name with a slash or a question mark must not become another address
    places = [quote(dataset, safe=""), "twin", "scrambles", *(quote(part, safe="") for part in parts)]
    return "/datasets/" + "/".join(places)
