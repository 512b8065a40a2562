import dataclasses
import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy.accounting import pure_as_rho
from privacy.concentrated import largest_pico_rho
from privacy.cost import ATTO, PICO, Cost, Currency
from privacy.geometric_digits import unbounded
from privacy.grid import OutputGrid
from privacy.loss import GuaranteeClass
from privacy.mechanism import MAX_OUTPUTS, Mechanism
from privacy.noise import GaussianNoise
from privacy.plan import Blocks
from privacy.sample_aggregate import SampleAggregate

UNIT = OutputGrid.build(0, 1)
WIDE = OutputGrid.build(-3, 3)
TINY = {"micro_epsilon": 1_000, "repeats": 100}
WEIGHTS = (1, *(1000,) * 8)
GAUSSIAN = {"noise": "gaussian", "atto_delta": 10**12}


def make_aggregate(**overrides):
    return SampleAggregate(**{"grids": (UNIT, WIDE), "blocks": 4, "micro_epsilon": 1_000_000, **overrides})


def test_what_a_certificate_quotes():
    aggregate: Mechanism = make_aggregate(repeats=3)
    assert aggregate.mechanism == "sample_aggregate"
    assert aggregate.relation == "add or remove one privacy unit"
    assert aggregate.guarantee is GuaranteeClass.PURE_DP
    assert aggregate.plan == Blocks(4, 4, repeats=3)
    assert make_aggregate(people=11).plan == Blocks(4, 11)
    assert aggregate.cost == Cost.of({Currency.EPSILON: 1_000_000})
    assert aggregate.diagnostics == ()


def test_gaussian_noise_is_another_promise_at_another_price():
    aggregate = make_aggregate(**GAUSSIAN)
    assert aggregate.guarantee is GuaranteeClass.APPROX_DP
    assert aggregate.cost == Cost.of({Currency.EPSILON: 1_000_000, Currency.DELTA: 10**12})


def test_parameters_are_plain_json():
    aggregate = make_aggregate(aggregator="auto", spread_ratios=(100, 2), blocks=100, count_failures=True)
    facts = aggregate.parameters()
    assert json.loads(json.dumps(facts)) == facts
    assert facts["aggregators"] == ["median", "clipped_mean"]
    assert facts["noise_scales"] == [None, str(Fraction(6 * 2 * 20, 19 * 100))]
    assert (facts["noise"], facts["delta"]) == ("discrete laplace", None)
    assert (facts["people"], facts["blocks"], facts["repeats"]) == (100, 100, 1)
    assert make_aggregate(people=11).parameters()["people"] == 11
    assert Fraction(facts["rho"]) == Fraction(aggregate.pico_rho, PICO)
    assert (facts["weights"], facts["count_failures"], facts["interval"]) == ([1, 1], True, "noise")
    assert make_aggregate(**GAUSSIAN).parameters()["delta"] == "0.000001"


@given(
    st.integers(1, MAX_OUTPUTS),
    st.integers(1_000, 10**9),
    st.integers(1, 100),
    st.booleans(),
    st.sampled_from(["noise", "sampling"]),
)
@settings(deadline=None)
def test_losses_of_all_parts_sum_to_exactly_epsilon(
    outputs, micro_epsilon, repeats, count_failures, interval
):
    aggregate = make_aggregate(
        grids=(WIDE,) * outputs,
        micro_epsilon=micro_epsilon,
        repeats=repeats,
        weights=tuple(range(1, outputs + 1)),
        count_failures=count_failures,
        interval=interval,
    )
    losses = [repeats * grid.cells / aggregate.noise_scale(k) for k, grid in enumerate(aggregate.grids)]
    losses += [2 * (aggregate.quartile_epsilon(k) or 0) for k in range(outputs)]
    if aggregate.failure_noise is not None:
        losses.append(repeats / aggregate.failure_noise.scale)
    assert sum(losses) == aggregate.shares.total == Fraction(micro_epsilon, 10**6)


