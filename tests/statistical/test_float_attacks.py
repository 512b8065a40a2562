"""T6 of the privacy design: the low bits of a release do not tell data sets apart."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from checks import check_no_fine_bits, check_on_grid, share_of_fine_bits
from release_paths import drawn_in_batches, release_values

from companions.perturb.method import Request
from privacy import discrete_gaussian, discrete_laplace
from privacy.grid import OutputGrid
from privacy.reference import laplace_unsafe
from privacy.sample_aggregate import SampleAggregate

BLOCKS = 3


def aggregate_around_zero() -> SampleAggregate:
    return SampleAggregate((OutputGrid.build(-1, 2),), blocks=BLOCKS, micro_epsilon=1_000_000)


def blocks_that_say(aggregate, value):
    return [tuple(grid.snap(value) for grid in aggregate.grids)] * BLOCKS


@pytest.mark.parametrize("value", [0.0, 1.0, 1 / 3, 1e6])
def test_releases_are_on_the_grid_whatever_the_value(value):
    aggregate = SampleAggregate(
        (OutputGrid.build(-0.1, "1000000.1"),), blocks=BLOCKS, micro_epsilon=1_000_000
    )
    with drawn_in_batches(discrete_laplace):
        check_on_grid(aggregate, blocks_that_say(aggregate, value))


@pytest.mark.parametrize(
    "parameters",
    [{"aggregator": "median"}, {"noise": "gaussian", "atto_delta": 10**12}],
    ids=["median", "gaussian"],
)
def test_other_releases_and_their_intervals_are_on_the_grid_too(parameters):
    aggregate = replace(aggregate_around_zero(), interval="sampling", **parameters)
    with drawn_in_batches(discrete_gaussian):
        check_on_grid(aggregate, blocks_that_say(aggregate, 1 / 3), size=400)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_fine_bits_never_occur_in_our_releases(value):
    aggregate = aggregate_around_zero()
    assert aggregate.release([None] * BLOCKS)[0].noise_scale == 1
    with drawn_in_batches(discrete_laplace):
        check_no_fine_bits(lambda n: release_values(aggregate, blocks_that_say(aggregate, value), n))


def test_the_attack_works_on_numpy():
    noise = np.random.default_rng().laplace(0.0, 1.0, 10_000)
    assert share_of_fine_bits(0.0 + noise) > 0.2
    assert share_of_fine_bits(1.0 + noise) == 0


def test_the_attack_works_on_diffprivlib():
    noise = laplace_unsafe(10_000, epsilon=1.0, sensitivity=1.0)
    assert share_of_fine_bits(noise) > 0.1


LOCAL = [
    ("laplace", None, False),
    ("laplace", None, True),
    ("bounded", "1e-9", False),
    ("gaussian", "1e-9", False),
]


@pytest.mark.parametrize(("mechanism", "delta", "fast"), LOCAL)
@pytest.mark.parametrize("value", [0.0, 1.0, 1 / 3])
def test_perturbed_values_are_on_one_grid_and_have_no_fine_bits(mechanism, delta, fast, value):
    request = Request(-1, 2, "1", delta, mechanism, fast)
    released = request.method.perturb(np.full(100_000, value))
    steps = released / float(request.grid.step)
    assert (steps == np.floor(steps)).all()
    assert share_of_fine_bits(released) == 0


@pytest.mark.parametrize(("lower", "upper"), [(0, "1e-280"), ("-1e299", "1e300"), ("1e6", "1000001")])
def test_perturbed_values_are_on_the_grid_at_every_scale_of_floats(lower, upper):
    request = Request(lower, upper, "1")
    values = np.random.default_rng().uniform(float(lower), float(upper), 1_000)
    released = request.method.perturb(values)
    assert all((Fraction(value) / request.grid.step).denominator == 1 for value in released)
    assert released.min() < float(lower) < float(upper) < released.max()


@pytest.mark.parametrize(("law", "share"), [("laplace", 0.1), ("gaussian", 0.02)])
def test_the_attack_works_on_perturbed_values_of_the_reference(law, share):
    request = Request(0, 1, "1", "0.001", f"reference-{law}")
    released = [request.method.perturb(np.full(10_000, value)) for value in (0.0, 1.0)]
    assert share_of_fine_bits(released[0]) > share
    assert share_of_fine_bits(released[1]) == 0
