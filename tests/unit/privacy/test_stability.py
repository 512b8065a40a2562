import dataclasses
import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.cost import Cost, Currency
from privacy.discrete_laplace import quantile
from privacy.grid import OutputGrid
from privacy.loss import GuaranteeClass
from privacy.plan import LeaveOneOut
from privacy.stability import LABEL, StabilityCalibrated, next_power_of_two

UNIT = OutputGrid.build(0, 1)
WIDE = OutputGrid.build(-3, 3)
PEOPLE = 20


def make_mechanism(**overrides):
    return StabilityCalibrated(
        **{"grids": (UNIT,), "people": PEOPLE, "micro_epsilon_prime": 1_000_000, **overrides}
    )


def scales(mechanism, outputs) -> list[Fraction]:
    """b_k in grid units, from what is shown."""
    released = mechanism.release(outputs)
    return [out.noise_scale / grid.step for out, grid in zip(released, mechanism.grids, strict=True)]


def mean_value(mechanism, outputs, *, size=400) -> float:
    return sum(float(mechanism.release(outputs)[0].value) for _ in range(size)) / size


def test_what_the_certificate_quotes():
    mechanism = make_mechanism(micro_epsilon_prime=300_000)
    assert mechanism.guarantee is GuaranteeClass.EMPIRICAL
    assert mechanism.mechanism == "stability_calibrated"
    assert mechanism.relation.startswith("none")
    assert mechanism.cost == Cost.of({Currency.RELEASES: 1})
    assert mechanism.plan == LeaveOneOut(PEOPLE)
    assert mechanism.parameters() == {
        "label": LABEL,
        "people": PEOPLE,
        "noise": "discrete_laplace",
        "noise_multiplier": "3.33333",
    }
    json.dumps(mechanism.parameters())


@pytest.mark.parametrize(
    ("dial", "text"), [(1_000, "1000"), (333_333, "3"), (1_000_000, "1"), (10_000_000, "0.1")]
)
def test_noise_multiplier_is_shown_in_six_digits(dial, text):
    assert make_mechanism(micro_epsilon_prime=dial).parameters()["noise_multiplier"] == text


def test_nothing_on_paper_says_epsilon():
    assert "epsilon" not in json.dumps(make_mechanism().parameters()).lower()
    assert LABEL.startswith("EMPIRICAL")
    assert "Not differential privacy" in LABEL


def test_scale_is_the_largest_change_times_outputs_over_the_dial_rounded_up_to_a_power_of_two():
    mechanism = make_mechanism(grids=(UNIT, WIDE), micro_epsilon_prime=500_000)
    whole = (400_000, 1_000_000)
    others = [(400_000 - 70_000, 1_000_000 + 90_000), *[(400_001, 999_999)] * (PEOPLE - 1)]
    # 2 outputs * 70,000 / 0.5 = 280,000 and 2 * 90,000 / 0.5 = 360,000
    assert scales(mechanism, [whole, *others]) == [2**19, 2**19]
    half = make_mechanism(grids=(UNIT, WIDE), micro_epsilon_prime=1_000_000)
    assert scales(half, [whole, *others]) == [2**18, 2**18]


@given(st.lists(st.integers(0, UNIT.cells), min_size=PEOPLE + 1, max_size=PEOPLE + 1))
def test_scale_of_one_output_by_its_definition(units):
    (scale,) = scales(make_mechanism(), [(unit,) for unit in units])
    needed = max(max(abs(units[0] - unit) for unit in units), Fraction(UNIT.cells, PEOPLE))
    assert scale / 2 < needed <= scale
    assert scale.denominator == 1
    assert scale.numerator.bit_count() == 1


def test_where_nothing_moves_the_floor_applies():
    # range / (n eps') = 2^20 / 20 = 52,428.8
    assert scales(make_mechanism(), [(123,)] * (PEOPLE + 1)) == [2**16]
    assert scales(make_mechanism(people=40), [(123,)] * 41) == [2**15]
    assert scales(make_mechanism(micro_epsilon_prime=10_000_000), [(123,)] * 21) == [2**13]


def test_the_floor_does_not_grow_with_the_number_of_outputs():
    assert scales(make_mechanism(grids=(UNIT,) * 3), [(123,) * 3] * 21) == [2**16] * 3


@pytest.mark.parametrize("failed", [[0], [1], [20], [3, 4], list(range(21))])
def test_any_failed_run_counts_as_a_change_by_the_whole_range(failed):
    outputs = [None if run in failed else (5_000,) for run in range(PEOPLE + 1)]
    assert scales(make_mechanism(), outputs) == [UNIT.cells]


