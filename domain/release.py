"""A release: noised values, what was promised about them, and the certificate that says so."""

from __future__ import annotations

import base64
import json
from datetime import datetime
from typing import Any

from domain.model import Model, canonical
from privacy.loss import GuaranteeClass

PREDICATE_TYPE = "urn:dpgate:predicate:release:v1"
PAYLOAD_TYPE = "application/vnd.in-toto+json"


class ReleasedValue(Model):
    """One released number. The interval is for the noise alone: it says nothing about sampling error."""

    name: str
    value: float
    lower_95: float
    upper_95: float
    noise_scale: float
    grid_step: float


class Release(Model):
    """What leaves the platform, and all that leaves."""

    id: str
    job_id: str
    dataset: str
    dataset_version: int
    guarantee: GuaranteeClass
    micro_epsilon: int
    values: tuple[ReleasedValue, ...]
    files: dict[str, str]
    certificate: dict[str, Any]
    created_at: datetime


def statement(*, subjects: dict[str, str], predicate: dict[str, Any]) -> dict[str, Any]:
    """An in-toto Statement v1 over the released files; `subjects` maps a file's name to its sha256."""
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": name, "digest": {"sha256": value}} for name, value in sorted(subjects.items())],
        "predicateType": PREDICATE_TYPE,
        "predicate": predicate,
    }


def pre_authentication_encoding(payload: bytes) -> bytes:
    """The bytes that a DSSE signature covers (DSSE v1, protocol.md)."""
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def envelope(signed_statement: dict[str, Any], *, signature: bytes, key_id: str) -> dict[str, Any]:
    """A DSSE envelope around a statement."""
    return {
        "payloadType": PAYLOAD_TYPE,
        "payload": base64.b64encode(canonical(signed_statement)).decode(),
        "signatures": [{"keyid": key_id, "sig": base64.b64encode(signature).decode()}],
    }


def opened(certificate: dict[str, Any]) -> dict[str, Any]:
    """The statement inside an envelope. Does not check the signature."""
    content: dict[str, Any] = json.loads(base64.b64decode(certificate["payload"]))
    return content
