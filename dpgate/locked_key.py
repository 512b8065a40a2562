"""A secret key under a passphrase: who copies the file has nothing before they have guessed it.

scrypt (RFC 7914) makes a key of the passphrase, ChaCha20-Poly1305 (RFC 8439) seals with it; the public half
is bound in. A passphrase that one can guess stays one that a thief can guess, with 128 MiB for each try.
"""

from __future__ import annotations

import base64
import hashlib
import os
from typing import Annotated

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from pydantic import Base64Bytes, Field, ValidationError

from domain.model import Model, Whole, canonical
from dpgate.errors import DpgateError

# 128 MiB for each try; a file may say less, as one does that tests make
ROUNDS, LEAST_ROUNDS, MOST_ROUNDS = 2**17, 2**14, 2**20
BLOCK = 8
SHORTEST, LONGEST = 12, 200
_SALT, _NONCE = 16, 12


class LockedKey(Model):
    """What lies in the file."""

    public: Annotated[Base64Bytes, Field(min_length=32, max_length=32)]
    rounds: Annotated[Whole, Field(ge=LEAST_ROUNDS, le=MOST_ROUNDS)]
    salt: Annotated[Base64Bytes, Field(min_length=_SALT, max_length=_SALT)]
    nonce: Annotated[Base64Bytes, Field(min_length=_NONCE, max_length=_NONCE)]
    sealed: Annotated[Base64Bytes, Field(min_length=48, max_length=48)]


def is_locked(content: bytes) -> bool:
    return content.startswith(b"{")


def lock(secret: bytes, public: bytes, passphrase: str, *, rounds: int = ROUNDS) -> bytes:
    """The content of the file. Raises DpgateError for a passphrase that is soon guessed."""
    if not SHORTEST <= len(passphrase) <= LONGEST:
        raise DpgateError(f"a passphrase has {SHORTEST} to {LONGEST} characters; take several words")
    salt, nonce = os.urandom(_SALT), os.urandom(_NONCE)
    sealed = ChaCha20Poly1305(_derived(passphrase, salt, rounds)).encrypt(nonce, secret, public)
    parts = {"public": public, "salt": salt, "nonce": nonce, "sealed": sealed}
    written = {name: base64.b64encode(part).decode() for name, part in parts.items()}
    return canonical({**written, "rounds": rounds})


def read(content: bytes) -> LockedKey:
    """Raises DpgateError for what is none."""
    try:
        return LockedKey.model_validate_json(content)
    except ValidationError:
        raise DpgateError("the file of your key holds no key any more; restore it from a copy") from None


def unlock(locked: LockedKey, passphrase: str) -> bytes:
    """The secret key. Raises DpgateError for another passphrase."""
    key = _derived(passphrase, locked.salt, locked.rounds)
    try:
        return ChaCha20Poly1305(key).decrypt(locked.nonce, locked.sealed, locked.public)
    except InvalidTag:
        raise DpgateError("this is not the passphrase of your key; nothing was signed") from None


def _derived(passphrase: str, salt: bytes, rounds: int) -> bytes:
    memory = 2 * 128 * rounds * BLOCK
    return hashlib.scrypt(passphrase.encode(), salt=salt, n=rounds, r=BLOCK, p=1, maxmem=memory, dklen=32)
