"""Statistical checks of the privacy package, as plain functions over the thing under test.

Each check raises AssertionError when what it is given cannot be right, and gives a false alarm with
probability about 10^-6 (privacy design, section 5). The tests run them on the real code, `test_mutants` on
broken copies. The expected laws are written out here a second time, in floats, so that the package does not
mark its own work.
"""

import math
import os
import random
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

ALPHA = 1e-6
MICRO = 10**6

Draw = Callable[[int], np.ndarray]
"""n independent noise values, in units in which the claimed scale is known."""

Releases = Callable[[int], np.ndarray]
"""n independent releases of one data set, as an (n, outputs) array."""


# --- what a release path is asked for -------------------------------------------------------------------


def release_values(aggregate: Any, blocks: Sequence, n: int) -> np.ndarray:
    """n releases of the same block outputs as an (n, outputs) array of floats."""
    return np.array([[float(output.value) for output in aggregate.release(blocks)] for _ in range(n)])


def release_noise(aggregate: Any, n: int) -> np.ndarray:
    """Noise of n releases, one column per output, in units of the scale that the epsilon CLAIMS.

    The claimed scale R p / (l epsilon) is computed from the public parameters alone, so a standard Laplace
    is to be expected (one unit of the sum is less than 10^-3 of the scale).
    """
    outputs = len(aggregate.grids)
    scales = [
        (grid.upper - grid.lower) * outputs * MICRO / (aggregate.blocks * aggregate.micro_epsilon)
        for grid in aggregate.grids
    ]
    bottom = [(0,) * outputs] * aggregate.blocks
    lower = np.array([float(grid.lower) for grid in aggregate.grids])
    return (release_values(aggregate, bottom, n) - lower) / np.array([float(scale) for scale in scales])


# --- T1, T3: the distribution of one draw ---------------------------------------------------------------


def check_distribution(draw: Draw, *, scale: Fraction, size: int = 10_000) -> None:
    """T1: chi-square on 40 bins that the exact law makes equally likely, as far as integers allow."""
    edges, expected = _discrete_laplace_bins(scale, size=size)
    counts = np.bincount(np.searchsorted(edges, draw(size)), minlength=len(expected))
    _check_chi_square(counts, expected)


def check_standard_laplace(draw: Draw, *, size: int = 10_000) -> None:
    """T1 for noise in units of its scale, when that is so many grid steps that the law is continuous."""
    noise = draw(size)
    check_uniform(np.where(noise < 0, np.exp(-np.abs(noise)) / 2, 1 - np.exp(-np.abs(noise)) / 2))


def check_mean_magnitude(draw: Draw, *, scale: Fraction, size: int = 50_000) -> None:
    """T1 extra: z-test of mean |Z|, which sees a scale that is off by 2.3%."""
    a = math.exp(-1 / scale)
    mean = -2 * a / math.expm1(-2 / scale)
    variance = 2 * a / math.expm1(-1 / scale) ** 2 - mean**2
    z = (np.abs(draw(size)).mean() - mean) / math.sqrt(variance / size)
    assert abs(z) <= 5, f"mean |Z| is {z:.1f} standard errors off"


def check_small_noise(draw: Draw, *, scale: float) -> None:
    """T3: of 500 draws 47.6 are expected within a tenth of the scale; at most 15 has probability 10^-8."""
    small = np.count_nonzero(np.abs(draw(500)) < 0.1 * scale)
    assert small > 15, f"{small} of 500 draws are small: small noise is avoided"


def check_same_distribution(one: np.ndarray, other: np.ndarray) -> None:
    """Chi-square of homogeneity on 40 bins cut at the quantiles of both samples together."""
    edges = np.unique(np.quantile(np.concatenate([one, other]), np.arange(1, 40) / 40))
    table = [np.bincount(np.searchsorted(edges, values), minlength=len(edges) + 1) for values in (one, other)]
    table = np.array(table)[:, np.sum(table, axis=0) >= 50]
    p = stats.chi2_contingency(table).pvalue
    assert p >= ALPHA, f"two samples differ: p = {p:.1e}"


