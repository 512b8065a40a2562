"""T1 and T2 for joint noise: the law point by point, every shift within the box, what single values get."""

import math
from fractions import Fraction

import numpy as np
import pytest
from checks import check_uniform
from joint_checks import check_joint_law, check_joint_loss, check_marginals
from length import at_length
from mutation import load_mutant
from scipy import stats

from privacy import joint_noise as real
from privacy.joint_noise import JointNoise, joint_noise

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


def test_the_checks_pass_on_a_copy_without_mistakes():
    copy = load_mutant("joint_noise", old=WIDTHS, new=WIDTHS)
    assert copy.joint_noise is not real
    check_joint_law(copy.joint_noise.JointNoise(*TWO), radii=40)
    check_joint_loss(copy.joint_noise.JointNoise(*TWO), reach=14)
    check_marginals(copy.joint_noise.JointNoise(*TWO), radii=40)
