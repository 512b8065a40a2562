"""T10 of the privacy design for medians, repeats, weights, Gaussian noise, failures and intervals.

As in `test_mutants`: each test breaks a copy of today's source in one place and shows which check notices.
"""

from fractions import Fraction

import numpy as np
import pytest
from checks import (
    check_chi_square,
    check_discrete_gaussian,
    check_distribution,
    check_independent_outputs,
    check_mean_magnitude,
    check_standard_laplace,
    check_standard_normal,
)
from epsilon_audit import check_audit
from mutation import Mutant, load_mutant
from release_paths import claimed_scales, drawn_in_batches, release_noise

import privacy.exponential

GAUSSIAN = {"noise": "gaussian", "atto_delta": 10**16}
RATE = "rate = Fraction(epsilon) / (2 * sensitivity)"
COUNTED = "value=Fraction(count + int(noise.draw(1, keystream=keystream)[0])),"
SHARES = "outputs = [(epsilon - failures) * weight / sum(weights) for weight in weights]"
VARIANCE = "return GaussianNoise(sensitivity**2 / (2 * rho))"
ACCEPTED = "(y for y in map(int, candidates) if _accept(y, exact, stream=stream))"

PROVEN = pytest.raises(AssertionError, match="an attacker proves epsilon")
OTHER_LAW = pytest.raises(AssertionError, match="not the stated distribution")


def aggregate_of(mutant: Mutant, *, outputs=1, blocks=2, micro_epsilon=1_000_000, **parameters):
    grid = mutant.grid.OutputGrid.build(0, 1)
    return mutant.sample_aggregate.SampleAggregate(
        (grid,) * outputs, blocks=blocks, micro_epsilon=micro_epsilon, **parameters
    )


def batches_of(mutant: Mutant):
    return drawn_in_batches(mutant.discrete_laplace, mutant.discrete_gaussian)


def check_release(mutant: Mutant, aggregate, *, output=0, size=4_000):
    """T1: an output carries noise of the law and of the scale that are claimed."""
    law = check_standard_normal if aggregate.noise == "gaussian" else check_standard_laplace
    with batches_of(mutant):
        law(lambda n: release_noise(aggregate, n)[:, output], size=size)


def check_proven(mutant: Mutant, aggregate, neighbours, *, size=4_000):
    """T2: what the claimed epsilon lets an attacker prove."""
    with batches_of(mutant):
        check_audit(aggregate, neighbours, size=size)


def audit_median(mutant: Mutant, *, repeats=1, size=8_000):
    """The worst case of the proof: few points to the left of `low`, and one block that jumps over it."""
    aggregate = aggregate_of(mutant, aggregator="median", repeats=repeats)
    top = aggregate.grids[0].cells
    low = top * 3 // 20
    flip = [(low,), (0,)] * repeats, [(low,), (top,)] * repeats
    check_audit(aggregate, flip, size=size)


def test_median_weights_off_by_two():
    mutant = load_mutant("exponential", old=RATE, new="rate = Fraction(epsilon) / sensitivity")
    with PROVEN:
        audit_median(mutant)


def test_median_picks_the_best_point():
    mutant = load_mutant("exponential", old=RATE, new="rate = Fraction(1000)")
    with PROVEN:
        audit_median(mutant, size=1_000)


def test_median_forgets_the_repeats():
    mutant = load_mutant("sample_aggregate", old="sensitivity=self.repeats,", new="sensitivity=1,")
    with PROVEN:
        audit_median(mutant, repeats=3, size=8_000)


def test_median_forgets_the_denominator_of_the_quantile():
    mutant = load_mutant("median", old="sensitivity=denominator * sensitivity", new="sensitivity=sensitivity")
    with PROVEN:
        audit_median(mutant)


def test_every_weight_rounded_by_itself():
    """At the small end the weights 2 and 1 would stand where e^(epsilon/2) is 1.01: pure epsilon is lost."""
    mutant = load_mutant(
        "exponential",
        old="return tuple(reversed(descending))",
        new="return tuple(-(-weight >> 60) for weight in reversed(descending))",
    )
    with pytest.raises(AssertionError, match="weights fall too fast"):
        check_weights(mutant.exponential, epsilon=Fraction(1, 50), sensitivity=2)


