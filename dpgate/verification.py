"""Check a release offline: the signature, the files, and that the values shown are the values signed."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from domain.loss import format_epsilon
from domain.release import opened, pre_authentication_encoding


def check_release(release: dict[str, Any], public_key_pem: str) -> dict[str, Any] | None:
    """The signed statement when everything fits, else None."""
    try:
        certificate = release["certificate"]
        payload = base64.b64decode(certificate["payload"], validate=True)
        signature = base64.b64decode(certificate["signatures"][0]["sig"], validate=True)
        key = load_pem_public_key(public_key_pem.encode())
        if not isinstance(key, Ed25519PublicKey):
            return None
        key.verify(signature, pre_authentication_encoding(payload))
        statement = opened(certificate)
        return statement if _fits(statement, release) else None
    except (
        InvalidSignature,
        UnsupportedAlgorithm,
        KeyError,
        ValueError,
        TypeError,
        IndexError,
        AttributeError,
    ):
        return None


def _fits(statement: dict[str, Any], release: dict[str, Any]) -> bool:
    files = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in release["files"].items()}
    signed_files = {subject["name"]: subject["digest"]["sha256"] for subject in statement["subject"]}
    predicate = statement["predicate"]
    return (
        files == signed_files
        and [_shown(value) for value in release["values"]] == [_signed(out) for out in predicate["outputs"]]
        and predicate["job"] == release["job_id"]
        and predicate["dataset"]["name"] == release["dataset"]
        and predicate["guarantee"]["class"] == release["guarantee"]
        and predicate["guarantee"]["epsilon"] == format_epsilon(release["micro_epsilon"])
    )


def _shown(value: dict[str, Any]) -> tuple[str, ...]:
    numbers = (value["value"], value["noise_scale"], value["lower_95"], value["upper_95"])
    return (value["name"], *(repr(float(number)) for number in numbers))


def _signed(output: dict[str, Any]) -> tuple[str, ...]:
    return (output["name"], output["value"], output["noiseScale"], *output["interval95"])