def check_uniform(values: np.ndarray) -> None:
    """Chi-square of numbers in [0, 1] on 40 equal bins."""
    counts = np.histogram(values, bins=40, range=(0, 1))[0]
    assert counts.sum() == len(values)
    _check_chi_square(counts, np.full(40, len(values) / 40))


def _check_chi_square(counts: np.ndarray, expected: np.ndarray) -> None:
    p = stats.chisquare(counts, expected).pvalue if len(counts) > 1 else 1.0
    assert p >= ALPHA, f"not the stated distribution: p = {p:.1e}"


def _discrete_laplace_bins(scale: Fraction, *, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Upper ends of all bins but the last, and expected counts; no bin is expected to hold under 50."""
    a = math.exp(-1 / scale)

    def cdf(z: np.ndarray) -> np.ndarray:
        below = np.exp(-np.abs(z) / float(scale)) / (1 + a)
        return np.where(z < 0, below, 1 - a * below)

    share = np.arange(1, 20) / 40
    left = np.floor(float(scale) * np.log(share * (1 + a)))
    edges = np.unique(np.concatenate([left, [0], -left - 1]))
    edges = edges[np.minimum(cdf(edges), 1 - cdf(edges)) * size >= 50]
    return edges, size * np.diff(np.concatenate([[0], cdf(edges), [1]]))


# --- T2: how much epsilon an attacker can prove ---------------------------------------------------------


def audit_epsilon(
    first: Releases, second: Releases, *, truths: tuple[np.ndarray, np.ndarray], size: int = 20_000
) -> float:
    """T2: lower confidence bound on epsilon from `size` releases of each of two neighbouring data sets.

    One half of the releases selects the most telling event, the other half certifies it with
    Clopper-Pearson bounds that hold together with probability 1 - ALPHA. Tail events see a scale that is too
    small, over all outputs at once or summed; intervals around the truth, which a worst-case attacker knows,
    see that small noise is avoided.
    """
    one, other = first(size), second(size)
    half = size // 2
    selection = one[:half], other[:half]
    event = max(
        # chosen by the bound that certifies: a looser one favours rare events that cannot be certified
        _events(*selection, truths=truths),
        key=lambda event: _log_ratio_bound(event, *selection, alpha=ALPHA),
    )
    return _log_ratio_bound(event, one[half:], other[half:], alpha=ALPHA)


def check_audit(aggregate: Any, neighbours: tuple[Sequence, Sequence], *, size: int = 20_000) -> float:
    """An attacker cannot prove more than the epsilon that the aggregate claims, from either block outputs.

    Returns the bound, to show that the audit has power.
    """
    first, second = neighbours
    bound = audit_epsilon(
        lambda n: release_values(aggregate, first, n),
        lambda n: release_values(aggregate, second, n),
        truths=(_truth(aggregate, first), _truth(aggregate, second)),
        size=size,
    )
    claimed = aggregate.micro_epsilon / MICRO
    assert bound <= claimed, f"an attacker proves epsilon {bound:.2f}, claimed is {claimed}"
    return bound


Event = Callable[[np.ndarray], np.ndarray]


def _truth(aggregate: Any, blocks: Sequence) -> np.ndarray:
    """What would be released without noise, by the claimed rule."""
    filled = [aggregate.default_block() if block is None else block for block in blocks]
    means = [Fraction(sum(column), len(blocks)) for column in zip(*filled, strict=True)]
    return np.array([float(grid.value(mean)) for grid, mean in zip(aggregate.grids, means, strict=True)])


def _events(one: np.ndarray, other: np.ndarray, *, truths: tuple[np.ndarray, np.ndarray]) -> list[Event]:
    """Candidates over arrays of shape (n, outputs); the bound tries each one's complement too."""
    both = np.concatenate([one, other])
    events: list[Event] = []
    for reduce in (np.sum, np.min, np.max):
        cuts = np.quantile(reduce(both, axis=1), np.arange(1, 100) / 100)
        events += [lambda x, f=reduce, c=c: f(x, axis=1) > c for c in cuts]
    for truth in truths:
        widths = np.quantile(_distance(both, truth), [0.02, 0.05, 0.1, 0.2, 0.3, 0.5])
        events += [lambda x, m=truth, w=w: _distance(x, m) < w for w in widths]
    return events


def _distance(values: np.ndarray, truth: np.ndarray) -> np.ndarray:
    return np.abs(values - truth).max(axis=1)


def _log_ratio_bound(event: Event, one: np.ndarray, other: np.ndarray, *, alpha: float) -> float:
    """Largest certain log ratio of the probability of the event or its complement, either way round.

    Four ratios of two Clopper-Pearson bounds each share alpha.
    """
    hits = int(event(one).sum()), int(event(other).sum())
    misses = len(one) - hits[0], len(other) - hits[1]
    bounds = [
        _certain_log_ratio(counts[i], counts[1 - i], n=len(one), level=alpha / 8)
        for counts in (hits, misses)
        for i in (0, 1)
    ]
    return max(bounds)


def _certain_log_ratio(more: int, fewer: int, *, n: int, level: float) -> float:
    low = stats.beta.ppf(level, more, n - more + 1) if more else 0.0
    high = stats.beta.ppf(1 - level, fewer + 1, n - fewer) if fewer < n else 1.0
    return max(0.0, math.log(low / high)) if low > 0 else 0.0


# --- T5: is noise ever used twice -----------------------------------------------------------------------


def check_fresh_noise(noise: Draw, *, pairs: int = 10_000) -> None:
    """T5: two releases of the same data never agree, and differ by the difference of two Laplace draws.

    `noise` is in units of its scale, which must be at least 10^9 grid steps: an honest pair then agrees
    with probability 1 / (4 * 10^9), and 1,000 pairs are looked at.
    """
    difference = noise(pairs) - noise(pairs)
    assert np.count_nonzero(difference[:1_000] == 0) == 0, "two releases carry the same noise"
    # X - Y of two standard Laplace draws has P(X - Y > x) = (2 + x) e^-x / 4 for x >= 0
    far = np.abs(difference)
    beyond = (2 + far) * np.exp(-far) / 4
    check_uniform(np.where(difference < 0, beyond, 1 - beyond))


def check_independent_outputs(noise: Callable[[int], np.ndarray]) -> None:
    """T5: the outputs of one release carry different, uncorrelated noise. Columns in units of their scale."""
    drawn = noise(2_000)
    assert np.count_nonzero(drawn[:1_000, 0] == drawn[:1_000, 1]) == 0, "outputs share their noise"
    correlation = np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1]
    assert abs(correlation) < 5 / math.sqrt(len(drawn)), f"noise of two outputs correlates: {correlation:.2f}"


