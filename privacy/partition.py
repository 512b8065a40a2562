"""Which block a person belongs to: people are dealt into the slots of equal blocks, by a key.

Must never look at row numbers, file order or what a person's data say. Errors never repeat an identifier.
"""

from __future__ import annotations

import hmac
import struct
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import chain, count

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

MIN_KEY_BYTES = 32
MIN_BLOCK_SIZE = 1
"""Fewest people a block is planned for. The guarantee is the same for each size, and a mean over people of
what a pipeline says of each has the least noise with blocks of one."""

MIN_BLOCKS = 2
"""One block would be a run on the whole data set, with noise wider than the declared range at epsilon 1."""

WORD_VALUES = 2**64
"""Of the words from which slots are drawn: that many are equally likely."""

_DIGEST_BYTES = 32
_WORDS = struct.Struct(">4Q")  # of one digest
_REPEAT_BYTES = 4
_COUNTER_BYTES = 8
_KEY_PURPOSE = b"dpgate partition key v1"
_ORDER = b"dpgate dealing v1 order"
_SLOTS = b"dpgate dealing v1 slots"  # as long as _ORDER: no message of one is one of the other


def assign_blocks(
    person_ids: Iterable[str], *, key: bytes, blocks: int, people: int, repeat: int = 0
) -> list[int | None]:
    """The block 0..blocks-1 of every identifier, in the order given, in partition number `repeat`; None for
    whoever is left out of it.

    There are C = `people` slots, the PUBLIC nominal size, and slot s belongs to block floor(s blocks / C):
    block sizes differ by at most one slot. People, who are canonical identifiers, stand in the order of
    HMAC-SHA256(key, repeat, identifier), equal digests in that of the identifiers. The j-th of them, counted
    from 0, takes slot perm[j], where perm is a permutation of the C slots drawn from HMAC-SHA256 of the key,
    the repeat and a counter (`draw_slots`). Whoever comes after the C-th is left out of this repeat. All
    spellings and all rows of a person share a block.

    Theorem. Let the key be secret and another one for each job. Let D be a set of people and D' = D + {i}.
    Then there is a coupling of the blocks of D and D', each with its own law over the key, in which the
    contents of at most one block of every repeat differ: it holds i besides, or i in somebody's stead.
    Proof. To whoever cannot tell HMAC-SHA256 under a secret key from a random function, the order and perm
    of each repeat are uniformly random, independent of each other and of other repeats: no two messages are
    equal. (Two digests are the same with probability below n^2 / 2^257, which the words "cannot tell" hold
    as well.) It is enough to look at one repeat, and to couple repeats independently. Write n for |D|.
      The law of places. Person x of rank j < C sits at perm[j]. So the people of the first C ranks, all of
      them or a uniformly random C-subset, sit in slots by a uniformly random injection.
      n < C. Take the places of D and seat i in one of the C - n free slots at random. That is a uniformly
      random injection of D', so it has the law of D'. The block of that slot holds i besides.
      n >= C. Take the places of D. With probability C/(n + 1) let i take the slot of one of the C people
      who sit, at random, who is then left out; otherwise i is left out. Given that i sits, its slot is
      uniform and the rest is a uniformly random (C-1)-subset of D in uniformly random order in the others;
      given that it does not, a uniformly random C-subset of D. Both, and the probability, are as for D'.
      The block of that slot holds i in somebody's stead; or no block differs.
    QED.

    If a person's data change under the same identifier, nobody's place changes: the contents of at most one
    block of every repeat differ, for EVERY key. Replacing a person by another is one removal and one
    addition: at most two blocks of every repeat differ in a coupling. For one fixed key nothing of this kind
    holds for D and D': one more person moves the ranks of others, and with them many blocks. So to
    whoever knows the key the theorem says nothing, and two data sets must not share one.

    The order and perm are both needed. Without perm free slots would be the last ones; without the order
    the identifiers would decide who is left out.

    Raises ValueError for an empty or non-text identifier, a key below 32 bytes, fewer than one block, fewer
    people than blocks or a repeat below 0.
    """
    _check_numbers(key, blocks=blocks, people=people, repeat=repeat)
    called = [canonical(person_id) for person_id in person_ids]
    ordered = _ordered(set(called), key=key, repeat=repeat)
    slots = draw_slots(_words(key, repeat=repeat), slots=people, wanted=min(len(ordered), people))
    block_of = {person: slot * blocks // people for person, slot in zip(ordered, slots, strict=False)}
    return [block_of.get(person) for person in called]


def draw_slots(words: Iterable[int], *, slots: int, wanted: int, values: int = WORD_VALUES) -> list[int]:
    """The first `wanted` places of a permutation of 0..slots-1, all of them equally likely.

    Fisher and Yates's shuffle (Durstenfeld 1964): place j swaps with a uniformly random place from j on. Only
    what was swapped is kept, so it takes as long as there are people, however many slots there are. `words`
    are uniform over 0..values-1. One at or above the largest multiple of n is passed over, so that the
    remainder modulo n is exactly uniform; fewer than every second one is. The same words give the same
    permutation, however much of it is wanted.
    """
    stream = iter(words)
    swapped: dict[int, int] = {}
    drawn = []
    for place in range(wanted):
        other = place + _below(slots - place, stream, values=values)
        drawn.append(swapped.get(other, other))
        swapped[other] = swapped.get(place, place)
    return drawn


def _below(bound: int, words: Iterator[int], *, values: int) -> int:
    limit = values - values % bound
    word = next(words)
    while word >= limit:
        word = next(words)
    return word % bound


def _ordered(people: Iterable[bytes], *, key: bytes, repeat: int) -> list[bytes]:
    prefix = _ORDER + repeat.to_bytes(_REPEAT_BYTES, "big")
    lots = sorted(_digest(key, prefix + person) + person for person in people)  # by digest, then by person
    return [lot[_DIGEST_BYTES:] for lot in lots]


def _words(key: bytes, *, repeat: int) -> Iterator[int]:
    prefix = _SLOTS + repeat.to_bytes(_REPEAT_BYTES, "big")

    def of_digest(number: int) -> tuple[int, ...]:
        return _WORDS.unpack(_digest(key, prefix + number.to_bytes(_COUNTER_BYTES, "big")))

    return chain.from_iterable(map(of_digest, count()))


def _digest(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, "sha256")


def _check_numbers(key: bytes, *, blocks: int, people: int, repeat: int) -> None:
    if len(key) < MIN_KEY_BYTES:
        raise ValueError(f"the partition key must have at least {MIN_KEY_BYTES} bytes; use derive_key.")
    if blocks < 1:
        raise ValueError("there must be at least one block.")
    if not blocks <= people < WORD_VALUES:
        raise ValueError("people, the nominal size, must be at least the number of blocks.")
    if repeat < 0:
        raise ValueError("repeats are counted from 0.")


def derive_key(master: bytes, *, dataset_id: str, job_id: str) -> bytes:
    """The 32-byte partition key of one job: HKDF-SHA256 (RFC 5869) of the master secret.

    The same job always gets the same key, so an infrastructure retry sees the same blocks. Another job gets
    one that is independent of it, to whoever does not know the master: its partition is a coin of its own,
    and what several jobs cost together adds up as for any mechanisms with independent coins.
    """
    if len(master) < MIN_KEY_BYTES:
        raise ValueError(f"the master secret must have at least {MIN_KEY_BYTES} bytes.")
    if not dataset_id or not job_id:
        raise ValueError("a partition key needs a dataset id and a job id.")
    info = _KEY_PURPOSE + _length_prefixed(dataset_id) + _length_prefixed(job_id)
    return HKDF(algorithm=SHA256(), length=MIN_KEY_BYTES, salt=None, info=info).derive(master)


def block_count(nominal_size: int, block_size: int) -> int:
    """Number of blocks for a data set of a PUBLIC nominal size, in people; the true size is private.

    Raises ValueError for blocks of nobody and for a size that fills fewer than 2 blocks.
    """
    if block_size < MIN_BLOCK_SIZE:
        raise ValueError("a block needs at least one person; choose a larger block size.")
    blocks = nominal_size // block_size
    if blocks < MIN_BLOCKS:
        raise ValueError(
            f"a data set of nominal size {nominal_size} does not fill {MIN_BLOCKS} blocks of {block_size}; "
            "choose a smaller block size."
        )
    return blocks


def canonical(person_id: str) -> bytes:
    """One byte string for all spellings of an identifier: NFC, no surrounding whitespace, UTF-8.

    Two spellings of one person must meet in one block; two people who meet by accident are dealt as one.
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