def test_every_admissible_scale_can_be_drawn():
    for micro_epsilon in (1_000, 10**9):
        unbounded(make_aggregate(micro_epsilon=micro_epsilon).noise_scale(0))


def test_shares_that_are_asked_for():
    aggregate = make_aggregate(weights=(1, 3), count_failures=True, interval="sampling")
    assert aggregate.shares.failures == Fraction(5, 100)
    assert aggregate.value_epsilon(1) == Fraction(95, 100) * Fraction(3, 4) * Fraction(7, 10)
    assert aggregate.quartile_epsilon(1) == Fraction(95, 100) * Fraction(3, 4) * Fraction(15, 100)
    assert aggregate.diagnostics == ("failed_runs",)
    assert make_aggregate().quartile_epsilon(0) is None


def test_repeats_leave_the_noise_of_the_released_mean_alone():
    once, thrice = make_aggregate(), make_aggregate(repeats=3)
    assert thrice.noise_scale(0) / 3 == once.noise_scale(0)
    assert thrice.parameters()["noise_scales"] == once.parameters()["noise_scales"]


def test_gaussian_rho_is_divided_by_weight():
    aggregate = make_aggregate(**GAUSSIAN, weights=(1, 4), repeats=2)
    total = Fraction(largest_pico_rho(Fraction(1), 10**12), PICO)
    for noise, grid, share in zip(aggregate.noises, aggregate.grids, (1, 4), strict=True):
        assert isinstance(noise, GaussianNoise)
        assert (2 * grid.cells) ** 2 / (2 * noise.variance) == total * share / 5
    assert aggregate.pico_rho == total * PICO
    assert aggregate.noise_scale(0) ** 2 >= aggregate.noises[0].variance


@given(st.integers(1, MAX_OUTPUTS), st.integers(1_000, 10**9), st.booleans(), st.booleans())
@settings(deadline=None)
def test_rho_of_a_pure_release_is_at_most_that_of_its_epsilon(
    outputs, micro_epsilon, count_failures, medians
):
    aggregate = make_aggregate(
        grids=(WIDE,) * outputs,
        micro_epsilon=micro_epsilon,
        count_failures=count_failures,
        aggregator="median" if medians else "clipped_mean",
    )
    assert 0 < aggregate.pico_rho <= pure_as_rho(micro_epsilon)


def test_rho_is_the_sum_over_the_parts():
    assert make_aggregate().pico_rho == PICO // 4
    assert make_aggregate(aggregator="median").pico_rho == PICO // 16
    mixed = make_aggregate(aggregator="auto", spread_ratios=(100, 2), blocks=200, interval="sampling")
    assert mixed.aggregators == ("median", "clipped_mean")
    quarters = [Fraction(7, 20) ** 2 / 8, Fraction(7, 20) ** 2 / 2, 4 * Fraction(3, 40) ** 2 / 8]
    assert mixed.pico_rho == sum(quarters) * PICO
    # 1/20 for the count of failures, 19/40 for each of two means
    counted = [Fraction(1, 20) ** 2 / 2, 2 * Fraction(19, 40) ** 2 / 2]
    assert make_aggregate(count_failures=True).pico_rho == sum(counted) * PICO