def check_unseedable(draw: Callable[[], object]) -> None:
    """T5: seeding the generators that a pipeline or library may seed does not repeat the noise."""
    before = random.getstate(), np.random.get_state()
    drawn = []
    for _ in range(2):
        random.seed(0)
        np.random.seed(0)
        drawn.append(draw())
    random.setstate(before[0])
    np.random.set_state(before[1])
    assert drawn[0] != drawn[1], "noise follows a seed"


def check_fork(draw: Callable[[], bytes]) -> None:
    """T5: a parent and its forked children draw different noise."""
    draw()
    drawn = [_in_child(draw), _in_child(draw), draw()]
    assert len(set(drawn)) == 3, "noise repeats after a fork"


def _in_child(draw: Callable[[], bytes]) -> bytes:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writer, draw())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        drawn = pipe.read()
    os.waitpid(pid, 0)
    assert drawn
    return drawn


# --- T6: do the low bits tell data sets apart -----------------------------------------------------------


def check_on_grid(aggregate: Any, blocks: Sequence, *, size: int = 10_000) -> None:
    """T6: every released value is a whole number of grid steps, whatever the data."""
    for _ in range(size):
        for output, grid in zip(aggregate.release(blocks), aggregate.grids, strict=True):
            assert (output.value / grid.step).denominator == 1, "a released value is off the grid"