def check_weights(module, *, epsilon, sensitivity):
    weights = module.weights(epsilon, sensitivity)
    steps = np.array([float(Fraction(weights[d], weights[d + 1])) for d in range(len(weights) - 1)])
    assert steps.max() <= np.exp(float(epsilon) / (2 * sensitivity)) * (1 + 1e-12), "weights fall too fast"
    assert steps.min() >= 1


def test_the_weights_of_the_real_code_pass():
    check_weights(privacy.exponential, epsilon=Fraction(1, 50), sensitivity=2)


def test_mean_forgets_the_repeats():
    mutant = load_mutant(
        "sample_parameters",
        old="self.repeats * self.grids[k].cells",
        new="self.grids[k].cells",
    )
    aggregate = aggregate_of(mutant, repeats=2)
    with OTHER_LAW:
        check_release(mutant, aggregate)
    top = aggregate.grids[0].cells
    with PROVEN:
        check_proven(mutant, aggregate, ([(top,), (0,)] * 2, [(0,), (0,)] * 2))


def test_noise_drawn_once_more_for_every_repeat():
    """Scale R/(l epsilon) is right for every number of repeats: more repeats do not make a mean noisier."""
    mutant = load_mutant("clipped_mean", old="runs = len(units)", new="runs = len(units) // 2")
    aggregate = aggregate_of(mutant, repeats=2)
    with OTHER_LAW:
        check_release(mutant, aggregate)


def test_weights_ignored():
    mutant = load_mutant("epsilon_shares", old=SHARES, new=SHARES.replace("weight / sum", "1 / len"))
    aggregate = aggregate_of(mutant, outputs=2, weights=(1, 3))
    with OTHER_LAW:
        check_release(mutant, aggregate)


def test_weights_not_normalised():
    mutant = load_mutant("epsilon_shares", old=SHARES, new=SHARES.replace("sum(weights)", "max(weights)"))
    aggregate = aggregate_of(mutant, outputs=2, weights=(2, 3))
    top = aggregate.grids[0].cells
    with PROVEN:
        check_proven(mutant, aggregate, ([(top, top), (0, 0)], [(0, 0), (0, 0)]), size=10_000)


def test_failures_counted_without_noise():
    mutant = load_mutant("sample_aggregate", old=COUNTED, new="value=Fraction(count),")
    with PROVEN:
        check_proven(
            mutant, aggregate_of(mutant, count_failures=True), ([None, (0,)], [(0,), (0,)]), size=1_000
        )


def test_failures_counted_on_top_of_epsilon():
    mutant = load_mutant("epsilon_shares", old=SHARES, new=SHARES.replace("(epsilon - failures)", "epsilon"))
    aggregate = aggregate_of(mutant, count_failures=True)
    claimed = aggregate.grids[0].cells / Fraction(95, 100)
    with pytest.raises(AssertionError, match="standard errors off"):
        check_mean_magnitude(lambda n: aggregate.draw_noise(0, n), scale=claimed)


def test_count_of_failures_forgets_the_repeats():
    mutant = load_mutant(
        "sample_parameters",
        old="return laplace_noise(self.repeats, epsilon=self.shares.failures)",
        new="return laplace_noise(1, epsilon=self.shares.failures)",
    )
    aggregate = aggregate_of(mutant, repeats=4, count_failures=True)

    def counts(n):
        return np.array([int(aggregate.release([(0,)] * 8)[1].value) for _ in range(n)])

    with OTHER_LAW, batches_of(mutant):
        check_distribution(counts, scale=Fraction(4 * 20), size=1_000)


def test_quartiles_without_noise():
    mutant = load_mutant(
        "sample_aggregate",
        old="self._quantile(index, column, quartile, epsilon, keystream=keystream) for quartile in QUARTILES",
        new="sorted(column)[int(quartile * len(column))] for quartile in QUARTILES",
    )
    aggregate = aggregate_of(mutant, interval="sampling")
    top = aggregate.grids[0].cells
    with PROVEN:
        check_proven(mutant, aggregate, ([(0,), (top,)], [(0,), (0,)]), size=1_000)


