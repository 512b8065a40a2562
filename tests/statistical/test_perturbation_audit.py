"""T1, T3 and T5 for the laws of local perturbation, and the mistakes (T10) that these checks must notice."""

import threading
from fractions import Fraction

import numpy as np
import pytest
from checks import (
    check_distribution,
    check_fork,
    check_fresh_noise,
    check_mean_magnitude,
    check_small_noise,
    check_unseedable,
)
from local_checks import check_truncated_laplace, check_wide_gaussian
from mutation import load_mutant

from companions.perturb.threads import PIECE, perturb_array
from privacy import discrete_laplace, fast_laplace, gaussian_digits
from privacy.bounded_noise import BoundedNoise
from privacy.cost import ATTO
from privacy.grid import OutputGrid
from privacy.perturbation import RecordPerturbation

FAST_SCALES = [Fraction(100), Fraction(27_034), Fraction(3 * 10**9)]
VARIANCES = [10**4, 2**17, 2**17 + 1, 10**9, 2**46, 2**80]
WIDE = RecordPerturbation(OutputGrid.build(0, 1), "laplace", micro_epsilon=1_000)
"""Noise of 10^9 steps: honest draws coincide with probability 1 / (4 * 10^9)."""

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.mark.parametrize("scale", FAST_SCALES)
@pytest.mark.parametrize("size", [10_000, 50_000])
def test_fast_noise_follows_the_exact_law_to_its_stated_accuracy(scale, size):
    """One hundredth in each probability is far below what 50,000 draws show."""
    check_distribution(lambda n: fast_laplace.sample(scale, n), scale=scale, size=size)


def test_fast_noise_is_a_rounded_laplace_draw():
    """At scale 1 the rounded law and the discrete one differ; each probability is the stated one."""
    size = 1_000_000
    drawn = fast_laplace.sample(Fraction(1), size)
    for z in range(-8, 9):
        mass = np.exp(-abs(abs(z) - 0.5)) / 2 - np.exp(-abs(z) - 0.5) / 2 if z else 1 - np.exp(-0.5)
        assert abs(np.count_nonzero(drawn == z) - size * mass) < 5.5 * (size * mass) ** 0.5


@pytest.mark.parametrize("scale", FAST_SCALES[1:])
def test_fast_noise_has_the_mean_magnitude_and_small_draws(scale):
    check_mean_magnitude(lambda n: fast_laplace.sample(scale, n), scale=scale)
    check_small_noise(lambda n: fast_laplace.sample(scale, n), scale=float(scale))


@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize("size", [10_000, 50_000])
def test_gaussian_noise_follows_its_law(variance, size):
    check_wide_gaussian(lambda n: gaussian_digits.sample(variance, n), variance=variance, size=size)


def test_single_gaussian_draws_follow_the_same_law():
    def draw(n):
        return np.concatenate([gaussian_digits.sample(10**9, 1) for _ in range(n)])

    check_wide_gaussian(draw, variance=10**9)


def test_low_bits_of_gaussian_noise_are_uniform():
    """The parts overlap as the theorem says: no residue modulo 64 is preferred."""
    counts = np.bincount(gaussian_digits.sample(2**40, 640_000) % 64, minlength=64)
    assert (np.abs(counts - 10_000) < 600).all()


