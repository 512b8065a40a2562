import hashlib
import hmac

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from privacy.partition import assign_blocks, block_count, derive_key

KEY = bytes(range(32))


@pytest.mark.parametrize("repeat", [0, 1, 99])
def test_block_is_the_stated_hash(repeat):
    digest = hmac.new(KEY, bytes([0, 0, 0, repeat]) + "Zoë".encode(), hashlib.sha256).digest()
    assert assign_blocks(["Zoë"], key=KEY, blocks=97, repeat=repeat) == [
        int.from_bytes(digest[:8], "big") % 97
    ]


def test_known_answers_stay_the_same():
    """A change here re-draws the blocks of every retried job."""
    assert assign_blocks(["sub-01", "sub-02", "sub-03"], key=KEY, blocks=1000) == [928, 510, 350]


def test_spellings_of_one_identifier_meet():
    spellings = ["Zoë", "Zoe\u0308", "  Zoë\n", "\tZoe\u0308 "]
    assert len(set(assign_blocks(spellings, key=KEY, blocks=10**9))) == 1


def test_order_given_is_kept_and_repeats_stay_together():
    ids = ["a", "b", "a", "c", "b"]
    blocks = assign_blocks(iter(ids), key=KEY, blocks=10**6)
    assert blocks[0] == blocks[2] != blocks[1] == blocks[4]


def test_all_blocks_are_equally_likely():
    counts = [0] * 10
    for block in assign_blocks((str(i) for i in range(20_000)), key=KEY, blocks=10):
        counts[block] += 1
    assert sum((count - 2000) ** 2 / 2000 for count in counts) < 50


def test_bad_identifiers_are_refused_without_quoting_them(subtests):
    for bad in ("", "   ", "\n", None, 7, b"x", "\ud800"):
        with subtests.test(bad=bad):
            with pytest.raises(ValueError, match="person identifier") as refusal:
                assign_blocks(["fine", bad], key=KEY, blocks=3)
            assert refusal.value.__suppress_context__ or refusal.value.__context__ is None
            assert "ud800" not in str(refusal.value)


def test_short_keys_no_blocks_and_negative_repeats_are_refused():
    with pytest.raises(ValueError, match="32 bytes"):
        assign_blocks(["a"], key=bytes(31), blocks=3)
    with pytest.raises(ValueError, match="at least one block"):
        assign_blocks(["a"], key=KEY, blocks=0)
    with pytest.raises(ValueError, match="counted from 0"):
        assign_blocks(["a"], key=KEY, blocks=3, repeat=-1)


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


@pytest.mark.parametrize(("size", "block_size", "blocks"), [(60, 10, 6), (69, 10, 6), (6, 3, 2), (7, 3, 2)])
def test_block_count(size, block_size, blocks):
    assert block_count(size, block_size) == blocks


@pytest.mark.parametrize(
    ("size", "block_size", "reason"),
    [
        (60, 2, "at least 3"),
        (60, 0, "at least 3"),
        (60, -5, "at least 3"),
        (19, 10, "smaller block"),
        (0, 3, "fill"),
    ],
)
def test_block_count_refuses(size, block_size, reason):
    with pytest.raises(ValueError, match=reason):
        block_count(size, block_size)


def test_one_block_holds_everybody():
    assert assign_blocks(["a", "b", "c"], key=KEY, blocks=1) == [0, 0, 0]
