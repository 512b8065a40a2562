"""T10 of the privacy design, for trusted queries: every mistake that we know of makes a check fail."""

from fractions import Fraction

import pytest
from checks import check_fresh_noise, check_independent_outputs, check_no_fine_bits, check_small_noise
from mutation import load_mutant
from release_paths import drawn_in_batches
from trusted_paths import NoisedSums, check_quantile_audit, check_query_audit, release_many

ONE = 1_000_000
SCALE = "return Fraction(self.rows * len(self.bounds) * self.bounds[index] * MICRO, self.micro_epsilon)"
NOISE = "total + int(sample(self.scale(index), 1, keystream=keystream)[0])"


def grid_of(mutant):
    return mutant.grid.OutputGrid.build(0, 1)


def fails_the_audit(mutant, query, others, person, *, size=4_000):
    with pytest.raises(AssertionError, match="an attacker proves epsilon"):
        check_query_audit(query, others, person, size=size, sums=mutant.trusted_noisy_sums)


def test_half_the_scale():
    mutant = load_mutant("trusted.noisy_sums", old=SCALE, new=SCALE.replace("MICRO,", "MICRO, 2 *"))
    fails_the_audit(mutant, mutant.trusted.Count(ONE), [], [()])


def test_rows_per_person_forgotten():
    mutant = load_mutant("trusted.noisy_sums", old=SCALE, new=SCALE.replace("self.rows * ", ""))
    fails_the_audit(mutant, mutant.trusted.Count(ONE, rows=4), [], [()] * 4)


def test_each_sum_gets_all_of_epsilon():
    mutant = load_mutant("trusted.noisy_sums", old=SCALE, new=SCALE.replace("len(self.bounds) * ", ""))
    grid = grid_of(mutant)
    fails_the_audit(mutant, NoisedSums(mutant.trusted.Variance(grid, ONE)), [], [[grid.cells]], size=10_000)


def test_sensitivity_of_a_sum_counted_from_the_middle():
    """Right for a person who changes, half of what is needed for one who comes or goes."""
    bound = "bound = max(abs(self.lowest), abs(self.lowest + self.grid.cells))"
    mutant = load_mutant("trusted.sums", old=bound, new="bound = self.grid.cells // 2")
    grid = grid_of(mutant)
    fails_the_audit(mutant, mutant.trusted.Sum(grid, ONE), [], [[grid.cells]])


def test_a_mean_over_the_exact_count():
    release = "count, distances = self._sums.release(totals, keystream=keystream)\n        return ("
    exact = release.replace("\n        return", "\n        count = totals[0]\n        return")
    mutant = load_mutant("trusted.sums", old=release, new=exact)
    grid = grid_of(mutant)
    fails_the_audit(mutant, mutant.trusted.Mean(grid, ONE), [[grid.cells // 2]] * 20, [[grid.cells // 2]])


def test_squares_that_nobody_centred():
    """Twice as far from zero as the bound says."""
    centred = "2: 2 * (distance * distance // cells) - cells"
    mutant = load_mutant("trusted.spread", old=centred, new="2: 8 * (distance * distance // cells)")
    grid = grid_of(mutant)
    fails_the_audit(mutant, NoisedSums(mutant.trusted.Variance(grid, ONE)), [], [[grid.cells]])


def test_one_noise_for_all_bins():
    mutant = load_mutant(
        "trusted.histogram",
        old="noised = [self._bin.release([total], keystream=keystream)[0] for total in totals]",
        new="drawn = self._bin.release([0], keystream=keystream)[0]\n"
        "        noised = [total + drawn for total in totals]",
    )
    grid = grid_of(mutant)
    query = mutant.trusted.Histogram(grid, (grid.cells // 2,), 1_000)
    with (
        pytest.raises(AssertionError, match="outputs share their noise"),
        drawn_in_batches(mutant.trusted_noisy_sums),
    ):
        check_independent_outputs(lambda n: release_many(query, [], n)[:, :2])


def test_noise_kept_from_release_to_release():
    kept = f"total + globals().setdefault('drawn', {NOISE.removeprefix('total + ')})"
    mutant = load_mutant("trusted.noisy_sums", old=NOISE, new=kept)
    query = mutant.trusted.Sum(grid_of(mutant), 1_000)
    with pytest.raises(AssertionError, match="two releases carry the same noise"):
        check_fresh_noise(lambda n: release_many(query, [], n)[:, 0] / 1_000)


def test_small_noise_rejected():
    again = (
        "total + next(z for z in iter(lambda: int(sample(self.scale(index), 1)[0]), None)"
        " if abs(z) >= self.scale(index))"
    )
    mutant = load_mutant("trusted.noisy_sums", old=NOISE, new=again)
    query = mutant.trusted.Sum(grid_of(mutant), 1_000)
    with pytest.raises(AssertionError, match="small noise is avoided"):
        check_small_noise(lambda n: release_many(query, [], n)[:, 0], scale=1_000)


def test_float_noise():
    mutant = load_mutant(
        "trusted.count",
        old="value=noised * step,",
        new="value=Fraction(float(noised * step) + __import__('numpy').random.laplace(0, 1)),",
    )
    query = mutant.trusted.Count(1000 * ONE)
    with (
        pytest.raises(AssertionError, match="fine bits identify the data"),
        drawn_in_batches(mutant.trusted_noisy_sums),
    ):
        check_no_fine_bits(lambda n: release_many(query, [], n)[:, 0])


def heaps(grid):
    """The median lies in the lower half, and with twenty more rows at the top in the upper half."""
    return [0] * 10 + [grid.cells // 2] * 10, [grid.cells] * 20


def test_quantile_that_forgets_the_rows_of_a_person():
    mutant = load_mutant("trusted.quantile", old="return self.rows * max(", new="return max(")
    grid = grid_of(mutant)
    query = mutant.trusted.Quantile(grid, (Fraction(1, 2),), ONE, rows=20)
    with pytest.raises(AssertionError, match="an attacker proves epsilon"):
        check_quantile_audit(query, *heaps(grid), size=600)


def test_quantiles_that_multiply_epsilon_instead_of_sharing_it():
    mutant = load_mutant(
        "trusted.quantile",
        old="Fraction(self.micro_epsilon, MICRO * len(self.probabilities))",
        new="Fraction(self.micro_epsilon * len(self.probabilities), MICRO)",
    )
    grid = grid_of(mutant)
    shares = tuple(Fraction(share, 10) for share in range(1, 10))
    query = mutant.trusted.Quantile(grid, shares, ONE, rows=20)
    with pytest.raises(AssertionError, match="an attacker proves epsilon"):
        check_quantile_audit(query, *heaps(grid), size=600)


def test_groups_that_do_not_know_how_many_rows_a_person_has():
    mutant = load_mutant(
        "trusted.count", old="NoisySums((1,), rows=self.rows,", new="NoisySums((1,), rows=1,"
    )
    query = mutant.trusted.Groups(mutant.trusted.Count(ONE, rows=2), groups=2)
    fails_the_audit(mutant, query, [], [[0], [1]])


def test_products_beyond_their_bound():
    mutant = load_mutant(
        "trusted.moments", old="*(UNIT**2 for _ in self.pairs)", new="*(UNIT for _ in self.pairs)"
    )
    grid = grid_of(mutant)
    sums = NoisedSums(mutant.trusted.Covariance((grid, grid), ONE))
    fails_the_audit(mutant, sums, [[grid.cells // 2] * 2] * 20, [[grid.cells] * 2], size=1_000)
