"""Authenticated encryption with libsodium (PyNaCl): small messages and streams of any length.

No cipher of our own: XChaCha20-Poly1305 for messages, `crypto_secretstream` for files, whose final tag shows
truncation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from nacl import bindings
from nacl.exceptions import CryptoError
from nacl.secret import Aead

from domain.errors import PlatformError

CHUNK = 1 << 20
_OVERHEAD = bindings.crypto_secretstream_xchacha20poly1305_ABYTES
_HEADER = bindings.crypto_secretstream_xchacha20poly1305_HEADERBYTES
_MESSAGE = bindings.crypto_secretstream_xchacha20poly1305_TAG_MESSAGE
_FINAL = bindings.crypto_secretstream_xchacha20poly1305_TAG_FINAL


def seal(message: bytes, *, key: bytes, context: str) -> bytes:
    """Encrypt a message; it opens only under the same key and context."""
    return bytes(Aead(key).encrypt(message, context.encode()))


def open_sealed(sealed: bytes, *, key: bytes, context: str) -> bytes:
    """Raises PlatformError when key, context or bytes differ."""
    try:
        return Aead(key).decrypt(sealed, context.encode())
    except CryptoError:
        raise PlatformError(
            "a sealed message does not open: wrong key, wrong place, or changed bytes"
        ) from None


def seal_stream(parts: Iterable[bytes], *, key: bytes, context: str) -> Iterator[bytes]:
    """Encrypt a stream in chunks of 1 MiB; memory stays bounded."""
    state = bindings.crypto_secretstream_xchacha20poly1305_state()
    yield bindings.crypto_secretstream_xchacha20poly1305_init_push(state, key)
    pending = b""
    for part in parts:
        pending += part
        while len(pending) > CHUNK:
            yield _push(state, pending[:CHUNK], context, _MESSAGE)
            pending = pending[CHUNK:]
    yield _push(state, pending, context, _FINAL)


def open_stream(sealed: Iterable[bytes], *, key: bytes, context: str) -> Iterator[bytes]:
    """The plain chunks. Raises PlatformError on any change, also when the end is missing."""
    state = bindings.crypto_secretstream_xchacha20poly1305_state()
    pieces = _pieces(sealed)
    try:
        bindings.crypto_secretstream_xchacha20poly1305_init_pull(state, next(pieces), key)
        tag = _MESSAGE
        for piece in pieces:
            if tag == _FINAL:
                raise ValueError("bytes after the end")
            message, tag = bindings.crypto_secretstream_xchacha20poly1305_pull(state, piece, context.encode())
            yield message
    except (CryptoError, RuntimeError, ValueError, StopIteration):
        raise PlatformError("a sealed file does not open: wrong key, wrong place, or changed bytes") from None
    if tag != _FINAL:
        raise PlatformError("a sealed file ends too early")


def plain_size(sealed_size: int) -> int:
    """Plain bytes of a sealed stream of this length. Raises PlatformError where it can be none."""
    body = sealed_size - _HEADER
    if body < _OVERHEAD:
        raise PlatformError("a sealed file ends too early")
    return body - _chunk_count(body) * _OVERHEAD


def _chunk_count(body: int) -> int:
    return -(-body // (CHUNK + _OVERHEAD))


class OpenedChunks:
    """The plain chunks of a sealed stream, by number, in any order.

    A chunk opens only after those before it, for the cipher chains them; the state before each is kept, so
    that going back costs one chunk. Raises PlatformError on any change, also when the end is missing.
    """

    def __init__(self, sealed: BinaryIO, *, size: int, key: bytes, context: str) -> None:
        self._sealed, self._context = sealed, context.encode()
        self.plain_size = plain_size(size)
        self.count = _chunk_count(size - _HEADER)
        state = bindings.crypto_secretstream_xchacha20poly1305_state()
        sealed.seek(0)
        bindings.crypto_secretstream_xchacha20poly1305_init_pull(state, sealed.read(_HEADER), key)
        self._state = state
        self._before = [list(state.statebuf)]

    def __getitem__(self, number: int) -> bytes:
        if not 0 <= number < self.count:
            raise PlatformError("a sealed file ends too early")
        for missing in range(len(self._before) - 1, number):
            self._open(missing)
        return self._open(number)

    def _open(self, number: int) -> bytes:
        # an array of the C library's, which takes a list of numbers
        self._state.statebuf[0 : len(self._before[number])] = self._before[number]  # type: ignore[index, call-overload]
        self._sealed.seek(_HEADER + number * (CHUNK + _OVERHEAD))
        piece = self._sealed.read(CHUNK + _OVERHEAD)
        try:
            message, tag = bindings.crypto_secretstream_xchacha20poly1305_pull(
                self._state, piece, self._context
            )
        except (CryptoError, RuntimeError, ValueError):
            raise PlatformError(
                "a sealed file does not open: wrong key, wrong place, or changed bytes"
            ) from None
        if (tag == _FINAL) != (number == self.count - 1):
            raise PlatformError("a sealed file ends too early")
        if number == len(self._before) - 1:
            self._before.append(list(self._state.statebuf))
        return bytes(message)


def _push(
    state: bindings.crypto_secretstream.crypto_secretstream_xchacha20poly1305_state,
    part: bytes,
    context: str,
    tag: int,
) -> bytes:
    return bindings.crypto_secretstream_xchacha20poly1305_push(state, part, context.encode(), tag)


def _pieces(sealed: Iterable[bytes]) -> Iterator[bytes]:
    # the header first, then chunks of the length that seal_stream writes, however the bytes arrive
    pending, wanted = b"", _HEADER
    for part in sealed:
        pending += part
        while len(pending) > wanted:
            yield pending[:wanted]
            pending, wanted = pending[wanted:], CHUNK + _OVERHEAD
    yield pending
