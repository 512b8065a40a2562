"""Check a release offline: the signature, the files, and that the values shown are the values signed."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key

from domain.release import ReleasedValue, opened, pre_authentication_encoding


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


def key_id(public_key_pem: str) -> str:
    """The SHA-256 of the raw key, as certificates name it."""
    key = load_pem_public_key(public_key_pem.encode())
    return hashlib.sha256(key.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()


def _fits(statement: dict[str, Any], release: dict[str, Any]) -> bool:
    contents = {name: text.encode() for name, text in release["files"].items()}
    for name, text in release.get("binary_files", {}).items():
        if name in contents:
            return False
        contents[name] = base64.b64decode(text, validate=True)
    files = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    signed_files = {subject["name"]: subject["digest"]["sha256"] for subject in statement["subject"]}
    predicate = statement["predicate"]
    guarantee = predicate["guarantee"]
    return (
        files == signed_files
        and _shown(release["values"]) == _signed(predicate["outputs"])
        and _shown(release.get("diagnostics", [])) == _signed(predicate.get("diagnostics", []))
        and predicate["job"] == release["job_id"]
        and predicate["dataset"]["name"] == release["dataset"]
        and guarantee["class"] == release["guarantee"]
        # the first form of certificate knew epsilon alone
        and guarantee.get("cost", {"epsilon": guarantee.get("epsilon")}) == release["cost"]
    )


def _shown(values: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [ReleasedValue.model_validate(value).signed() for value in values]


def _signed(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    names = ("name", "value", "noiseScale", "interval95", "samplingInterval95")
    return [{name: output.get(name) for name in names} for output in outputs]
