"""T1 and T2 for joint noise: the law point by point, every shift within the box, what single values get."""

import math
from fractions import Fraction

import numpy as np
import pytest
from checks import check_uniform
from epsilon_audit import LARGE, check_audit
from joint_checks import check_joint_law, check_joint_loss, check_marginals
from length import at_length
from mutation import load_mutant
from release_paths import release_noise
from scipy import stats

from privacy.grid import OutputGrid
from privacy.joint_noise import JointNoise, joint_noise
from privacy.keystream import Keystream
from privacy.sample_aggregate import SampleAggregate


class Replayable(Keystream):
    """The same words for the same seed, which no keystream outside a test may do."""

    def __init__(self, seed):
        self._random = np.random.default_rng(seed)

    def words(self, n, dtype):
        return self._random.integers(0, 2 ** (8 * np.dtype(dtype).itemsize), n, dtype, endpoint=False)


TWO = ((2, 5), Fraction(1), 2)
THREE = ((4, 1, 2), Fraction(2), 3)
FINE = ((7, 10), Fraction(1), 4)
ONE = ((9,), Fraction(1), 6)
LAWS = {"two": (TWO, 40), "three": (THREE, 24), "fine": (FINE, 60), "one": (ONE, 200)}
WIDTHS = "return tuple(-(-n // self.shells) for n in self.sensitivities)"


@pytest.mark.parametrize("law", LAWS)
def test_draws_follow_the_law_point_by_point(law):
    parameters, radii = LAWS[law]
    check_joint_law(JointNoise(*parameters), radii=radii)


@pytest.mark.parametrize("parameters", [TWO, THREE, FINE, ONE, ((3, 3, 3), Fraction(1), 1)])
def test_no_shift_within_the_sensitivities_costs_more_than_epsilon(parameters):
    noise = JointNoise(*parameters)
    # and the worst of them costs nearly all of it: sides are rounded up
    assert check_joint_loss(noise, reach=14) >= noise.epsilon * 2 / 3


@pytest.mark.parametrize("law", LAWS)
def test_what_is_stated_of_single_values_holds(law):
    parameters, radii = LAWS[law]
    check_marginals(JointNoise(*parameters), radii=radii)


def test_at_the_width_of_a_grid_each_value_follows_the_continuous_law(subtests):
    """rate |Z|/w is G |U|, G of the Gamma law with shape p + 1: its tail, by another road, is uniform."""
    for values in (1, 2, 5, 40):
        with subtests.test(values=values):
            noise = joint_noise((2**20,) * values, epsilon=Fraction(1, 3))
            drawn = noise.draw(at_length(4_000))[:, -1]
            x = np.abs(drawn) * float(noise.rate) / noise.widths[-1]
            check_uniform(stats.gamma.sf(x, values + 1) - x / values * stats.gamma.sf(x, values))
            assert abs(np.sign(drawn).mean()) < 6 / math.sqrt(len(drawn))