@pytest.mark.parametrize(
    ("failed", "centre"), [([0], 0.5), ([1], 1.0), (list(range(21)), 0.5)], ids=["whole", "one", "all"]
)
def test_only_a_failed_run_on_everybody_becomes_the_middle(failed, centre):
    mechanism = make_mechanism(micro_epsilon_prime=10_000_000)
    outputs = [None if run in failed else (UNIT.cells,) for run in range(PEOPLE + 1)]
    # the scale is an eighth of the range: a standard error of 0.009
    assert abs(mean_value(mechanism, outputs) - centre) < 0.06


def test_value_is_the_run_on_everybody_plus_whole_steps():
    mechanism = make_mechanism(people=10_000, micro_epsilon_prime=10_000_000)
    outputs = [(700_000,), *[(700_000,)] * 10_000]
    (output,) = mechanism.release(outputs)
    units = (output.value - UNIT.lower) / UNIT.step
    assert units.denominator == 1
    # the scale is 16 steps; 60 scales away has probability e^-60
    assert abs(units - 700_000) < 60 * 16


def test_half_widths_follow_from_the_shown_scale():
    (output,) = make_mechanism(grids=(WIDE,)).release([(0,)] * 21)
    scale = output.noise_scale / WIDE.step
    assert output.half_width_95 == quantile(Fraction(1, 20), scale) * WIDE.step
    assert float(output.half_width_95 / output.noise_scale) == pytest.approx(2.9957, rel=1e-3)
    assert float(output.half_width_99 / output.noise_scale) == pytest.approx(4.6052, rel=1e-3)
    assert output.sampling_95 is None


def test_noise_may_leave_the_bounds():
    mechanism = make_mechanism(micro_epsilon_prime=1_000)
    values = [mechanism.release([None] * 21)[0].value for _ in range(50)]
    assert min(values) < 0 < 1 < max(values)


NEXT_POWER_OF_TWO = (
    ("1", "1"),
    ("2", "2"),
    ("3", "4"),
    ("1048577", "2097152"),
    ("1/3", "1/2"),
    ("1/4", "1/4"),
    ("7/8", "1"),
    ("9/8", "2"),
)


def test_next_power_of_two(subtests):
    for value, power in NEXT_POWER_OF_TWO:
        with subtests.test(value=value, power=power):
            assert next_power_of_two(Fraction(value)) == Fraction(power)


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**12))
def test_next_power_of_two_is_the_smallest_that_is_enough(value):
    power = next_power_of_two(value)
    assert power / 2 < value <= power
    assert power.numerator.bit_count() == power.denominator.bit_count() == 1


PARAMETERS_ARE_REFUSED = (
    ({"grids": ()}, "1 to 20"),
    ({"grids": (UNIT,) * 21}, "1 to 20"),
    ({"people": 9}, "from 10"),
    ({"people": 10_001}, "from 10"),
    ({"people": 20.0}, "from 10"),
    ({"people": True}, "from 10"),
    ({"micro_epsilon_prime": 999}, "noise dial"),
    ({"micro_epsilon_prime": 10_000_001}, "noise dial"),
    ({"micro_epsilon_prime": -1_000_000}, "noise dial"),
    ({"micro_epsilon_prime": 1.0}, "noise dial"),
    ({"micro_epsilon_prime": 1_000_000.0}, "noise dial"),
    ({"people": 20.5}, "from 10"),
    ({"micro_epsilon_prime": True}, "noise dial"),
)


def test_parameters_are_refused(subtests):
    for overrides, reason in PARAMETERS_ARE_REFUSED:
        with (
            subtests.test(overrides=overrides, reason=reason),
            pytest.raises(ValueError, match=reason),
        ):
            make_mechanism(**overrides)


def test_widest_and_narrowest_noise_can_be_drawn():
    widest = make_mechanism(grids=(WIDE,) * 20, micro_epsilon_prime=1_000)
    assert scales(widest, [None] * 21) == [2**35] * 20
    narrowest = make_mechanism(people=10_000, micro_epsilon_prime=10_000_000)
    assert scales(narrowest, [(0,)] * 10_001) == [16]


@pytest.mark.parametrize("outputs", [[], [(0,)] * 20, [(0,)] * 22, [(0, 0)] * 21])
def test_malformed_runs_are_refused(outputs):
    with pytest.raises(ValueError, match="platform bug"):
        make_mechanism().release(outputs)


def test_mechanism_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        make_mechanism().people = 30
