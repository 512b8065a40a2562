"""T1, T2 and T10 for a mean in two steps: its noise, what an attacker proves, mistakes that are noticed."""

from fractions import Fraction

import numpy as np
import pytest
from checks import check_standard_laplace
from epsilon_audit import LARGE, audit_epsilon
from mutation import load_mutant
from release_paths import drawn_in_batches

from privacy import discrete_laplace, two_step
from privacy.grid import OutputGrid

GRID = OutputGrid.build(0, 1)
BLOCKS, EPSILON = 60, 2


def mechanism(module=two_step):
    return module.TwoStepMean((GRID,), BLOCKS, EPSILON * 1_000_000, spread_ratios=(400,), people=BLOCKS)


def released(aggregate, runs, size):
    """What both steps release, as numbers: the second's value and the first's."""
    found = [aggregate.release(runs) for _ in range(size)]
    return np.array([[float(each.value) for each in one] for one in found])


def check(aggregate, neighbours, size=LARGE // 2):
    first, second = neighbours
    middle = [float(GRID.value(int(np.mean([run[0] for run in runs])))) for runs in neighbours]
    bound = audit_epsilon(
        lambda n: released(aggregate, first, n),
        lambda n: released(aggregate, second, n),
        truths=tuple(np.array([[m, m]]) for m in middle),
        size=size,
    )
    assert bound <= EPSILON, f"an attacker proves epsilon {bound:.2f}, claimed is {EPSILON}"
    return bound


# one of 60 people goes from one end of the bounds to the other
NEIGHBOURS = ([(GRID.middle,)] * (BLOCKS - 1) + [(0,)], [(GRID.middle,)] * (BLOCKS - 1) + [(GRID.cells,)])


def test_two_releases_together_prove_no_more_than_epsilon():
    with drawn_in_batches(discrete_laplace):
        bound = check(mechanism(), NEIGHBOURS)
    assert bound > 0.4, "the audit lost its power"


def test_step_two_carries_noise_of_the_width_of_its_window():
    aggregate = mechanism()
    runs = [(GRID.middle,)] * BLOCKS
    scale = float(aggregate.narrowed.noises[0].scale)
    with drawn_in_batches(discrete_laplace):

        def noise(size):
            step = float(aggregate.narrowed.grids[0].step)
            values = released(aggregate, runs, size)[:, 0]
            return (values - float(GRID.value(GRID.middle))) * BLOCKS / step / scale

        check_standard_laplace(noise, size=4_000)


MISTAKES = {
    "people are not clipped to the window": (
        "min(max(units - start, 0), width) * (fine.cells // width)",
        "(units - start) * (fine.cells // width)",
    ),
    "the window follows one person": (
        "starts = self.starts([each.value for each in rough])",
        "starts = self.starts([g.value(outputs[-1][k]) for k, g in enumerate(self.grids)])",
    ),
    "step two takes four times the whole epsilon": (
        "micro = self.micro_epsilon - self.first.micro_epsilon", "micro = 4 * self.micro_epsilon",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_step_of_the_proof_is_needed(mistake):
    old, new = MISTAKES[mistake]
    broken = load_mutant("two_step", old=old, new=new)
    aggregate = mechanism(broken.two_step)
    with (
        drawn_in_batches(broken.discrete_laplace),
        pytest.raises((AssertionError, ValueError), match=r"an attacker proves epsilon|not a point of the"),
    ):
        check(aggregate, NEIGHBOURS, size=2_000)


def test_half_the_error_where_bounds_are_a_hundred_spreads_wide():
    """Root mean square error against one step, on people who lie anywhere in the bounds."""
    numbers = np.random.default_rng(2)
    two = two_step.TwoStepMean((GRID,), BLOCKS, 2_000_000, spread_ratios=(100,), people=BLOCKS)
    errors = {"two": [], "one": []}
    one = two_step.SampleAggregate((GRID,), BLOCKS, 2_000_000, people=BLOCKS)
    with drawn_in_batches(discrete_laplace):
        for _ in range(400):
            people = np.clip(numbers.normal(numbers.uniform(0.1, 0.9), 0.01, BLOCKS), 0, 1)
            runs = [(GRID.snap(float(x)),) for x in people]
            truth = float(GRID.value(Fraction(sum(run[0] for run in runs), BLOCKS)))
            errors["two"].append(float(two.release(runs)[0].value) - truth)
            errors["one"].append(float(one.release(runs)[0].value) - truth)
    assert np.std(errors["two"]) < 0.6 * np.std(errors["one"])
