"""Which block a person belongs to: a keyed hash of the identifier alone, whoever else is in the data.

Must never look at row numbers, file order or how many people there are. Errors never repeat an identifier.
"""

from __future__ import annotations

import hmac
import unicodedata
from collections.abc import Iterable

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

MIN_KEY_BYTES = 32
MIN_BLOCK_SIZE = 3
"""Fewest people a block is planned for: below this hardly any analysis is defined, and the share of empty
blocks, which become defaults, is e^-size: 5% at 3, 14% at 2."""

MIN_BLOCKS = 2
"""One block would be a run on the whole data set, with noise wider than the declared range at epsilon 1."""

_HASH_BYTES = 8
_REPEAT_BYTES = 4
_KEY_PURPOSE = b"dpgate partition key v1"


def assign_blocks(person_ids: Iterable[str], *, key: bytes, blocks: int, repeat: int = 0) -> list[int]:
    """Block numbers 0..blocks-1 of the given identifiers, in the order given, in partition number `repeat`.

    block(id) = first 8 bytes, big endian, of HMAC-SHA256(key, repeat || canonical(id)), modulo blocks, with
    the repeat as 4 bytes. A block's probability differs from 1/blocks by at most 2^-64. A function of one
    identifier at a time: adding or removing a person changes the content of exactly one block of every
    repeat, replacing a person that of at most two, and all rows of a person stay together. Repeats are
    unrelated partitions. Privacy holds for every fixed key; the key is secret in addition.

    Raises ValueError for an empty or non-text identifier, a key below 32 bytes, fewer than one block or a
    repeat below 0.
    """
    if len(key) < MIN_KEY_BYTES:
        raise ValueError(f"the partition key must have at least {MIN_KEY_BYTES} bytes; use derive_key.")
    if blocks < 1:
        raise ValueError("there must be at least one block.")
    if repeat < 0:
        raise ValueError("repeats are counted from 0.")
    prefix = repeat.to_bytes(_REPEAT_BYTES, "big")
    return [_block_of(prefix + canonical(person_id), key=key, blocks=blocks) for person_id in person_ids]


def derive_key(master: bytes, *, dataset_id: str, job_id: str) -> bytes:
    """The 32-byte partition key of one job: HKDF-SHA256 (RFC 5869) of the master secret.

    The same job always gets the same key, so an infrastructure retry sees the same blocks; another job gets
    an unrelated one, which draws the luck of the partition anew.
    """
    if len(master) < MIN_KEY_BYTES:
        raise ValueError(f"the master secret must have at least {MIN_KEY_BYTES} bytes.")
    if not dataset_id or not job_id:
        raise ValueError("a partition key needs a dataset id and a job id.")
    info = _KEY_PURPOSE + _length_prefixed(dataset_id) + _length_prefixed(job_id)
    return HKDF(algorithm=SHA256(), length=MIN_KEY_BYTES, salt=None, info=info).derive(master)


def block_count(nominal_size: int, block_size: int) -> int:
    """Number of blocks for a data set of a PUBLIC nominal size, in people; the true size is private.

    Raises ValueError for blocks of fewer than 3 people and for a size that fills fewer than 2 blocks.
    """
    if block_size < MIN_BLOCK_SIZE:
        raise ValueError(f"a block needs at least {MIN_BLOCK_SIZE} people; choose a larger block size.")
    blocks = nominal_size // block_size
    if blocks < MIN_BLOCKS:
        raise ValueError(
            f"a data set of nominal size {nominal_size} does not fill {MIN_BLOCKS} blocks of {block_size}; "
            "choose a smaller block size."
        )
    return blocks


def _block_of(place: bytes, *, key: bytes, blocks: int) -> int:
    digest = hmac.digest(key, place, "sha256")
    return int.from_bytes(digest[:_HASH_BYTES], "big") % blocks


def canonical(person_id: str) -> bytes:
    """One byte string for all spellings of an identifier: NFC, no surrounding whitespace, UTF-8.

    Two spellings of one person must meet in one block; two people who meet by accident do no harm.
    """
    if not isinstance(person_id, str):
        raise ValueError("a person identifier must be text.")
    text = unicodedata.normalize("NFC", person_id).strip()
    if not text:
        raise ValueError("a person identifier is empty; every row needs one.")
    try:
        return text.encode()
    except UnicodeEncodeError:
        # the original error quotes the identifier
        raise ValueError("a person identifier is not valid Unicode text.") from None


def _length_prefixed(text: str) -> bytes:
    """Makes ("ab", "c") and ("a", "bc") different keys."""
    data = text.encode()
    return len(data).to_bytes(4, "big") + data