@pytest.mark.parametrize("micro_epsilon", [1_000, 100_000, 1_000_000, 10_000_000])
@pytest.mark.parametrize("atto_delta", [ATTO // 100, ATTO // 10**9])
def test_bounded_noise_follows_its_law(micro_epsilon, atto_delta):
    noise = BoundedNoise(2**20, micro_epsilon, atto_delta)
    check_truncated_laplace(noise.sample, scale=noise.scale, bound=noise.bound)
    check_truncated_laplace(noise.sample, scale=noise.scale, bound=noise.bound, size=50_000)


def test_two_runs_on_the_same_array_differ_by_two_independent_draws():
    def noise(n):
        return WIDE.perturb(np.zeros(n)) / float(WIDE.noise.scale * WIDE.grid.step)

    check_fresh_noise(noise)


@pytest.mark.parametrize("law", ["laplace", "bounded", "gaussian", "fast"])
def test_no_two_pieces_share_noise_on_any_thread(law):
    """Eight pieces on four threads: place by place, and one place further, no two have the same noise.

    Of 56,000 honest pairs one is equal with probability 10^-5, two with 10^-10.
    """
    method = RecordPerturbation(
        OutputGrid.build(0, 1),
        "laplace" if law == "fast" else law,
        micro_epsilon=1_000,
        atto_delta=ATTO // 10**9 if law in ("bounded", "gaussian") else None,
        fast=law == "fast",
    )
    out = np.empty(8 * PIECE)
    perturb_array(method, np.zeros(8 * PIECE), out=out, threads=4)
    pieces = out.reshape(8, PIECE)[:, :1000]
    equal = sum(
        np.count_nonzero(pieces[one] == pieces[other])
        + np.count_nonzero(pieces[one][1:] == pieces[other][:-1])
        for one in range(8)
        for other in range(one)
    )
    assert equal <= 1


def test_every_piece_has_a_keystream_of_its_own():
    seen, lock = [], threading.Lock()

    class Recording:
        def perturb(self, values, *, out, keystream):
            with lock:
                seen.append(keystream)
            return out

    perturb_array(Recording(), np.zeros(5 * PIECE), out=np.empty(5 * PIECE), threads=3)
    assert len({id(stream) for stream in seen}) == 5
    assert None not in seen


def test_seeds_and_forks_do_not_repeat_noise():
    for draw in (
        lambda: WIDE.perturb(np.zeros(8)).tobytes(),
        lambda: gaussian_digits.sample(2**60, 8).tobytes(),
        lambda: fast_laplace.sample(Fraction(2**30), 8).tobytes(),
    ):
        check_unseedable(draw)
        check_fork(draw)


# --- T10: mistakes ----------------------------------------------------------------------------------------


def check_low_bits(sample) -> None:
    """The ten low bits of noise of scale 27,034 are uniform to 1 in 10,000."""
    residues = np.bincount(sample(Fraction(27_034), 102_400) % 1024, minlength=1024)
    chi_square = ((residues - 100) ** 2 / 100).sum()
    # 1,023 degrees of freedom: 10^-8 lies at 1,298
    assert chi_square < 1_298, "low bits are not uniform"


def test_low_bits_of_laplace_noise_are_uniform():
    check_low_bits(discrete_laplace.sample)


def test_a_digit_left_out_is_noticed():
    mutant = load_mutant("geometric_digits", old="in reversed(lower):", new="in reversed(lower[1:]):")
    with pytest.raises(AssertionError, match="low bits"):
        check_low_bits(mutant.discrete_laplace.sample)


def test_draws_that_16_bits_cannot_decide_set_to_zero_are_noticed():
    mutant = load_mutant(
        "finite_law", old="if undecided.size:", new="drawn[undecided] = 0\n        if False:"
    )
    with pytest.raises(AssertionError, match="low bits"):
        check_low_bits(mutant.discrete_laplace.sample)


def test_a_gaussian_of_two_thirds_of_the_variance_is_noticed():
    mutant = load_mutant(
        "gaussian_digits",
        old="_parts(_check_variance(variance))",
        new="_parts(_check_variance(variance * 16 // 25))",
    )
    with pytest.raises(AssertionError, match="not the stated distribution"):
        check_wide_gaussian(lambda n: mutant.gaussian_digits.sample(2**40, n), variance=2**40)


def test_a_gaussian_part_left_out_is_noticed():
    mutant = load_mutant("gaussian_digits", old="reversed(parts)", new="reversed(parts[1:])")
    with pytest.raises(AssertionError, match="not the stated distribution"):
        check_wide_gaussian(lambda n: mutant.gaussian_digits.sample(2**40, n), variance=2**40)


def test_a_bound_that_ignores_delta_is_noticed():
    mutant = load_mutant("bounded_noise", old="- 1 + 2 * delta", new="- 1 + 200 * delta")
    noise = BoundedNoise(2**20, 1_000_000, ATTO // 1000)
    wrong = mutant.bounded_noise.BoundedNoise(2**20, 1_000_000, ATTO // 1000)
    assert wrong.bound != noise.bound
    with pytest.raises(AssertionError, match="beyond the bound"):
        check_truncated_laplace(wrong.sample, scale=noise.scale, bound=noise.bound, size=100_000)


def test_fast_noise_of_four_fifths_of_the_scale_is_noticed():
    mutant = load_mutant("fast_laplace", old="noise *= t", new="noise *= 0.8 * t")
    with pytest.raises(AssertionError, match="not the stated distribution"):
        check_distribution(lambda n: mutant.fast_laplace.sample(Fraction(27_034), n), scale=Fraction(27_034))
