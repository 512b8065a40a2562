"""T1 and T2 for clipped vectors: the ball, the loss of all pairs by enumeration, the law of a release."""

from fractions import Fraction
from math import isqrt

import pytest
from mutation import load_mutant
from vector_checks import check_ball, check_vector_loss, check_vector_release

from privacy.grid import OutputGrid
from privacy.l2_clip import L2Clip
from privacy.sample_aggregate import SampleAggregate

SMALL = ((4, 4), Fraction(1))
ODD = ((3, 5, 2), Fraction(9, 10))
ONE = ((7,), Fraction(1, 2))
# just below the norm of the corners: by less than a hundred-millionth of a half-range
NEARLY = ((2, 2), Fraction(isqrt(2 * 2**64), 2**32))
COARSE = ((20, 20), Fraction(1, 3))
BALLS = {"small": SMALL, "odd": ODD, "one": ONE, "nearly all": NEARLY, "coarse": COARSE}
RHO = Fraction(1, 3)
BOUNDS = ((0, 1), (-100, 100), (0, "1e-9"))
RELEASE = {"blocks": 5, "micro_epsilon": 500_000, "noise": "gaussian", "atto_delta": 10**12}
NORM = Fraction(3, 4)


@pytest.mark.parametrize("ball", BALLS)
def test_clipped_vectors_lie_in_the_ball(ball):
    assert check_ball(L2Clip(*BALLS[ball])) > 0


@pytest.mark.parametrize("ball", ["small", "odd", "one"])
@pytest.mark.parametrize("repeats", [1, 2])
def test_no_exchange_of_vectors_costs_more_than_rho(ball, repeats):
    # and the worst of them costs much of it: whole numbers lie inside the ball
    assert check_vector_loss(L2Clip(*BALLS[ball]), repeats=repeats, rho=RHO) >= RHO / 4


def test_an_exchange_of_opposite_corners_costs_all_of_rho():
    assert check_vector_loss(L2Clip((4, 6), Fraction(1)), repeats=1, rho=RHO) == RHO


def test_a_release_follows_the_law_around_the_clipped_sum():
    check_vector_release(release_of(), runs_of(release_of()))


def test_clipped_coordinate_by_coordinate():
    mutant = load_mutant(
        "l2_clip",
        old="(_towards_zero(place * limit, norm) for place in places)",
        new="(max(-h * limit // _FINE, min(place, h * limit // _FINE)) "
        "for place, h in zip(places, self.half_ranges))",
    )
    with pytest.raises(AssertionError, match="outside the ball"):
        check_ball(mutant.l2_clip.L2Clip(*ODD))


def test_rounded_to_the_nearest_after_clipping():
    mutant = load_mutant(
        "l2_clip", old="_towards_zero(place * limit, norm)", new="round(Fraction(place * limit, norm))"
    )
    with pytest.raises(AssertionError, match="outside the ball"):
        check_ball(mutant.l2_clip.L2Clip(*COARSE))


def test_a_norm_rounded_down():
    mutant = load_mutant("l2_clip", old="isqrt(square - 1) + 1 if square", new="isqrt(square) if square")
    with pytest.raises(AssertionError, match="outside the ball"):
        check_ball(mutant.l2_clip.L2Clip(*NEARLY))


def test_norms_of_grid_units_instead_of_half_ranges():
    mutant = load_mutant(
        "l2_clip", old="-(-abs(place) * _FINE // half)", new="-(-abs(place) * _FINE // max(self.half_ranges))"
    )
    with pytest.raises(AssertionError, match="outside the ball"):
        check_ball(mutant.l2_clip.L2Clip(*ODD))


def test_noise_for_one_radius_where_two_are_moved():
    mutant = load_mutant(
        "l2_clip",
        old="(2 * repeats * self.half_ranges[index] * self.norm) ** 2",
        new="(repeats * self.half_ranges[index] * self.norm) ** 2",
    )
    with pytest.raises(AssertionError, match="a neighbour costs rho"):
        check_vector_loss(mutant.l2_clip.L2Clip(*SMALL), repeats=1, rho=RHO)


def test_noise_of_vectors_forgets_the_repeats():
    mutant = load_mutant(
        "sample_parameters", old="            repeats=self.repeats,\n        )", new="        )"
    )
    aggregate = release_of(mutant, repeats=2)
    with pytest.raises(AssertionError, match="not the stated distribution"):
        check_vector_release(aggregate, runs_of(aggregate))


def test_vectors_are_summed_as_they_came():
    mutant = load_mutant(
        "sample_aggregate", old="[self.clip.clip(vector) for vector in filled]", new="list(filled)"
    )
    aggregate = release_of(mutant)
    with pytest.raises(AssertionError, match="not the stated distribution"):
        check_vector_release(aggregate, runs_of(aggregate))


def test_noise_of_vectors_by_the_first_half_range():
    mutant = load_mutant("mean_noise", old="means.clip.variance(place,", new="means.clip.variance(0,")
    aggregate = release_of(mutant, bounds=((0, 1), (0, "1.9"), (0, 1)))
    with pytest.raises(AssertionError, match="not the stated distribution"):
        check_vector_release(aggregate, runs_of(aggregate))


def release_of(mutant=None, *, bounds=BOUNDS, **parameters):
    grid = OutputGrid if mutant is None else mutant.grid.OutputGrid
    made = SampleAggregate if mutant is None else mutant.sample_aggregate.SampleAggregate
    grids = tuple(grid.build(*each) for each in bounds)
    return made(grids, **{**RELEASE, "clip_norm": NORM, **parameters})


def runs_of(aggregate):
    """Every block at the upper corner, well outside the ball."""
    return [tuple(grid.cells for grid in aggregate.grids)] * aggregate.plan.runs
