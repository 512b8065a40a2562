import hashlib
import hmac
from collections import Counter

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from privacy.partition import assign_blocks, block_count, derive_key, draw_slots

KEY = bytes(range(32))


PEOPLE = [f"sub-{number:02}" for number in range(1, 41)]


def stated(people, *, slots, blocks, repeat):
    """What the docstring says, a second time and straight on."""
    at = repeat.to_bytes(4, "big")

    def digest(message):
        return hmac.new(KEY, message, hashlib.sha256).digest()

    order = sorted(people, key=lambda person: digest(b"dpgate dealing v1 order" + at + person.encode()))
    stream = b"".join(digest(b"dpgate dealing v1 slots" + at + n.to_bytes(8, "big")) for n in range(50))
    words = iter(int.from_bytes(stream[i : i + 8], "big") for i in range(0, len(stream), 8))
    perm = list(range(slots))
    for place in range(slots):
        other = place + next(words) % (slots - place)  # of 2^64 words none is passed over here
        perm[place], perm[other] = perm[other], perm[place]
    place_of = dict(zip(order, perm, strict=False))
    return [None if person not in place_of else place_of[person] * blocks // slots for person in people]


@pytest.mark.parametrize("repeat", [0, 1, 99])
@pytest.mark.parametrize(("slots", "blocks"), [(40, 40), (40, 7), (60, 13), (25, 25), (25, 3), (40, 1)])
def test_blocks_are_those_stated(slots, blocks, repeat):
    found = assign_blocks(PEOPLE, key=KEY, blocks=blocks, people=slots, repeat=repeat)
    assert found == stated(PEOPLE, slots=slots, blocks=blocks, repeat=repeat)


def test_known_answers_stay_the_same():
    """A change here re-draws the blocks of every retried job: raise worker.older_plan.DEALING with it."""
    found = assign_blocks(["sub-01", "sub-02", "sub-03"], key=KEY, blocks=1000, people=10_000)
    assert found == [400, 6, 597]


def test_spellings_of_one_identifier_meet():
    spellings = ["Zoë", "Zoe\u0308", "  Zoë\n", "\tZoe\u0308 "]
    assert len(set(assign_blocks(spellings, key=KEY, blocks=10**6, people=10**9))) == 1
    assert assign_blocks(spellings, key=KEY, blocks=1, people=1) == [0] * 4


def test_order_given_is_kept_and_repeats_stay_together():
    ids = ["a", "b", "a", "c", "b"]
    blocks = assign_blocks(iter(ids), key=KEY, blocks=10**6, people=10**6)
    assert blocks[0] == blocks[2] != blocks[1] == blocks[4]


@pytest.mark.parametrize(("slots", "blocks", "sizes"), [
    (40, 10, {4}), (40, 7, {5, 6}), (39, 39, {1}), (41, 41, {0, 1}), (20, 6, {3, 4}),
])  # fmt: skip
def test_blocks_are_as_equal_as_can_be(slots, blocks, sizes):
    found = Counter(assign_blocks(PEOPLE, key=KEY, blocks=blocks, people=slots))
    assert {found[block] for block in range(blocks)} == sizes
    assert found[None] == max(0, len(PEOPLE) - slots)


def test_a_slot_for_everybody_leaves_nobody_out_in_any_repeat():
    for repeat in range(20):
        found = assign_blocks(PEOPLE, key=KEY, blocks=40, people=40, repeat=repeat)
        assert sorted(found) == list(range(40))


def test_a_word_that_would_favour_the_first_slots_is_passed_over():
    # of 8 values 6 and 7 are beyond the largest multiple of 3; of 2 places every word tells one
    assert draw_slots([7, 6, 5, 7, 0], slots=3, wanted=3, values=8) == [2, 0, 1]


def test_bad_identifiers_are_refused_without_quoting_them(subtests):
    for bad in ("", "   ", "\n", None, 7, b"x", "\ud800"):
        with subtests.test(bad=bad):
            with pytest.raises(ValueError, match="person identifier") as refusal:
                assign_blocks(["fine", bad], key=KEY, blocks=3, people=3)
            assert refusal.value.__suppress_context__ or refusal.value.__context__ is None
            assert "ud800" not in str(refusal.value)


@pytest.mark.parametrize(("numbers", "reason"), [
    ({"key": bytes(31)}, "32 bytes"),
    ({"blocks": 0}, "at least one block"),
    ({"people": 2}, "at least the number of blocks"),
    ({"people": 2**64}, "at least the number of blocks"),
    ({"repeat": -1}, "counted from 0"),
])  # fmt: skip
def test_numbers_that_make_no_blocks_are_refused(numbers, reason):
    with pytest.raises(ValueError, match=reason):
        assign_blocks(["a"], **{"key": KEY, "blocks": 3, "people": 3} | numbers)


def test_derived_key_is_hkdf_of_length_prefixed_ids():
    info = b"dpgate partition key v1" + b"\0\0\0\2d1" + b"\0\0\0\2j1"
    expected = HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(KEY)
    assert derive_key(KEY, dataset_id="d1", job_id="j1") == expected


def test_every_job_and_dataset_has_its_own_key():
    pairs = [("ab", "c"), ("a", "bc"), ("abc", "d"), ("ab", "d"), ("c", "ab")]
    keys = {derive_key(KEY, dataset_id=dataset, job_id=job) for dataset, job in pairs}
    assert len(keys) == len(pairs)
    assert derive_key(bytes(32), dataset_id="ab", job_id="c") not in keys


@pytest.mark.parametrize(
    ("master", "dataset_id", "job_id", "reason"),
    [(bytes(31), "d", "j", "32 bytes"), (KEY, "", "j", "dataset id"), (KEY, "d", "", "job id")],
)
def test_derive_key_refuses(master, dataset_id, job_id, reason):
    with pytest.raises(ValueError, match=reason):
        derive_key(master, dataset_id=dataset_id, job_id=job_id)


@pytest.mark.parametrize(
    ("size", "block_size", "blocks"), [(60, 10, 6), (69, 10, 6), (6, 3, 2), (7, 3, 2), (60, 1, 60), (7, 2, 3)]
)
def test_block_count(size, block_size, blocks):
    assert block_count(size, block_size) == blocks


@pytest.mark.parametrize(
    ("size", "block_size", "reason"),
    [
        (60, 0, "at least one person"),
        (60, -5, "at least one person"),
        (1, 1, "does not fill"),
        (19, 10, "smaller block"),
        (0, 3, "fill"),
    ],
)
def test_block_count_refuses(size, block_size, reason):
    with pytest.raises(ValueError, match=reason):
        block_count(size, block_size)


def test_one_block_holds_everybody():
    assert assign_blocks(["a", "b", "c"], key=KEY, blocks=1, people=3) == [0, 0, 0]
