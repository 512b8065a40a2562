"""The 64 half-samples ("worlds") of PAC privacy: every person is in exactly 32 of them.

A function of one identifier at a time, whoever else is in the data. Errors never repeat an identifier.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Sequence
from math import comb

from privacy.partition import MIN_KEY_BYTES, canonical

WORLDS = 64
_IN = WORLDS // 2
_PURPOSE = b"dpgate half-samples v1"


def half_samples(names: Sequence[str], *, key: bytes, wanted: Iterable[int]) -> dict[int, list[str]]:
    """The names in each wanted world 0..63, in the order given. World j holds the names with bit j set.

    The key belongs to a cohort and never changes: the same person must be in the same worlds for every job
    and every version of the data, or two answers from the one secret world would single people out.

    Raises ValueError for an empty or non-text name, a key below 32 bytes or a world out of range.
    """
    if len(key) < MIN_KEY_BYTES:
        raise ValueError(f"the key must have at least {MIN_KEY_BYTES} bytes; use derive_key.")
    worlds = list(wanted)
    if not all(0 <= world < WORLDS for world in worlds):
        raise ValueError(f"a wanted world must be from 0 to {WORLDS - 1}.")
    bits = [mask(name, key=key) for name in names]
    return {
        world: [name for name, bit in zip(names, bits, strict=True) if bit >> world & 1] for world in worlds
    }


def mask(name: str, *, key: bytes) -> int:
    """64 bits, exactly 32 of them ones: bit j says whether the person is in world j.

    The mask is number HMAC-SHA256(key, name) mod C(64, 32) in the list of all 32-subsets of 64 places.

    Prior. With the secret world J uniform on 0..63 and any fixed mask, P(person is in world J) = 32/64:
    the balance is exact for every person and every key, which is what the posterior bound starts from.
    Independent bits would give a person with 40 ones a prior of 0.625.

    Uniform. `subset` is a bijection from 0..C(64, 32) - 1 onto the masks, and reducing a uniform 256-bit
    number modulo C(64, 32) < 2^61 changes the probability of each mask by a factor within 1 -+ 2^-195. So
    masks are uniform and independent from person to person, to an attacker who cannot tell HMAC-SHA256 from
    a random function. Only utility rests on this (worlds are random halves); the bound holds for any masks.
    """
    digest = hmac.digest(key, _PURPOSE + canonical(name), "sha256")
    return subset(int.from_bytes(digest, "big") % comb(WORLDS, _IN), places=WORLDS, ones=_IN)


def subset(rank: int, *, places: int, ones: int) -> int:
    """The bit mask with this rank, 0 <= rank < C(places, ones), among all masks with exactly `ones` ones.

    Ordered by value. Of the masks on places 0..place, C(place, ones) lack the highest place and come first;
    the others hold it, and the rest of their rank orders `ones - 1` ones on the places below. Each step
    halves the question in this way without losing or repeating a mask, so ranks and masks correspond
    one to one (the combinatorial number system; Lehmer 1964, "The machine tools of combinatorics").
    """
    bits = 0
    for place in reversed(range(places)):
        without = comb(place, ones)
        if rank >= without:
            rank -= without
            ones -= 1
            bits |= 1 << place
    return bits
