"""Ed25519 signatures on statements, in DSSE envelopes: of certificates and of mandates."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from domain.model import canonical
from domain.release import PAYLOAD_TYPE, envelope, pre_authentication_encoding


def sign(signed_statement: dict[str, Any], *, key: Ed25519PrivateKey) -> dict[str, Any]:
    """A DSSE envelope; the key id is the SHA-256 of the raw public key."""
    public = key.public_key().public_bytes_raw()
    signature = key.sign(pre_authentication_encoding(canonical(signed_statement)))
    return envelope(signed_statement, signature=signature, key_id=hashlib.sha256(public).hexdigest())


def is_signed(content: dict[str, Any], *, by: str) -> bool:
    """Whether this envelope carries a good signature by a public key, raw in base64."""
    try:
        if content["payloadType"] != PAYLOAD_TYPE:
            return False
        payload = base64.b64decode(content["payload"], validate=True)
        signature = base64.b64decode(content["signatures"][0]["sig"], validate=True)
        public = Ed25519PublicKey.from_public_bytes(base64.b64decode(by, validate=True))
        public.verify(signature, pre_authentication_encoding(payload))
    except (InvalidSignature, KeyError, IndexError, TypeError, ValueError, binascii.Error):
        return False
    return True


def raw(public_pem: str) -> str:
    """A public key, raw in base64. Raises ValueError for what is none of Ed25519."""
    try:
        key = load_pem_public_key(public_pem.encode())
    except UnsupportedAlgorithm:
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError("no Ed25519 public key")
    return base64.b64encode(key.public_bytes_raw()).decode()


def key_id(public: str) -> str:
    """Of a raw public key in base64, as envelopes name it."""
    return hashlib.sha256(base64.b64decode(public)).hexdigest()


def fingerprint(public: str) -> str:
    """What people compare: the start of the SHA-256 of a raw public key, in groups of four."""
    digest = key_id(public)[:32]
    return " ".join(digest[place : place + 4] for place in range(0, 32, 4))