def test_standard_deviations_beside_those_of_laplace_noise(subtests):
    """sqrt((p + 1)(p + 2)/3)/epsilon of the sensitivity, against sqrt(2) p/epsilon."""
    expected = {1: 1, 2: 0.707, 3: 0.609, 5: 0.529, 10: 0.469, 20: 0.439, 100: 0.414}
    for values, ratio in expected.items():
        with subtests.test(values=values):
            noise = joint_noise((2**20 + 77,) * values, epsilon=Fraction(2))
            laplace = math.sqrt(2) * values * (2**20 + 77) / 2
            assert abs(float(noise.marginals[0].scale) / laplace - ratio) < 0.003
            drawn = noise.draw(at_length(6_000) // values + 600)
            # values of one draw share their radius: not that many are independent
            assert abs(np.sqrt((drawn.astype(float) ** 2).mean()) / laplace / ratio - 1) < 0.15


def check_joint_release(aggregate):
    """In units of R/(l epsilon) the largest noise of p values has density ~ x^(p - 1) e^-x, and each value
    alone the tail of G |U|: the law of a whole release, by another road than the package's."""
    noise = np.abs(release_noise(aggregate, at_length(3_000)))
    values = noise.shape[1]
    check_uniform(stats.gamma.cdf(noise.max(axis=1), values))
    for x in noise.T:
        check_uniform(stats.gamma.sf(x, values + 1) - x / values * stats.gamma.sf(x, values))


JOINT = {"blocks": 5, "micro_epsilon": 500_000, "noise": "joint"}
GRIDS = (OutputGrid.build(0, 1), OutputGrid.build(-100, 100), OutputGrid.build(0, "1e-9"))


@pytest.mark.parametrize("parameters", [{}, {"repeats": 3}, {"count_failures": True, "interval": "sampling"}])
def test_a_release_carries_the_claimed_noise(parameters):
    check_joint_release(SampleAggregate(GRIDS, **JOINT, **parameters))


def test_means_beside_a_median_share_their_epsilon_alone():
    """Half of the ranges' spread makes a median of the second: two means keep two thirds of epsilon."""
    aggregate = SampleAggregate(
        GRIDS,
        **{**JOINT, "blocks": 1_000},
        aggregator="auto",
        spread_ratios=(1, 10**6, 1),
    )
    assert aggregate.aggregators == ("clipped_mean", "median", "clipped_mean")
    assert aggregate.joint.epsilon == Fraction(1, 3)
    assert aggregate.joint.sensitivities == (GRIDS[0].cells, GRIDS[2].cells)


def test_one_block_flips_between_the_bounds():
    aggregate = SampleAggregate(GRIDS[:2], blocks=2, micro_epsilon=2_000_000, noise="joint")
    top, bottom = tuple(grid.cells for grid in GRIDS[:2]), (0, 0)
    bound = check_audit(aggregate, ([top, bottom], [bottom, bottom]), size=LARGE)
    assert bound > 0.5, "the audit lost its power"


def test_joint_noise_of_half_the_width():
    mutant = load_mutant(
        "mean_noise",
        old="epsilon=sum(means.epsilons, start=Fraction(0)))",
        new="epsilon=2 * sum(means.epsilons))",
    )
    aggregate = release_of(mutant, blocks=2, micro_epsilon=1_000_000)
    top, bottom = tuple(grid.cells for grid in GRIDS), (0, 0, 0)
    with pytest.raises(AssertionError, match="not the stated distribution"):
        check_joint_release(aggregate)
    with pytest.raises(AssertionError, match="an attacker proves epsilon"):
        check_audit(aggregate, ([top, bottom], [bottom, bottom]), size=LARGE)


def test_joint_noise_forgets_the_repeats():
    mutant = load_mutant(
        "sample_parameters", old="self.repeats * self.grids[k].cells", new="self.grids[k].cells"
    )
    with pytest.raises(AssertionError, match="not the stated distribution"):
        check_joint_release(release_of(mutant, repeats=2))


def test_joint_noise_drawn_for_each_value_by_itself():
    """Each value looks right, and each costs the whole epsilon."""
    mutant = load_mutant(
        "sample_aggregate",
        old="iter(self.joint.draw(1, keystream=keystream)[0].tolist())",
        new="(int(one.draw(1, keystream=keystream)[0]) for one in self.joint.marginals)",
    )
    with pytest.raises(AssertionError, match="not the stated distribution"):
        check_joint_release(release_of(mutant))


def test_joint_noise_that_follows_the_data():
    mutant = load_mutant(
        "sample_aggregate",
        old="drawn = self._draw_for_means(keystream=keystream)",
        new="drawn = [(1 + sum(column) // 10**6) * one for one, column in "
        "zip(self._draw_for_means(keystream=keystream), zip(*filled))]",
    )
    check_noise_ignores_data(SampleAggregate(GRIDS, **JOINT))
    with pytest.raises(AssertionError, match="follows the data"):
        check_noise_ignores_data(release_of(mutant))


def release_of(mutant, **parameters):
    grids = tuple(mutant.grid.OutputGrid.build(*bounds) for bounds in ((0, 1), (-100, 100), (0, "1e-9")))
    return mutant.sample_aggregate.SampleAggregate(grids, **{**JOINT, **parameters})


def check_noise_ignores_data(aggregate):
    """From one keystream the noise is the same, to half a grid step, whatever the runs have given."""

    def noise(runs):
        released = aggregate.release(runs, keystream=Replayable(3))
        exact = [Fraction(sum(column), len(runs)) for column in zip(*runs, strict=True)]
        pairs = zip(released, aggregate.grids, exact, strict=True)
        return [(one.value - grid.value(unit)) / grid.step for one, grid, unit in pairs]

    low, high = (noise([(units,) * 3] * aggregate.plan.runs) for units in (0, 2**20))
    apart = max(abs(one - other) for one, other in zip(low, high, strict=True))
    assert apart <= 1, f"the noise follows the data: {float(apart)} steps"


def test_sides_rounded_down():
    mutant = load_mutant(
        "joint_noise", old=WIDTHS, new=WIDTHS.replace("-(-n // self.shells)", "n // self.shells")
    )
    with pytest.raises(AssertionError, match="a shift within the sensitivities costs"):
        check_joint_loss(mutant.joint_noise.JointNoise(*TWO), reach=14)


def test_the_sides_of_another_value():
    mutant = load_mutant(
        "joint_noise",
        old=WIDTHS,
        new=WIDTHS.replace("in self", "in reversed(self").replace("sensitivities)", "sensitivities))"),
    )
    with pytest.raises(AssertionError, match="a shift within the sensitivities costs"):
        check_joint_loss(mutant.joint_noise.JointNoise(*TWO), reach=14)


def test_radii_whatever_the_volume_of_their_boxes():
    mutant = load_mutant(
        "joint_noise", old="accepted = self._accepts(tried, stream=stream)", new="accepted = tried >= 0"
    )
    with pytest.raises(AssertionError, match="not the stated distribution"):
        check_joint_law(mutant.joint_noise.JointNoise(*TWO), radii=40)


def test_one_geometric_number_too_few():
    mutant = load_mutant("joint_noise", old="parts = len(self.widths) + 1", new="parts = len(self.widths)")
    with pytest.raises(AssertionError, match="not the stated distribution"):
        check_joint_law(mutant.joint_noise.JointNoise(*FINE), radii=60)


def test_coins_of_the_radius_before():
    mutant = load_mutant(
        "joint_noise", old="twice * (radii[:, None] + place)", new="twice * (radii[:, None] + 1)"
    )
    with pytest.raises(AssertionError, match="not the stated distribution"):
        check_joint_law(mutant.joint_noise.JointNoise(*THREE), radii=24)


def test_half_widths_as_if_each_value_stood_alone():
    mutant = load_mutant(
        "joint_noise",
        old="reach = _quantile(alpha, len(self.joint.widths))",
        new="reach = _quantile(alpha, 1)",
    )
    with pytest.raises(AssertionError, match="lies beyond"):
        check_marginals(mutant.joint_noise.JointNoise(*THREE), radii=24)


def test_half_widths_of_another_value():
    mutant = load_mutant(
        "joint_noise", old="exact = self.joint.widths[self.index]", new="exact = self.joint.widths[0]"
    )
    with pytest.raises(AssertionError, match="lies beyond"):
        check_marginals(mutant.joint_noise.JointNoise(*TWO), radii=40)


def test_a_variance_without_the_shared_radius():
    mutant = load_mutant("joint_noise", old="square = (p + 1) * (p + 2)", new="square = 2 * p")
    with pytest.raises(AssertionError, match="understated"):
        check_marginals(mutant.joint_noise.JointNoise(*FINE), radii=60)
