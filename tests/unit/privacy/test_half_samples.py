import hashlib
import hmac
from itertools import combinations
from math import comb

import pytest

from privacy.half_samples import WORLDS, half_samples, mask, subset

KEY = bytes(range(32))
PEOPLE = [f"sub-{number:03}" for number in range(2_000)]


def bits_of(number: int) -> list[int]:
    return [number >> place & 1 for place in range(WORLDS)]


def test_every_person_is_in_exactly_half_of_the_worlds():
    assert {mask(name, key=KEY).bit_count() for name in PEOPLE} == {32}
    assert max(mask(name, key=KEY) for name in PEOPLE) < 2**WORLDS


def test_world_j_holds_the_people_whose_bit_j_is_set_in_the_order_given():
    worlds = half_samples(PEOPLE, key=KEY, wanted=range(WORLDS))
    assert list(worlds) == list(range(WORLDS))
    masks = [(name, mask(name, key=KEY)) for name in PEOPLE]
    for world, members in worlds.items():
        assert members == [name for name, bits in masks if bits >> world & 1]


def test_only_the_wanted_worlds_are_cut():
    assert list(half_samples(PEOPLE[:5], key=KEY, wanted=iter([7, 3]))) == [7, 3]
    assert half_samples([], key=KEY, wanted=[0]) == {0: []}


def test_a_person_is_in_the_same_worlds_whoever_else_is_there():
    alone = half_samples(["sub-007"], key=KEY, wanted=range(WORLDS))
    among = half_samples(PEOPLE, key=KEY, wanted=range(WORLDS))
    assert all(("sub-007" in among[world]) == (alone[world] == ["sub-007"]) for world in range(WORLDS))


def test_spellings_of_one_person_share_their_worlds():
    assert mask("Zoë", key=KEY) == mask("  Zoe\u0308\n", key=KEY)


def test_mask_is_the_stated_hash():
    digest = hmac.new(KEY, b"dpgate half-samples v1" + "Zoë".encode(), hashlib.sha256).digest()
    rank = int.from_bytes(digest, "big") % comb(64, 32)
    assert mask("Zoë", key=KEY) == subset(rank, places=64, ones=32)


def test_known_answer_stays_the_same():
    """A change here moves people of a running cohort to other worlds, which breaks the bound."""
    assert mask("sub-01", key=KEY) == 14331364071795334972


def test_another_key_makes_other_worlds():
    assert mask("sub-01", key=KEY) != mask("sub-01", key=bytes(32))


@pytest.mark.parametrize(("places", "ones"), [(1, 0), (1, 1), (6, 3), (8, 4), (9, 2)])
def test_ranks_and_masks_correspond_one_to_one(places, ones):
    masks = [subset(rank, places=places, ones=ones) for rank in range(comb(places, ones))]
    every_subset = (sum(1 << place for place in chosen) for chosen in combinations(range(places), ones))
    assert masks == sorted(every_subset)


def test_first_and_last_mask():
    assert subset(0, places=64, ones=32) == 2**32 - 1
    assert subset(comb(64, 32) - 1, places=64, ones=32) == (2**32 - 1) << 32


def test_worlds_are_random_halves():
    """Bit j of a person is set in half of all masks, bits j and k together in 32 * 31 / (64 * 63)."""
    masks = [bits_of(mask(name, key=KEY)) for name in PEOPLE]
    for place in range(WORLDS):
        assert abs(sum(bits[place] for bits in masks) - 1000) < 5.5 * 500**0.5
    together = sum(bits[3] & bits[40] for bits in masks)
    share = 32 * 31 / (64 * 63)
    assert abs(together - 2000 * share) < 5 * (2000 * share * (1 - share)) ** 0.5


@pytest.mark.parametrize("wanted", [[-1], [64], [0, 64]])
def test_other_worlds_are_refused(wanted):
    with pytest.raises(ValueError, match="from 0 to 63"):
        half_samples(["a"], key=KEY, wanted=wanted)


def test_short_keys_and_bad_names_are_refused():
    with pytest.raises(ValueError, match="32 bytes"):
        half_samples(["a"], key=bytes(31), wanted=[0])
    with pytest.raises(ValueError, match="identifier is empty"):
        half_samples(["a", " "], key=KEY, wanted=[0])
