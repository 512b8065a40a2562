import dataclasses
import json
from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy.cost import Cost, Currency
from privacy.grid import OutputGrid
from privacy.loss import GuaranteeClass
from privacy.pac import SMALLEST_SPREAD, Pac
from privacy.pac_state import LOG_BITS, PacState
from privacy.plan import HalfSamples

UNIT = OutputGrid.build(0, 1)
WIDE = OutputGrid.build(-3, 3)
NOTHING_KNOWN = (0,) * 64
FRESH = PacState(secret=11, logs=NOTHING_KNOWN)

worlds_of_one_output = st.lists(st.integers(0, UNIT.cells), min_size=64, max_size=64)
states = st.lists(st.integers(-8 * 2**LOG_BITS, 0), min_size=63, max_size=63).map(
    lambda logs: PacState(secret=11, logs=(0, *logs))
)


def make_pac(**overrides):
    return Pac(**{"grids": (UNIT,), "micro_nats": 31_250, **overrides})


def staircase(step: int, *, start: int = 0) -> list[tuple[int, ...]]:
    """A different output in every world."""
    return [(start + step * world,) for world in range(64)]


def posterior(state: PacState) -> np.ndarray:
    weights = np.exp(np.array(state.logs, float) / 2**LOG_BITS)
    return weights / weights.sum()


def test_what_the_certificate_quotes():
    pac = make_pac()
    assert pac.guarantee is GuaranteeClass.PAC
    assert pac.mechanism == "pac"
    assert pac.relation == "which half of the privacy units was analysed; each was in it with chance 1/2"
    assert pac.cost == Cost.of({Currency.NATS: 31_250})
    assert pac.plan == HalfSamples()
    assert pac.plan.runs == 64
    assert pac.parameters() == {
        "worlds": 64,
        "nats": "0.03125",
        "posterior_at_most_percent": "62.5",
        "noise": "discrete_gaussian",
        "smallest_spread": "1/4096",
    }
    json.dumps(pac.parameters())


@settings(max_examples=50)
@given(worlds_of_one_output, worlds_of_one_output, states, st.integers(1, 500_000))
def test_information_of_a_release_is_at_most_beta(first, second, state, micro_nats):
    """sum_k Var_w(Y_k) / (2 v_k) <= beta, and nearly equal where no floor is in the way."""
    pac = make_pac(grids=(UNIT, UNIT), micro_nats=micro_nats)
    variances = pac.noise_variances(list(zip(first, second, strict=True)), state=state)
    weights = posterior(state)
    nats, floored = 0.0, False
    for column, variance in zip((first, second), variances, strict=True):
        values = np.array(column, float)
        spread = float(weights @ (values - weights @ values) ** 2)
        nats += spread / (2 * float(variance))
        floored |= sqrt(spread) < UNIT.cells / 4096
    assert nats <= pac.nats * (1 + 1e-9)
    assert floored or nats >= pac.nats * (1 - 1e-4)


def test_variances_of_two_outputs_follow_the_formula():
    pac = make_pac(grids=(UNIT, WIDE), micro_nats=125_000)
    outputs = [(1_000 * world, 200_000 + 5_000 * (world % 2)) for world in range(64)]
    one, other = pac.noise_variances(outputs, state=FRESH)
    sd_one, sd_other = 1_000 * sqrt((64**2 - 1) / 12), 2_500
    assert float(one) == pytest.approx(sd_one * (sd_one + sd_other) / 0.25, rel=1e-6)
    assert float(other) == pytest.approx(sd_other * (sd_one + sd_other) / 0.25, rel=1e-6)


@pytest.mark.parametrize(("micro_nats", "multiplier"), [(7_812, 8.0), (31_250, 4.0), (500_000, 1.0)])
def test_noise_multiplier_of_one_output(micro_nats, multiplier):
    (variance,) = make_pac(micro_nats=micro_nats).noise_variances(staircase(10_000), state=FRESH)
    assert sqrt(variance) / (10_000 * sqrt((64**2 - 1) / 12)) == pytest.approx(multiplier, rel=1e-4)


def test_where_all_worlds_agree_the_floor_applies():
    (variance,) = make_pac(micro_nats=500_000).noise_variances([(77,)] * 64, state=FRESH)
    assert float(variance) == pytest.approx(float(SMALLEST_SPREAD * UNIT.cells) ** 2, rel=1e-9)


def test_the_posterior_stands_in_for_the_uniform_law():
    """Once two worlds are all that is left, only their distance counts."""
    logs = tuple(0 if world in (3, 60) else -(10**6) * 2**LOG_BITS for world in range(64))
    (variance,) = make_pac(micro_nats=500_000).noise_variances(staircase(8_000), state=PacState(3, logs))
    assert sqrt(variance) == pytest.approx(8_000 * 57 / 2, rel=1e-6)


