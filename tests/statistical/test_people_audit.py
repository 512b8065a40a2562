"""T1, T2 and T10 for numbers over people: quantiles, and the means that covariances follow from."""

from fractions import Fraction

import pytest
from epsilon_audit import LARGE, check_audit
from mutation import load_mutant
from release_paths import drawn_in_batches
from scipy import stats

from privacy import discrete_laplace
from privacy.grid import OutputGrid
from privacy.people import Part
from privacy.sample_aggregate import SampleAggregate

X = OutputGrid.build(0, 1)
XY = OutputGrid.build("-1/4", "1/4")
XX = OutputGrid.build(0, "1/4")
QUARTER, TENTH = Fraction(1, 4), Fraction(1, 10)
LOW = X.cells * 3 // 20


def person(x, y):
    """What one person's run gives for a correlation: x, y, and products from the middle of the bounds."""
    u, v = Fraction(x) - Fraction(1, 2), Fraction(y) - Fraction(1, 2)
    numbers = ((X, x), (X, y), (XY, u * v), (XX, u * u), (XX, v * v))
    return tuple(int((Fraction(number) - grid.lower) / grid.step) for grid, number in numbers)


# what hostile code may say: every number at an end of its own bounds, as no x and y can be
NOTHING = (0,) * 5
EVERYTHING = tuple(grid.cells for grid in (X, X, XY, XX, XX))


def moments(**parameters):
    middle = (X.middle, X.middle, XY.middle, 0, 0)
    parts = tuple(Part(absent=absent, is_mean=True) for absent in middle)
    return SampleAggregate((X, X, XY, XX, XX), blocks=2, micro_epsilon=1_000_000, parts=parts, **parameters)


@pytest.mark.parametrize("noise", ["joint", "laplace"])
def test_a_person_who_moves_all_five_means_proves_no_more_than_epsilon(noise):
    with drawn_in_batches(discrete_laplace):
        bound = check_audit(
            moments(noise=noise), ([person(0, 0), NOTHING], [person(0, 0), EVERYTHING]), size=LARGE
        )
    assert bound > 0.15, "the audit lost its power"


def test_a_run_that_fails_instead_of_answering_proves_no_more():
    with drawn_in_batches(discrete_laplace):
        check_audit(moments(noise="joint"), ([person(1, 0), None], [person(1, 0), person(0, 1)]))


def quantile(module, quantile=QUARTER, **parameters):
    part = module.Part(quantile=quantile)
    return module.SampleAggregate((X,), blocks=4, micro_epsilon=1_000_000, parts=(part,), **parameters)


class Real:
    Part, SampleAggregate = Part, SampleAggregate


NEIGHBOURS = ([(LOW,), (0,), (X.cells,), (X.cells,)], [(LOW,), (X.cells,), (X.cells,), (X.cells,)])


def test_one_person_moves_the_rank_of_a_quarter():
    bound = check_audit(quantile(Real), NEIGHBOURS, size=LARGE)
    assert bound > 0.2, "the audit lost its power"


def test_a_quantile_of_a_release_follows_the_exact_law():
    """Of 5 people at the lower bound and 5 at the upper one, the tenth: three places whose law is known."""
    aggregate = SampleAggregate((X,), blocks=10, micro_epsilon=8_000_000, parts=(Part(quantile=TENTH),))
    size = 4_000
    runs = [(0,)] * 5 + [(X.cells,)] * 5
    drawn = [aggregate.release(runs)[0].value for _ in range(size)]
    # ranks missed: none at the lower bound; 4 between; 4 at the upper one
    between, at = X.cells - 1, 1
    weights = [at, between * 2.718281828459045 ** (-8 / 2 * 4), 2.718281828459045 ** (-8 / 2 * 4)]
    counts = [sum(value == 0 for value in drawn), sum(0 < value < 1 for value in drawn)]
    share = weights[0] / sum(weights)
    assert stats.binomtest(counts[0], size, share).pvalue > 1e-6
    assert counts[0] + counts[1] >= size - 3


def test_a_quantile_that_spends_three_times_its_share_is_proven():
    broken = load_mutant(
        "sample_aggregate",
        old="wanted, epsilon_of_it = self.quantile(index), self.value_epsilon(index)",
        new="wanted, epsilon_of_it = self.quantile(index), 3 * self.value_epsilon(index)",
    )

    class Broken:
        Part, SampleAggregate = broken.people.Part, broken.sample_aggregate.SampleAggregate

    with pytest.raises(AssertionError, match="an attacker proves epsilon"):
        check_audit(quantile(Broken), NEIGHBOURS, size=LARGE)


def test_parts_that_are_noised_for_one_of_five_only_are_proven():
    broken = load_mutant(
        "mean_noise",
        old="return joint_noise(means.sensitivities, epsilon=sum(means.epsilons, start=Fraction(0)))",
        new="return joint_noise(means.sensitivities, epsilon=5 * sum(means.epsilons, start=Fraction(0)))",
    )
    parts = tuple(broken.people.Part(is_mean=True) for _ in range(5))
    aggregate = broken.sample_aggregate.SampleAggregate(
        (X, X, XY, XX, XX), blocks=2, micro_epsilon=1_000_000, parts=parts, noise="joint"
    )
    with (
        drawn_in_batches(broken.discrete_laplace),
        pytest.raises(AssertionError, match="an attacker proves epsilon"),
    ):
        check_audit(aggregate, ([person(0, 0), NOTHING], [person(0, 0), EVERYTHING]))
