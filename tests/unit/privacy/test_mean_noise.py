from fractions import Fraction

import pytest

from privacy.cost import PICO, Cost, Currency
from privacy.grid import OutputGrid
from privacy.loss import GuaranteeClass
from privacy.mean_noise import Means, narrowest, noises_of
from privacy.noise import GaussianNoise, LaplaceNoise
from privacy.sample_aggregate import SampleAggregate

UNIT = OutputGrid.build(0, 1)
WIDE = OutputGrid.build(-3, 3)
DELTA = {"atto_delta": 10**12}
TWENTIETH = Fraction(1, 20)


def make(outputs=3, **parameters):
    fixed = {"blocks": 10, "micro_epsilon": 1_000_000, "noise": "auto"}
    return SampleAggregate((UNIT, WIDE, UNIT)[:outputs] or (), **{**fixed, **parameters})


def of_many(outputs, **parameters):
    return SampleAggregate(
        (UNIT,) * outputs, **{"blocks": 10, "micro_epsilon": 1_000_000, "noise": "auto", **parameters}
    )


def test_auto_is_laplace_for_one_mean_and_joint_for_several():
    assert [of_many(outputs).resolved_noise for outputs in (1, 2, 20, 21, 100)] == ["laplace", *["joint"] * 4]


def test_auto_takes_gaussian_noise_where_a_delta_makes_it_narrower():
    found = {outputs: of_many(outputs, **DELTA).resolved_noise for outputs in (1, 2, 10, 30, 100)}
    assert found == {1: "laplace", 2: "joint", 10: "joint", 30: "joint", 100: "gaussian"}


def test_a_delta_that_is_not_needed_is_not_spent():
    spent, saved = of_many(100, **DELTA), of_many(2, **DELTA)
    assert spent.cost == Cost.of({Currency.EPSILON: 1_000_000, Currency.DELTA: 10**12})
    assert saved.cost == Cost.of({Currency.EPSILON: 1_000_000})
    assert (spent.guarantee, saved.guarantee) == (GuaranteeClass.APPROX_DP, GuaranteeClass.PURE_DP)
    assert (spent.parameters()["delta"], saved.parameters()["delta"]) == ("0.000001", None)


def test_auto_is_nowhere_wider_than_what_it_was_taken_from():
    for outputs in (2, 3, 30):
        parameters = {**DELTA, "weights": tuple(range(1, outputs + 1))} if outputs < 30 else DELTA
        taken = of_many(outputs, **parameters)
        laplace = noises_of(taken.means, "laplace")
        pairs = zip(taken.noises, laplace, strict=True)
        assert all(new.half_width(TWENTIETH) <= old.half_width(TWENTIETH) for new, old in pairs)


def test_weights_keep_laplace_noise_where_a_mean_would_lose():
    assert make(weights=(1, 1, 1000)).resolved_noise == "laplace"
    assert make(weights=(3, 3, 4)).resolved_noise == "joint"


def test_medians_have_no_part_in_joint_noise():
    mixed = make(aggregator="auto", spread_ratios=(1, 10**6, 1), blocks=1_000)
    assert mixed.resolved_noise == "joint"
    assert [noise is None for noise in mixed.noises] == [False, True, False]
    assert mixed.joint.epsilon == Fraction(2, 3)
    median = make(aggregator="median", blocks=1_000)
    assert (median.resolved_noise, median.joint) == ("laplace", None)
    asked = make(aggregator="median", noise="joint", blocks=1_000)
    assert (asked.noises, asked.joint) == ((None,) * 3, None)


def test_what_cannot_be_drawn_is_no_choice():
    """A small weight leaves a mean too little for Laplace noise, or all too little for joint noise."""
    tiny = (Fraction(1, 10**6),) * 2
    assert narrowest(Means((2**40, 1), (tiny[0], Fraction(1)), (1, 1), None), has_laplace=True) == "joint"
    assert narrowest(Means((2**27, 2**27), tiny, (1, 1), None), has_laplace=True) == "laplace"
    with pytest.raises(ValueError, match="too wide"):
        narrowest(Means((2**40,) * 2, tiny, (1, 1), None), has_laplace=True)


def test_what_a_certificate_quotes_of_joint_noise():
    facts = make(noise="joint").parameters()
    joint = make(noise="joint").joint
    assert facts["noise"] == "discrete joint"
    assert facts["joint"] == {"epsilon": "1", "shells": 1024, "widths": list(joint.widths)}
    scale = joint.marginals[1].scale * WIDE.step / 10
    assert facts["noise_scales"][1] == str(scale)
    assert "joint" not in make(noise="laplace").parameters()


def test_joint_noise_is_one_piece_of_zcdp():
    assert Fraction(make(noise="joint").pico_rho, PICO) == Fraction(1, 2)
    assert Fraction(make(noise="laplace").pico_rho, PICO) == pytest.approx(Fraction(1, 6))
    sampled = make(noise="joint", interval="sampling", count_failures=True)
    values, quartile, failures = (
        Fraction(95, 100) * Fraction(7, 10),
        Fraction(95, 100) * Fraction(1, 20),
        Fraction(1, 20),
    )
    expected = values**2 / 2 + 6 * quartile**2 / 8 + failures**2 / 2
    assert 0 <= Fraction(sampled.pico_rho, PICO) - expected < Fraction(1, PICO)


def test_a_release_says_how_wide_each_value_is_by_itself():
    aggregate = make(noise="joint")
    released = aggregate.release([(0, 0, 0)] * 10)
    for output, grid, marginal in zip(released, aggregate.grids, aggregate.joint.marginals, strict=True):
        assert output.noise_scale == marginal.scale * grid.step / 10
        assert output.half_width_95 == marginal.half_width(TWENTIETH) * grid.step / 10 + grid.step / 2


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"noise": "joint", "weights": (1, 2, 1)}, "leave weights out"),
        ({"noise": "joint", **DELTA}, "joint noise needs no delta"),
        ({"noise": "shared"}, 'must be "laplace", "joint", "gaussian" or "auto"'),
        ({"atto_delta": 0}, "delta"),
    ],
)
def test_what_does_not_go_together_is_refused(parameters, said):
    with pytest.raises(ValueError, match=said):
        make(**parameters)


def test_so_many_outputs_that_nothing_is_left():
    weights = (1,) * 20 + (2,)
    with pytest.raises(ValueError, match="equal weights and means, or a delta"):
        of_many(21, weights=weights)
    assert of_many(21, weights=weights, **DELTA).resolved_noise == "gaussian"
    with pytest.raises(ValueError, match="equal weights and means"):
        of_many(21, aggregator="median", blocks=10_000)
    with pytest.raises(ValueError, match="at most 20 outputs can be medians"):
        of_many(21, aggregator="median", noise="joint", blocks=10_000)


def test_kinds_of_noise():
    means = Means((100, 200), (Fraction(1), Fraction(3)), (1, 3), Fraction(1, 2))
    assert noises_of(means, "laplace") == [LaplaceNoise(Fraction(100)), LaplaceNoise(Fraction(200, 3))]
    assert noises_of(means, "gaussian") == [
        GaussianNoise(Fraction(40_000)),
        GaussianNoise(Fraction(40_000) * 4 / 3),
    ]
    assert len(noises_of(means, "joint")) == 2
