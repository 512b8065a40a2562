import dataclasses
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.half_samples import WORLDS
from privacy.keystream import Keystream
from privacy.pac_state import LOG_BITS, PACKED_BYTES, PacState

NAT = 2**LOG_BITS
NOTHING_KNOWN = (0,) * WORLDS

logs_of_a_state = st.lists(st.integers(-150 * NAT, 0), min_size=WORLDS - 1, max_size=WORLDS - 1).map(
    lambda logs: (*logs, 0)
)


def exact_posterior(logs) -> list[Decimal]:
    with localcontext(Context(prec=250)):
        weights = [(Decimal(log) / NAT).exp() for log in logs]
        total = sum(weights)
        return [weight / total for weight in weights]


def upper_bounds(state: PacState) -> list[Fraction]:
    numerators, denominator = state.weights
    return [Fraction(numerator, denominator) for numerator in numerators]


def test_the_secret_is_drawn_from_the_keystream_given():
    class Words(Keystream):
        def words(self, n, dtype):
            return np.full(n, 64 + 9, dtype)

    assert PacState.draw(keystream=Words()).secret == 9


def test_nothing_is_known_at_first():
    state = PacState.draw()
    assert state.logs == NOTHING_KNOWN
    assert all(abs(bound - Fraction(1, 64)) < Fraction(1, 2**116) for bound in upper_bounds(state))


def test_the_text_form_says_nothing():
    texts = {f"{PacState(secret, NOTHING_KNOWN)!r} {PacState(secret, NOTHING_KNOWN)}" for secret in range(64)}
    assert texts == {"PacState(secret) PacState(secret)"}


@given(logs_of_a_state)
def test_weights_are_upper_bounds_and_tight(logs):
    for bound, weight in zip(upper_bounds(PacState(0, logs)), exact_posterior(logs), strict=True):
        assert bound >= Fraction(weight)
        assert bound <= Fraction(weight) * (1 + Fraction(1, 2**110)) + Fraction(1, 2**116)


def test_weights_at_the_edges(subtests):
    for log in (-1, -NAT, -99 * NAT, -100 * NAT, -100 * NAT - 1, -(2**250)):
        with subtests.test(log=log):
            bounds = upper_bounds(PacState(0, (log,) * 63 + (0,)))
            assert 0 < bounds[0] <= bounds[63] <= 1 + Fraction(1, 2**116)
            if log > -(2**200):
                assert bounds[0] >= Fraction(exact_posterior((log,) * 63 + (0,))[0])


def test_learning_is_the_rule_of_bayes():
    state = PacState(5, NOTHING_KNOWN).learned([-3 * NAT * world for world in range(WORLDS)])
    state = state.learned([NAT * world for world in range(WORLDS)])
    assert state == PacState(5, tuple(-2 * NAT * world for world in range(WORLDS)))


def test_learning_keeps_the_largest_at_zero():
    state = PacState(5, NOTHING_KNOWN).learned([-7] * 63 + [-10])
    assert state.logs == (0,) * 63 + (-3,)


@pytest.mark.parametrize("size", [63, 65])
def test_learning_needs_one_number_per_world(size):
    with pytest.raises(ValueError, match="zip"):
        PacState(5, NOTHING_KNOWN).learned([0] * size)


@given(st.integers(0, 63), logs_of_a_state)
def test_pack_and_unpack(secret, logs):
    state = PacState(secret, logs)
    packed = state.pack()
    assert len(packed) == PACKED_BYTES
    assert PacState.unpack(packed) == state


def test_there_is_room_for_what_more_releases_can_teach_than_there_will_be():
    largest = 2**54 * 2**74 * NAT - 1
    state = PacState(63, (-largest, *[0] * 63))
    assert PacState.unpack(state.pack()) == state


def test_packed_form_stays_the_same():
    """A change here needs a new tag, or the states of running cohorts are misread."""
    packed = PacState(7, (-1, *[0] * 62, -258)).pack()
    assert packed[:5] == b"PAC\x01\x07"
    assert packed[5:37] == bytes(31) + b"\x01"
    assert packed[-32:] == bytes(30) + b"\x01\x02"


OTHER_BYTES_ARE_REFUSED = (
    (b"", "no PAC state"),
    (PacState(0, NOTHING_KNOWN).pack()[:-1], "no PAC state"),
    (PacState(0, NOTHING_KNOWN).pack() + b"\0", "no PAC state"),
    (b"PAC\x02" + PacState(0, NOTHING_KNOWN).pack()[4:], "no PAC state"),
    (b"PAC\x01\x40" + PacState(0, NOTHING_KNOWN).pack()[5:], "not one of the worlds"),
    (PacState(0, NOTHING_KNOWN).pack()[:5] + b"\1" * (PACKED_BYTES - 5), "the largest 0"),
)


def test_other_bytes_are_refused(subtests):
    for packed, reason in OTHER_BYTES_ARE_REFUSED:
        with subtests.test(packed=packed, reason=reason), pytest.raises(ValueError, match=reason):
            PacState.unpack(packed)


@pytest.mark.parametrize(
    ("secret", "logs"),
    [(-1, NOTHING_KNOWN), (64, NOTHING_KNOWN), (0, (0,) * 63), (0, (1,) * 64), (0, (-1,) * 64)],
)
def test_impossible_states_are_refused(secret, logs):
    with pytest.raises(ValueError, match="platform bug"):
        PacState(secret, logs)


def test_state_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        PacState.draw().secret = 3


def test_weights_in_whole_numbers():
    """Exactly 2^128 for the most likely worlds, 1 for those that are as good as excluded."""
    one = 2**128
    assert PacState(0, NOTHING_KNOWN).weights == ([one] * 64, 64 * one - 126)
    numerators, denominator = PacState(0, (0, -200 * NAT, *NOTHING_KNOWN[2:])).weights
    assert (numerators[:3], denominator) == ([one, 1, one], 63 * one + 1 - 126)
