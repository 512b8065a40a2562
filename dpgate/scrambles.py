"""Scrambled twins through the client: `client.scrambles`. Real values in mixed order; no guarantee class.

People sign for a folder before it is sent: what is offered and signed are digests.
"""

from __future__ import annotations

import base64
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dpgate import calls
from dpgate.calls import Call, DriverT, Part, Steps, asked, record, records
from dpgate.unpacking import unpack


class Scrambles(Part[DriverT]):
    """The part of a client that is about scrambled twins. Answers are as the interface gives them."""

    @asked
    def all(self, dataset: str) -> Call[list[dict[str, Any]]]:
        """Those that you may see, newest first, with their terms."""
        return Call(records, "GET", _of(dataset))

    @asked
    def offer(
        self, dataset: str, offer: Mapping[str, Any], *, scramble_id: str | None = None
    ) -> Call[dict[str, Any]]:
        """Offer a folder; nothing of it is sent. Repeating a request with its id is harmless."""
        place = _of(dataset, scramble_id or str(uuid.uuid4()))
        return Call(record, "PUT", place, json=dict(offer))

    @asked
    def sign(
        self, dataset: str, scramble_id: str, *, leak_report: str, record: str | None = None
    ) -> Call[dict[str, Any]]:
        """Sign for it, as somebody who has read its leak report: `leak_report` is the SHA-256 of that file,
        `record` of the scramble.json that you looked at."""
        body = {"decision": "sign", "leak_report": leak_report, "record": record, "has_read": True}
        return Call(calls.record, "POST", _of(dataset, scramble_id, "signature"), json=body)

    @asked
    def refuse(self, dataset: str, scramble_id: str, *, reason: str) -> Call[dict[str, Any]]:
        """Refuse to sign for it: it never comes."""
        body = {"decision": "refuse", "reason": reason}
        return Call(record, "POST", _of(dataset, scramble_id, "signature"), json=body)

    @asked
    def send(self, dataset: str, scramble_id: str, parts: Sequence[bytes]) -> Steps[dict[str, Any]]:
        """Send its archive, in parts of 1 MiB; from the last one on it is handed out."""
        answer: dict[str, Any] = {}
        for number, part in enumerate(parts, 1):
            body = {"content": base64.b64encode(part).decode()}
            answer = yield Call(record, "PUT", _of(dataset, scramble_id, "parts", str(number)), json=body)
        return answer

    @asked
    def withdraw(self, dataset: str, scramble_id: str, *, reason: str = "") -> Call[dict[str, Any]]:
        """No longer handed out, at once; the answer names those who have taken it."""
        return Call(record, "POST", _of(dataset, scramble_id, "withdrawal"), json={"reason": reason})

    @asked
    def take(self, dataset: str, scramble_id: str, folder: str | Path, *, terms: str) -> Call[list[str]]:
        """Agree to its terms, by the digest that came with them, and unpack it below `folder`; returns the
        paths written. It is recorded that you agreed."""
        place = _of(dataset, scramble_id, "download")
        body = {"terms": terms}
        return Call(lambda raw: unpack(raw, Path(folder)), "POST", place, takes="octets", json=body)


def _of(dataset: str, *parts: str) -> str:
    # a name with a slash or a question mark must not become another address
    places = [quote(dataset, safe=""), "twin", "scrambles", *(quote(part, safe="") for part in parts)]
    return "/datasets/" + "/".join(places)
