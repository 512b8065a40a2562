"""The master key of a worker zone: made once, private, and a key of its own for each purpose."""

from __future__ import annotations

import pytest

from domain.errors import NotReady
from store.keys import KEY_BYTES, Keys, create_keys, load_keys

KEYS = Keys(b"k" * KEY_BYTES)


def test_keys_are_made_once_and_kept_private(tmp_path):
    path = tmp_path / "keys" / "master"
    create_keys(path)
    first = load_keys(path)
    create_keys(path)
    assert load_keys(path).snapshots == first.snapshots
    assert path.stat().st_mode & 0o777 == 0o600
    assert "k" * 8 not in repr(KEYS)


def test_a_key_that_others_can_read_is_refused(tmp_path, subtests):
    create_keys(tmp_path / "master")
    for mode in (0o640, 0o604, 0o660, 0o644):
        with subtests.test(msg=oct(mode)):
            (tmp_path / "master").chmod(mode)
            with pytest.raises(NotReady, match="can be read by others; run: chmod 600"):
                load_keys(tmp_path / "master")


def test_a_key_of_another_length_is_refused(tmp_path, subtests):
    (tmp_path / "master").touch(mode=0o600)
    for size in (0, 31, 33):
        with subtests.test(msg=size):
            (tmp_path / "master").write_bytes(b"k" * size)
            with pytest.raises(NotReady, match="must have 32 bytes"):
                load_keys(tmp_path / "master")


def test_a_missing_key_says_what_makes_one(tmp_path):
    with pytest.raises(NotReady, match="dpgate up"):
        load_keys(tmp_path / "master")


def test_no_two_uses_share_a_key():
    keys = [KEYS.snapshots, KEYS.addresses, KEYS.outputs, KEYS.people, *KEYS.wrapping, KEYS.partition]
    keys += [KEYS.signing.private_bytes_raw()]
    assert len(set(keys)) == len(keys)