def test_defaults_of_failed_runs_do_not_drag_the_aggregate():
    assert make_aggregate().default(3) == (2**19, WIDE.cells // 2)
    medians = make_aggregate(aggregator="median")
    assert [medians.default(run) for run in (0, 1, 2)] == [(0, 0), (UNIT.cells, WIDE.cells), (0, 0)]


def test_a_median_has_no_noise_scale():
    aggregate = make_aggregate(aggregator="median")
    assert aggregate.aggregators == ("median", "median")
    with pytest.raises(ValueError, match="no noise scale"):
        aggregate.noise_scale(0)
    with pytest.raises(ValueError, match="adds no noise"):
        aggregate.draw_noise(0, 1)


def test_many_outputs_with_gaussian_noise_only():
    assert len(make_aggregate(grids=(UNIT,) * 400, **GAUSSIAN).noises) == 400


PARAMETERS_ARE_REFUSED = (
    ({"grids": ()}, "1 to 400"),
    ({"grids": (UNIT,) * 21}, "1 to 20"),
    ({"grids": (UNIT,) * 401, **GAUSSIAN}, "1 to 400"),
    ({"blocks": 1}, "from 2"),
    ({"people": 3}, "at least the number of blocks"),
    ({"people": 4.0}, "at least the number of blocks"),
    ({"blocks": 1_000_001}, "from 2"),
    ({"blocks": 2.0}, "from 2"),
    ({"repeats": 0}, "repeats must be from 1 to 100"),
    ({"repeats": 101}, "repeats must be from 1 to 100"),
    ({"repeats": True}, "repeats must be from 1 to 100"),
    ({"blocks": 600_000, "repeats": 2}, "at most 1000000 runs"),
    ({"micro_epsilon": 0}, "above zero"),
    ({"micro_epsilon": -1_000_000}, "above zero"),
    ({"micro_epsilon": 999}, "0.001"),
    ({"micro_epsilon": 1.0}, "integer"),
    ({"micro_epsilon": True}, "integer"),
    ({"aggregator": "mode"}, "aggregator"),
    ({"aggregator": "auto"}, "needs spread_ratios"),
    ({"aggregator": "auto", "spread_ratios": (3,)}, "needs spread_ratios"),
    ({"aggregator": "auto", "spread_ratios": (3, 0)}, "from 1 to"),
    ({"aggregator": "auto", "spread_ratios": (3, Fraction(999, 1000))}, "from 1 to"),
    ({"aggregator": "auto", "spread_ratios": (3, 10**9 + 1)}, "from 1 to"),
    ({"aggregator": "auto", "spread_ratios": (3, 2.5)}, "exact"),
    ({"aggregator": "auto", "spread_ratios": (3, True)}, "exact"),
    ({"spread_ratios": (3, 3)}, "leave them out"),
    ({"noise": "uniform"}, "noise must be"),
    ({"atto_delta": 10**12}, "leave atto_delta out"),
    ({"noise": "gaussian"}, "needs atto_delta"),
    ({"noise": "gaussian", "atto_delta": 0}, "delta"),
    ({"noise": "gaussian", "atto_delta": ATTO // 100 + 1}, "delta"),
    ({**GAUSSIAN, "aggregator": "median"}, "clipped means"),
    ({**TINY, **GAUSSIAN, "atto_delta": 1, "weights": (1000, 1)}, "squared units, too wide"),
    ({"weights": (1,)}, "one entry per output"),
    ({"weights": (1, 0)}, "from 1 to 1000"),
    ({"weights": (1, 1001)}, "from 1 to 1000"),
    ({"weights": (1, True)}, "from 1 to 1000"),
    ({**TINY, "grids": (UNIT,) * 9, "weights": WEIGHTS}, "48 units, too wide"),
    ({"count_failures": 1}, "count_failures"),
    ({"interval": "both"}, "interval"),
)


def test_parameters_are_refused(subtests):
    for overrides, reason in PARAMETERS_ARE_REFUSED:
        with (
            subtests.test(overrides=overrides, reason=reason),
            pytest.raises(ValueError, match=reason),
        ):
            make_aggregate(**overrides)


def test_aggregate_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        make_aggregate().blocks = 3


def test_replacing_a_parameter_starts_afresh():
    aggregate = make_aggregate()
    assert aggregate.noise_scale(0) == 2 * dataclasses.replace(
        aggregate, micro_epsilon=2_000_000
    ).noise_scale(0)


def test_the_largest_parameters_that_are_accepted():
    assert make_aggregate(blocks=1_000_000).plan.runs == 1_000_000
    assert make_aggregate(blocks=10_000, repeats=100).plan.runs == 1_000_000
    ratios = (1, 10**9)
    assert make_aggregate(aggregator="auto", spread_ratios=ratios).spread_ratios == ratios
    fractions = (Fraction(3, 2), Fraction(10**9))
    assert make_aggregate(aggregator="auto", spread_ratios=fractions).spread_ratios == fractions
