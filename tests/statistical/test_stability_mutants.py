"""Broken copies of the stability-calibrated mechanism: each must fail the check that is meant for it."""

import pytest
from checks import (
    check_distribution,
    check_fresh_noise,
    check_independent_outputs,
    check_on_grid,
    check_small_noise,
)
from length import at_length
from mutation import load_mutant
from register import KEY, clean_heights, leave_one_out_means
from stability_checks import (
    check_failures_count_in_full,
    check_heights_stay_hidden,
    check_people_leave_whole,
    check_scale_says_little,
    claimed_scales,
    noise_in_scales,
    noise_units,
)

NOISE = "noise = int(sample(scale, 1, keystream=keystream)[0])"
OBSERVED = "observed = Fraction(len(self.grids) * change)"
FAILED = "if len(complete) < len(outputs):\n            return [grid.cells for grid in self.grids]"


def make_mechanism(mutant, *, outputs=1, people=20, micro_epsilon_prime=1_000_000, lower=0, upper=1):
    grid = mutant.grid.OutputGrid.build(lower, upper)
    return mutant.stability.StabilityCalibrated((grid,) * outputs, people, micro_epsilon_prime)


def flipping(mechanism):
    """One person moves every output by the whole range."""
    zeros = (0,) * len(mechanism.grids)
    top = tuple(grid.cells for grid in mechanism.grids)
    return [zeros, top, *[zeros] * (mechanism.people - 1)]


def check_claimed_noise(mutant, mechanism, outputs=None):
    outputs = outputs or flipping(mechanism)
    scale, size = claimed_scales(mechanism, outputs)[0], at_length(2_500)
    noise = noise_units(mechanism, outputs, size, module=mutant.stability)[:, 0]
    check_distribution(lambda _: noise, scale=scale, size=size)


def in_scales(mutant, mechanism):
    return lambda n: noise_in_scales(mechanism, flipping(mechanism), n, module=mutant.stability)


def test_half_the_scale():
    mutant = load_mutant("stability", old=NOISE, new=NOISE.replace("(scale,", "(scale / 2,"))
    with pytest.raises(AssertionError, match="not the stated distribution"):
        check_claimed_noise(mutant, make_mechanism(mutant))


def test_every_output_has_noise_for_itself_alone():
    mutant = load_mutant("stability", old=OBSERVED, new="observed = Fraction(change)")
    with pytest.raises(AssertionError, match="not the stated distribution"):
        check_claimed_noise(mutant, make_mechanism(mutant, outputs=2))


def test_no_floor():
    mutant = load_mutant(
        "stability",
        old="next_power_of_two(max(observed, floor) * self",
        new="next_power_of_two(max(observed, floor / 2**30, Fraction(1)) * self",
    )
    with pytest.raises(AssertionError, match="not the stated distribution"):
        check_claimed_noise(mutant, make_mechanism(mutant), [(1_000,)] * 21)


def test_the_largest_change_shows_in_the_scale():
    mutant = load_mutant("stability", old="return power if power >= value else 2 * power", new="return value")
    with pytest.raises(AssertionError, match="more than an order of magnitude"):
        check_scale_says_little(make_mechanism(mutant))


def test_the_power_of_two_below():
    mutant = load_mutant("stability", old="return power if power >= value else 2 * power", new="return power")
    with pytest.raises(AssertionError, match="too small"):
        check_scale_says_little(make_mechanism(mutant))


def test_small_noise_rejected():
    again = f"{NOISE}\n    while abs(noise) < scale:\n        {NOISE}"
    mutant = load_mutant("stability", old=NOISE, new=again)
    mechanism = make_mechanism(mutant)
    with pytest.raises(AssertionError, match="small noise is avoided"):
        check_small_noise(lambda n: in_scales(mutant, mechanism)(n)[:, 0], scale=1.0)


def test_noise_shared_by_all_outputs():
    shared = (
        f"noise = globals().setdefault('drawn', []) and drawn.pop()\n    if not noise:\n        {NOISE}\n"
    )
    mutant = load_mutant("stability", old=NOISE, new=f"{shared}        drawn.append(noise)")
    mechanism = make_mechanism(mutant, outputs=2, micro_epsilon_prime=1_000)
    with pytest.raises(AssertionError, match="outputs share their noise"):
        check_independent_outputs(in_scales(mutant, mechanism))


def test_noise_kept_from_job_to_job():
    mutant = load_mutant("stability", old=NOISE, new=f"noise = globals().setdefault('drawn', {NOISE[8:]})")
    mechanism = make_mechanism(mutant, micro_epsilon_prime=1_000)
    with pytest.raises(AssertionError, match="two releases carry the same noise"):
        check_fresh_noise(lambda n: in_scales(mutant, mechanism)(n)[:, 0], pairs=1_000)


def test_float_noise():
    mutant = load_mutant(
        "stability",
        old="value=grid.value(units + noise),",
        new="value=Fraction(float(grid.value(units)) + "
        "__import__('numpy').random.laplace(0, float(scale * grid.step))),",
    )
    mechanism = make_mechanism(mutant)
    with pytest.raises(AssertionError, match="off the grid"):
        check_on_grid(mechanism, flipping(mechanism))


def test_failed_runs_left_out():
    """The person who makes the pipeline work would get the floor, the least noise of all."""
    mutant = load_mutant("stability", old=FAILED, new="")
    with pytest.raises(AssertionError, match="a failed run went unnoticed"):
        check_failures_count_in_full(make_mechanism(mutant))


def test_rows_leave_instead_of_people():
    mutant = load_mutant(
        "leave_one_out", old="{name: canonical(name) for name in names}", new="{n: n.encode() for n in names}"
    )
    with pytest.raises(AssertionError, match="half of a person was left out"):
        check_people_leave_whole(mutant.leave_one_out.leave_one_out)


def test_the_leave_one_out_vector_released():
    mutant = load_mutant(
        "stability",
        old="        whole = outputs[0] if outputs[0] is not None else middle(self.grids)\n",
        new="        noise = int(sample(Fraction(10**6), 1)[0])\n"
        "        return tuple(NoisedOutput(self.grids[0].value(out[0] + noise)) for out in outputs)\n"
        "        whole = outputs[0] if outputs[0] is not None else middle(self.grids)\n",
    )
    people = clean_heights()
    # the heights in the order in which people are left out
    order = mutant.leave_one_out.leave_one_out(list(people), key=KEY, people=58, wanted=range(1, 59))
    heights = [people[(set(people) - set(seen)).pop()] for seen in order.values()]
    mechanism = make_mechanism(mutant, people=58, lower=100, upper=220)
    with pytest.raises(AssertionError, match="gives back the heights"):
        check_heights_stay_hidden(mechanism.release(leave_one_out_means(people)), heights)