def test_interval_on_top_of_epsilon():
    mutant = load_mutant("epsilon_shares", old="share * (1 - interval)", new="share")
    aggregate = aggregate_of(mutant, interval="sampling")
    with OTHER_LAW:
        check_release(mutant, aggregate)


def check_narrow(squared, *, size):
    new = VARIANCE.replace("sensitivity**2", f"Fraction({squared}) * sensitivity**2")
    aggregate = aggregate_of(load_mutant("clipped_mean", old=VARIANCE, new=new), **GAUSSIAN)
    scale = float(claimed_scales(aggregate)[0]) * aggregate.blocks / float(aggregate.grids[0].step)
    check_standard_normal(lambda n: aggregate.draw_noise(0, n) / scale, size=size)


def test_gaussian_of_four_fifths_of_the_deviation():
    with OTHER_LAW:
        check_narrow("64, 100", size=4_000)


def test_gaussian_of_19_twentieths_of_the_deviation():
    with OTHER_LAW:
        check_narrow("9, 10", size=60_000)


def test_gaussian_of_a_third_of_the_width():
    new = VARIANCE.replace("(2 * rho)", "(18 * rho)")
    mutant = load_mutant("clipped_mean", old=VARIANCE, new=new)
    aggregate = aggregate_of(mutant, **GAUSSIAN)
    top = aggregate.grids[0].cells
    with PROVEN:
        check_proven(mutant, aggregate, ([(top,), (0,)], [(0,), (0,)]), size=16_000)


def test_gaussian_outputs_each_get_the_whole_rho():
    mutant = load_mutant("mean_noise", old="weight / sum(means.weights)", new="1")
    aggregate = aggregate_of(mutant, outputs=3, **GAUSSIAN)
    with OTHER_LAW:
        check_release(mutant, aggregate)


def test_gaussian_spends_the_failures_too():
    mutant = load_mutant(
        "sample_parameters",
        old="largest_pico_rho(sum(self.shares.values, start=Fraction(0)), self.atto_delta)",
        new="largest_pico_rho(self.shares.total, self.atto_delta)",
    )
    aggregate = aggregate_of(mutant, interval="sampling", **GAUSSIAN)
    with OTHER_LAW:
        check_release(mutant, aggregate)


def test_every_laplace_draw_accepted():
    mutant = load_mutant("discrete_gaussian", old=ACCEPTED, new="map(int, candidates)")
    with pytest.raises(AssertionError):
        check_discrete_gaussian(
            lambda n: mutant.discrete_gaussian.sample(Fraction(4), n), variance=Fraction(4)
        )


def test_the_wrong_half_of_the_coins():
    mutant = load_mutant("discrete_gaussian", old="return k % 2 == 1", new="return k % 2 == 0")
    with OTHER_LAW:
        check_discrete_gaussian(
            lambda n: mutant.discrete_gaussian.sample(Fraction(4), n), variance=Fraction(4)
        )


def test_a_uniform_integer_by_remainder():
    """128 mod 96 favours the integers below 32."""
    mutant = load_mutant("keystream", old="if drawn < n:", new="if (drawn := drawn % n) < n:")
    stream = mutant.keystream.Keystream()
    counts = np.bincount([stream.below(96) for _ in range(20_000)], minlength=96)
    with OTHER_LAW:
        check_chi_square(counts, np.full(96, 20_000 / 96))


def test_gaussian_noise_shared_by_all_outputs():
    drawn = "discrete_gaussian.sample(self.variance, size, keystream=keystream)"
    shared = (
        "first = not globals().pop('second', False)\n"
        f"        globals().update({{'kept': {drawn}, 'second': True}} if first else {{}})\n"
        "        return globals()['kept']"
    )
    mutant = load_mutant("noise", old=f"return {drawn}", new=shared)
    aggregate = aggregate_of(mutant, outputs=2, micro_epsilon=1_000, **GAUSSIAN)
    with pytest.raises(AssertionError, match="outputs share their noise"), batches_of(mutant):
        check_independent_outputs(lambda n: release_noise(aggregate, n))
