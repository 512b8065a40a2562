"""What of a profile may be seen: steps of ladders; and the box that only one key opens."""

from __future__ import annotations

import base64
import hashlib
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import InvalidRequest, PlatformError
from domain.model import parse
from domain.profile_request import (
    LADDER,
    MOVES,
    STEPS,
    ProfileRequest,
    ProfileState,
    context_of,
    ends,
    fingerprint,
    next_end,
    padded_length,
)
from store.profile_box import TooLong, is_signed, new_key, open_profile, public_half, seal_profile

PRIVATE, PUBLIC = new_key()
SIGNING = Ed25519PrivateKey.generate()
CONTEXT = context_of("profile-1", "clinic", "d-1")
BEGAN = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
# of order 1, 2, 4 and 8, and one that is not reduced: each gives everybody the same secret
SMALL = [
    bytes(32),
    (1).to_bytes(32, "little"),
    (2**255 - 20).to_bytes(32, "little"),
    (2**255 - 19).to_bytes(32, "little"),
    bytes.fromhex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
    bytes.fromhex("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
]


def sealed(content: bytes = b"a profile", *, key: str = PUBLIC, context: bytes = CONTEXT) -> bytes:
    return seal_profile(content, key=key, context=context, signing=SIGNING)


def test_it_opens_with_the_one_key_and_in_its_place_only() -> None:
    box = sealed()
    assert open_profile(box, private=PRIVATE, context=CONTEXT) == b"a profile"
    other, _ = new_key()
    for private, context in (
        (other, CONTEXT),
        (PRIVATE, context_of("profile-2", "clinic", "d-1")),
        (PRIVATE, context_of("profile-1", "other", "d-1")),
        (PRIVATE, context_of("profile-1", "clinic", "d-2")),
    ):
        with pytest.raises(PlatformError, match="does not open"):
            open_profile(box, private=private, context=context)


@settings(max_examples=60)
@given(st.integers(0, LADDER[0] - 1), st.integers(1, 255))
def test_no_byte_of_it_can_be_changed(place: int, change: int) -> None:
    box = bytearray(sealed())
    box[place] ^= change
    signer = SIGNING.public_key()
    assert not is_signed(bytes(box), context=CONTEXT, by=signer)
    if place < LADDER[0] - 64:
        with pytest.raises(PlatformError):
            open_profile(bytes(box), private=PRIVATE, context=CONTEXT)


def test_it_is_signed_for_its_place() -> None:
    box, signer = sealed(), SIGNING.public_key()
    assert is_signed(box, context=CONTEXT, by=signer)
    assert not is_signed(box, context=CONTEXT + b"x", by=signer)
    assert not is_signed(box, context=CONTEXT, by=Ed25519PrivateKey.generate().public_key())


@pytest.mark.parametrize("cut", [0, 1, 31, 100, LADDER[0] - 1])
def test_what_was_cut_does_not_open(cut: int) -> None:
    with pytest.raises(PlatformError):
        open_profile(sealed()[:cut], private=PRIVATE, context=CONTEXT)


def test_nothing_is_sealed_to_a_point_that_shares_its_secret_with_everybody(
    subtests: pytest.Subtests,
) -> None:
    for point in SMALL:
        with (
            subtests.test(point=point),
            pytest.raises(PlatformError, match="none that anything can be sealed to"),
        ):
            sealed(key=base64.b64encode(point).decode())


@settings(max_examples=30)
@given(st.integers(0, 300_000))
def test_only_a_rung_of_the_ladder_shows(size: int) -> None:
    # what cannot be packed
    content = hashlib.shake_128(str(size).encode()).digest(size)
    box = sealed(content)
    assert len(box) in LADDER
    assert open_profile(box, private=PRIVATE, context=CONTEXT) == content


def test_beyond_the_ladder_nothing_is_sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("domain.profile_request.LADDER", (256,))
    assert len(sealed(b"short")) == 256
    with pytest.raises(TooLong):
        sealed(bytes(range(256)))
    with pytest.raises(ValueError, match="more than"):
        padded_length(257)


def test_a_bomb_inside_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    box = sealed(bytes(100_000))
    monkeypatch.setattr("store.profile_box.MOST_OPENED", 50_000)
    with pytest.raises(PlatformError):
        open_profile(box, private=PRIVATE, context=CONTEXT)


@given(st.floats(0, 40_000))
def test_it_is_ready_at_few_moments(seconds: float) -> None:
    moment = next_end(BEGAN, BEGAN + timedelta(seconds=seconds))
    assert moment in ends(BEGAN)
    assert len(ends(BEGAN)) == STEPS
    if seconds <= 15:
        assert moment == BEGAN + timedelta(seconds=15)


def test_every_state_is_in_the_table_of_moves() -> None:
    assert set(MOVES) == set(ProfileState)
    assert {state for state in ProfileState if state.is_open} == {ProfileState.WAITING, ProfileState.READING}


A_KEY_OF_A_WRONG_FORM_IS_NAMED = {
    "nothing": "",
    "short": "AAAA",
    "no padding": "x" * 44,
    "one short": PUBLIC[:-1],
    "one long": PUBLIC + "=",
    "a line": PUBLIC + "\n",
    "padding alone": "=" * 44,
}


def test_a_key_of_a_wrong_form_is_named(subtests: pytest.Subtests) -> None:
    for name, key in A_KEY_OF_A_WRONG_FORM_IS_NAMED.items():
        with subtests.test(name):
            delivery = "00000000-0000-4000-8000-000000000000"
            with pytest.raises(InvalidRequest) as refused:
                parse(ProfileRequest, {"name": "clinic", "delivery": delivery, "key": key})
            assert refused.value.problems[0].field == "key"


def test_fingerprints_tell_keys_apart_and_belong_to_the_public_half() -> None:
    assert public_half(PRIVATE) == PUBLIC
    assert len(fingerprint(PUBLIC).split()) == 8
    assert fingerprint(PUBLIC) != fingerprint(new_key()[1])