def share_of_fine_bits(values: np.ndarray) -> float:
    """T6, the attack: share of floats that are not multiples of 2^-53.

    A float sum 1 + z is always a multiple; 0 + z is not in a fifth of all cases. So one hit proves that the
    true value was 0 and not 1. (Haney, Desfontaines, Hartman, Shrestha, Hay 2022, "Precision-based attacks".)
    """
    scaled = np.ldexp(values, 53)
    return float(np.mean(scaled != np.floor(scaled)))


def check_no_fine_bits(releases: Releases, *, size: int = 10_000) -> None:
    share = share_of_fine_bits(releases(size))
    assert share == 0, f"fine bits identify the data in {share:.0%} of releases"


# --- T7: does one person reach one block only -----------------------------------------------------------

Assign = Callable[..., list[int]]
_people = st.lists(
    st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip), min_size=1, max_size=30
)


def check_partition(assign: Assign) -> None:
    """T7: adding or removing a person changes exactly one block, replacing at most two."""

    @settings(max_examples=300, deadline=None, database=None, report_multiple_bugs=False)
    @given(
        rows=_people,
        newcomer=st.uuids().map(str),
        blocks=st.integers(1, 12),
        key=st.binary(min_size=32),
        seed=st.randoms(),
    )
    def check(rows: list[str], newcomer: str, blocks: int, key: bytes, seed: random.Random) -> None:
        def contents(people: Iterable[str]) -> list[list[str]]:
            return _contents(assign, list(people), key=key, blocks=blocks)

        whole = contents(rows)
        leaver = rows[0].strip()
        rest = [row for row in rows if not _same_person(row, leaver)]
        shuffled = seed.sample(rows, len(rows))
        assert contents(shuffled) == whole, "the order of rows matters"
        assert _changed(whole, contents([newcomer, *rows])) == 1, "adding a person changes other blocks"
        assert _changed(whole, contents(rest)) == 1, "removing a person changes other blocks"
        assert _changed(whole, contents([newcomer, *rest])) <= 2, "replacing a person changes other blocks"
        assert sum(leaver in map(str.strip, block) for block in whole) == 1, "one person is in several blocks"

    check()


def check_sum_moves_by_one_range(assign: Assign, aggregate: Any) -> None:
    """T7: with a hostile pipeline on every block, one person moves each sum of grid units by at most K."""

    @settings(max_examples=100, deadline=None, database=None, report_multiple_bugs=False)
    @given(rows=_people, newcomer=st.uuids().map(str), key=st.binary(min_size=32))
    def check(rows: list[str], newcomer: str, key: bytes) -> None:
        def sums(people: list[str]) -> list[int]:
            blocks = _contents(assign, people, key=key, blocks=aggregate.blocks)
            outputs = [_hostile_pipeline(block, aggregate) for block in blocks]
            filled = [aggregate.default_block() if output is None else output for output in outputs]
            return [sum(column) for column in zip(*filled, strict=True)]

        for before, after, grid in zip(sums(rows), sums([*rows, newcomer]), aggregate.grids, strict=True):
            assert abs(before - after) <= grid.cells, "one person moves a sum by more than its range"

    check()


def _hostile_pipeline(block: list[str], aggregate: Any) -> tuple[int, ...] | None:
    """Jumps between the bounds, or fails, by the parity and number of what it sees."""
    if len(block) % 3 == 2:
        return None
    top = len(block) % 3 == 1
    return tuple(grid.cells if top else 0 for grid in aggregate.grids)


def _contents(assign: Assign, people: list[str], *, key: bytes, blocks: int) -> list[list[str]]:
    contents: list[list[str]] = [[] for _ in range(blocks)]
    for person, block in zip(people, assign(people, key=key, blocks=blocks), strict=True):
        contents[block].append(person)
    return [sorted(block) for block in contents]


def _changed(before: list[list[str]], after: list[list[str]]) -> int:
    return sum(one != other for one, other in zip(before, after, strict=True))


def _same_person(one: str, other: str) -> bool:
    return _spelling(one) == _spelling(other)


def _spelling(person: str) -> str:
    return unicodedata.normalize("NFC", person).strip()