def test_release_is_centred_on_the_secret_world():
    pac = make_pac(micro_nats=500_000)
    outputs = staircase(10_000)
    for secret in (0, 11, 63):
        state = PacState(secret, NOTHING_KNOWN)
        drawn = [float(pac.release(outputs, state=state)[0][0].value / UNIT.step) for _ in range(500)]
        sd = sqrt(pac.noise_variances(outputs, state=state)[0])
        # within five of the 64 steps; the statistical tests look closer
        assert abs(np.mean(drawn) - outputs[secret][0]) < 6 * sd / sqrt(500)


def test_failed_runs_are_the_middle():
    pac = make_pac(grids=(UNIT, WIDE))
    half_failed = [None if world % 2 else (0, 0) for world in range(64)]
    filled = [(UNIT.middle, WIDE.middle) if world % 2 else (0, 0) for world in range(64)]
    assert pac.noise_variances(half_failed, state=FRESH) == pac.noise_variances(filled, state=FRESH)
    values, _ = pac.release([None] * 64, state=FRESH)
    # the floor: 4 sqrt(2) / 4096 of the range
    assert abs(values[0].value - Fraction(1, 2)) < Fraction(1, 40)
    assert abs(values[1].value) < Fraction(6, 40)


def test_only_the_value_is_shown():
    values, _ = make_pac().release(staircase(10_000), state=FRESH)
    (output,) = values
    assert (output.noise_scale, output.half_width_95, output.half_width_99, output.sampling_95) == (None,) * 4
    assert ((output.value - UNIT.lower) / UNIT.step).denominator == 1


def test_the_next_state_is_the_exact_posterior():
    pac = make_pac(grids=(UNIT, WIDE), micro_nats=500_000)
    outputs = [(9_000 * world, 1_000_000 - 8_000 * (world % 7)) for world in range(64)]
    variances = pac.noise_variances(outputs, state=FRESH)
    values, after = pac.release(outputs, state=FRESH)
    released = [
        (output.value - grid.lower) / grid.step for output, grid in zip(values, pac.grids, strict=True)
    ]
    logs = [
        -sum((r - y) ** 2 / (2 * v) for r, y, v in zip(released, world, variances, strict=True))
        for world in outputs
    ]
    # exactly, in fractions: 1/(2 v) is a multiple of 2^-128
    assert [Fraction(log, 2**LOG_BITS) for log in after.logs] == [log - max(logs) for log in logs]
    assert after.secret == FRESH.secret


def test_states_follow_each_other_through_storage():
    pac, state = make_pac(), FRESH
    for step in (1_000, 7_000, 16_000):
        _, state = pac.release(staircase(step), state=state)
        assert PacState.unpack(state.pack()) == state
    assert state.logs != NOTHING_KNOWN


def test_smallest_beta_and_widest_range_can_be_drawn():
    grids = (OutputGrid.build(0, Fraction(2**21 - 2, 2**21)),) * 20
    top = grids[0].cells
    pac = Pac(grids, micro_nats=1)
    values, state = pac.release([(top * (world % 2),) * 20 for world in range(64)], state=FRESH)
    assert len({output.value for output in values}) == 20
    assert len(state.pack()) == len(FRESH.pack())


PARAMETERS_ARE_REFUSED = (
    ({"grids": ()}, "1 to 20"),
    ({"grids": (UNIT,) * 21}, "1 to 20"),
    ({"micro_nats": 0}, "mutual information"),
    ({"micro_nats": -5}, "mutual information"),
    ({"micro_nats": 500_001}, "mutual information"),
    ({"micro_nats": 0.25}, "mutual information"),
    ({"micro_nats": True}, "mutual information"),
)


def test_parameters_are_refused(subtests):
    for overrides, reason in PARAMETERS_ARE_REFUSED:
        with (
            subtests.test(overrides=overrides, reason=reason),
            pytest.raises(ValueError, match=reason),
        ):
            make_pac(**overrides)


@pytest.mark.parametrize("outputs", [[], [(0,)] * 63, [(0,)] * 65, [(0, 0)] * 64, [(-1,)] * 64])
def test_malformed_runs_are_refused(outputs):
    with pytest.raises(ValueError, match="platform bug"):
        make_pac().release(outputs, state=FRESH)


def test_mechanism_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        make_pac().micro_nats = 7


@pytest.mark.parametrize("step", [97, 1_000, 10_007])
def test_the_variance_is_never_below_what_the_theorem_asks_for(step):
    """One output: 2 beta v >= s, whose root is irrational here, and v is hardly more than that."""
    pac, worlds = make_pac(), staircase(step)
    (variance,) = pac.noise_variances(worlds, state=FRESH)
    centre = round(Fraction(sum(units for (units,) in worlds), 64))
    spread = Fraction(sum((units - centre) ** 2 for (units,) in worlds), 64)
    assert spread <= 2 * pac.nats * variance <= spread * (1 + Fraction(1, 2**30))
