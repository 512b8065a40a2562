from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy.finite_law import MAX_CELLS, FiniteLaw, law_of_weights
from privacy.keystream import Keystream

TOP = 2**64 - 1


class Scripted(Keystream):
    """Serves prepared words instead of random ones; every request must be the next one in the script."""

    def __init__(self, *script):
        self.script = list(script)

    def words(self, n, dtype):
        prepared = np.asarray(self.script.pop(0), dtype)
        assert prepared.size == n
        return prepared


def exact_law(law):
    """P(D = d) for d = 0..m, as exact fractions."""
    at_least = [1, *(Fraction(t, 2**law.bits) for t in reversed(law.thresholds)), 0]
    return [more - less for more, less in pairwise(at_least)]


@given(st.lists(st.integers(1, 10**30), min_size=2, max_size=50))
def test_law_of_weights_is_right_to_the_last_bit(weights):
    law = law_of_weights(weights, bits=192)
    for probability, weight in zip(exact_law(law), weights, strict=True):
        assert abs(probability - Fraction(weight, sum(weights))) < Fraction(1, 2**192)


@settings(max_examples=30)
@given(st.lists(st.integers(1, 1000), min_size=2, max_size=300), st.integers(0, 2**32))
def test_all_ways_to_draw_agree(weights, seed):
    """The same 64 leading bits give the same draw through the table, the search and the definition."""
    law = law_of_weights(weights, bits=128)
    words = np.random.default_rng(seed).integers(0, 2**64, 200, np.uint64)
    # half of them begin as a threshold does
    words[::2] = law._leading[words[::2] % len(law.thresholds)] ^ (words[::2] >> np.uint64(20))
    by_definition = [sum((int(word) << 64) < t for t in law.thresholds) for word in words]
    leading, following = words >> np.uint64(48), words << np.uint64(16)
    undecided = np.isin(leading, law._leading >> np.uint64(48))
    script = [leading] + ([following[undecided]] if undecided.any() else [])
    ties = int(np.isin(words, law._leading).sum())
    by_table = law.draw(200, stream=Scripted(*script, *[[TOP]] * ties))
    by_search = [law.draw(1, stream=Scripted([word], [TOP]))[0] for word in words]
    if not ties:
        assert by_table.tolist() == by_definition
        assert by_search == by_definition


@pytest.mark.parametrize("n", [1, 100])
def test_a_tie_of_64_bits_is_decided_by_the_rest(n):
    """Both thresholds begin with the same 64 bits; the next 64 tell them apart."""
    law = FiniteLaw((2**127 + 5, 2**127 + 9), 128)
    for rest, drawn in ((4, 2), (5, 1), (8, 1), (9, 0), (TOP, 0)):
        if n == 1:
            stream = Scripted([2**63], [rest])
        else:
            stream = Scripted([2**15] + [2**16 - 1] * (n - 1), [0], [rest])
        assert law.draw(n, stream=stream).tolist() == [drawn] + [0] * (n - 1)
        assert not stream.script


def test_all_ones_is_the_smallest_value_and_all_zeros_the_largest():
    law = law_of_weights([1, 1, 1], bits=128)
    assert law.draw(1, stream=Scripted([TOP]))[0] == 0
    assert law.draw(1, stream=Scripted([0]))[0] == 2


def test_frequencies():
    law = law_of_weights([1, 2, 3, 4], bits=128)
    counts = Counter(law.draw(100_000, stream=Keystream()).tolist())
    assert all(abs(counts[d] - 10_000 * (d + 1)) < 800 for d in range(4))


LAWS_WITHOUT_MEANING_ARE_REFUSED = (
    ((), 128),
    ((1,), 64),
    ((1,), 129),
    ((2, 1), 128),
    ((0, 1), 128),
    ((1, 2**128), 128),
    (tuple(range(1, MAX_CELLS + 1)), 128),
)


def test_laws_without_meaning_are_refused(subtests):
    for thresholds, bits in LAWS_WITHOUT_MEANING_ARE_REFUSED:
        with (
            subtests.test(thresholds=thresholds, bits=bits),
            pytest.raises(ValueError, match=r"a law has|thresholds ascend"),
        ):
            FiniteLaw(thresholds, bits)
