from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.exponential import MAX_LEVELS, Segment, choose, draw, levels, weighed, weights
from privacy.keystream import Keystream


class Scripted(Keystream):
    """Gives the integers that a test wants."""

    def __init__(self, *drawn):
        self._drawn = list(drawn)
        self.bounds = []

    def below(self, n):
        self.bounds.append(n)
        return self._drawn.pop(0)


epsilons = st.fractions(min_value="1/10", max_value=1000, max_denominator=10**6)


@given(epsilons, st.integers(1, 20))
def test_no_weight_exceeds_its_neighbours_by_more_than_half_of_epsilon(epsilon, sensitivity):
    """The lemma, with the true exponential known to 200 digits."""
    weight = weights(epsilon, sensitivity)
    assert weight[-1] == 2**64
    with localcontext() as context:
        context.prec = 200
        half = (Decimal(epsilon.numerator) / epsilon.denominator / 2).exp()
        for near, heavy in list(enumerate(weight))[-200:]:
            light = weight[min(near + sensitivity, len(weight) - 1)]
            assert light <= heavy
            assert Decimal(heavy) <= half * light


@given(epsilons, st.integers(1, 20))
def test_weights_are_close_to_the_exponential_law(epsilon, sensitivity):
    weight = weights(epsilon, sensitivity)
    rate = epsilon / (2 * sensitivity)
    assert len(weight) == levels(rate) + 1
    with localcontext() as context:
        context.prec = 400
        ideal = (Decimal(rate.numerator) / rate.denominator * (len(weight) - 1)).exp()
        assert abs(Decimal(weight[0]) / weight[-1] / ideal - 1) < Decimal(len(weight)) / 2**62


def test_weights_stop_falling_where_they_cannot_matter():
    weight = weights(Fraction(1), 1)
    assert len(weight) == levels(Fraction(1, 2)) + 1 == 269
    assert 2**192 <= weight[0] // weight[-1] < 2**195


def test_a_table_is_cut_short_at_a_tiny_epsilon_and_falls_no_faster():
    weight = weights(Fraction(1, 10**6), 2)
    assert len(weight) == MAX_LEVELS + 1 < levels(Fraction(1, 4 * 10**6))
    assert 1 < weight[0] / weight[-1] < 2.8 ** (MAX_LEVELS / (4 * 10**6))


def test_one_step_is_enough_for_a_huge_epsilon():
    assert len(weights(Fraction(1000), 1)) == 2


def test_distances_beyond_the_table_weigh_the_same():
    far = [Segment(0, 1, 300), Segment(1, 1, 10**9)]
    assert weighed(far, epsilon=Fraction(1), sensitivity=1) == [2**64, 2**65]


def test_every_unit_of_weight_belongs_to_one_point():
    segments = [Segment(0, 2, 1), Segment(2, 1, 0), Segment(3, 0, 0), Segment(3, 3, 2)]
    weight = weights(Fraction(1), 1)
    mass = weighed(segments, epsilon=Fraction(1), sensitivity=1)
    assert mass[-1] == 2 * weight[1] + weight[0] + 3 * weight[2]
    starts = [0, weight[1], 2 * weight[1], mass[1], mass[1] + weight[2], mass[1] + 2 * weight[2]]
    stream = Scripted(*starts, *(start - 1 for start in starts[1:]), mass[-1] - 1)
    assert [draw(segments, mass, keystream=stream) for _ in starts] == [0, 1, 2, 3, 4, 5]
    assert [draw(segments, mass, keystream=stream) for _ in starts] == [0, 1, 2, 3, 4, 5]
    assert set(stream.bounds) == {mass[-1]}


def test_choose_draws_from_the_stream_given_or_from_that_of_the_process():
    segments = [Segment(7, 1, 0)]
    stream = Scripted(5)
    assert choose(segments, epsilon=Fraction(1), sensitivity=1, keystream=stream) == 7
    assert stream.bounds == [weights(Fraction(1), 1)[0]]
    assert choose(segments, epsilon=Fraction(1), sensitivity=1) == 7


@pytest.mark.parametrize("epsilon", [0, Fraction(-1), 0.5])
def test_epsilon_must_be_an_exact_fraction_above_zero(epsilon):
    with pytest.raises(ValueError, match="epsilon"):
        choose([Segment(0, 1, 0)], epsilon=epsilon, sensitivity=1)


def test_sensitivity_must_be_above_zero():
    with pytest.raises(ValueError, match="sensitivity"):
        choose([Segment(0, 1, 0)], epsilon=Fraction(1), sensitivity=0)


def test_weights_never_rise_with_the_distance_however_small_epsilon():
    """e^(10^-130) is 1 to every digit that is computed: rounded down it must not fall below 1."""
    weight = weights(Fraction(1, 10**130), 1)
    assert len(weight) == MAX_LEVELS + 1
    assert set(weight) == {2**64}
