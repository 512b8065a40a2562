"""Seal a profile to a rights holder's key, and open it: X25519 with a key for one message, HKDF-SHA256, and
ChaCha20-Poly1305 (RFC 7748, 5869, 8439), composed as in HPKE's base mode (RFC 9180, section 5).

Whoever seals needs the public key alone, so anybody can: what opens was not changed on its way, and is of
this request. Who sealed it is said by the worker zone's signature, for those who have that key.
"""

from __future__ import annotations

import base64
import zlib

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from domain.errors import PlatformError
from domain.profile_request import KEY_BYTES, LADDER, padded_length

_TAG, _SIGNATURE, _LENGTH = 16, 64, 4
_AROUND = KEY_BYTES + _TAG + _SIGNATURE + _LENGTH
# a key seals one message, so it needs no other nonce
_NONCE = bytes(12)
MOST_OPENED = 512 * 2**20
_CHANGED = "a sealed profile does not open: it is of another request or key, or was changed on its way"


class TooLong(ValueError):
    """It does not fit on the ladder."""


def new_key() -> tuple[str, str]:
    """A private key and its public half, both in base64."""
    private = X25519PrivateKey.generate()
    return _text(private.private_bytes_raw()), _text(private.public_key().public_bytes_raw())


def public_half(private: str) -> str:
    return _text(
        X25519PrivateKey.from_private_bytes(base64.b64decode(private)).public_key().public_bytes_raw()
    )


def seal_profile(content: bytes, *, key: str, context: bytes, signing: Ed25519PrivateKey) -> bytes:
    """Packed, padded to a rung of the ladder, sealed and signed. Raises TooLong beyond the last rung, and
    PlatformError for a key that is none."""
    packed = zlib.compress(content, 6)
    try:
        length = padded_length(len(packed) + _AROUND)
    except ValueError:
        raise TooLong("the profile is too long to be sealed") from None
    padded = len(packed).to_bytes(_LENGTH, "big") + packed + bytes(length - _AROUND - len(packed))
    once = X25519PrivateKey.generate()
    sender, receiver = once.public_key().public_bytes_raw(), base64.b64decode(key)
    try:
        shared = once.exchange(X25519PublicKey.from_public_bytes(receiver))
    except ValueError:
        # a point of small order gives everybody the same secret
        raise PlatformError("the key of a profile is none that anything can be sealed to") from None
    sealed = sender + ChaCha20Poly1305(_derived(shared, sender, receiver, context)).encrypt(
        _NONCE, padded, context
    )
    return sealed + signing.sign(context + sealed)


def open_profile(sealed: bytes, *, private: str, context: bytes) -> bytes:
    """Raises PlatformError unless it is whole, of this request, and sealed to this key."""
    body = sealed[:-_SIGNATURE]
    own = X25519PrivateKey.from_private_bytes(base64.b64decode(private))
    sender, receiver = body[:KEY_BYTES], own.public_key().public_bytes_raw()
    try:
        if len(sealed) not in LADDER:
            raise ValueError("a length that no sealed profile has")
        shared = own.exchange(X25519PublicKey.from_public_bytes(sender))
        cipher = ChaCha20Poly1305(_derived(shared, sender, receiver, context))
        padded = cipher.decrypt(_NONCE, body[KEY_BYTES:], context)
        size = int.from_bytes(padded[:_LENGTH], "big")
        return _unpacked(padded[_LENGTH : _LENGTH + size])
    except (InvalidTag, ValueError, zlib.error):
        raise PlatformError(_CHANGED) from None


def is_signed(sealed: bytes, *, context: bytes, by: Ed25519PublicKey) -> bool:
    """Whether the worker zone with this key sealed it, for this request."""
    try:
        by.verify(sealed[-_SIGNATURE:], context + sealed[:-_SIGNATURE])
    except InvalidSignature:
        return False
    return True


def _derived(shared: bytes, sender: bytes, receiver: bytes, context: bytes) -> bytes:
    return HKDF(hashes.SHA256(), KEY_BYTES, salt=sender + receiver, info=context).derive(shared)


def _unpacked(packed: bytes) -> bytes:
    reader = zlib.decompressobj()
    content = reader.decompress(packed, MOST_OPENED)
    if not reader.eof:
        raise ValueError("it unpacks to far more than a profile is")
    return content


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()
