"""Checks of PAC privacy as plain functions: the noise law, and what a Bayes-optimal attacker gains.

Each raises AssertionError for what cannot be right, with a false alarm in about 10^-6 of runs. The attacker
knows the register, the worlds, the pipelines, the width of the noise and every release; only the secret world
is hidden from him. His arithmetic is written out here in floats, apart from the package's own.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from checks import ALPHA, check_chi_square, check_uniform
from length import at_length
from release_paths import drawn_in_batches
from scipy import stats

import privacy.pac

MICRO = 10**6
STANDARD_ERRORS = 5
UNIFORM = np.full(64, 1 / 64)


def columns(worlds: Sequence[tuple[int, ...]]) -> np.ndarray:
    return np.array(worlds, float)


def released_units(pac: Any, worlds: Sequence, *, state: Any) -> tuple[np.ndarray, Any]:
    """One release in grid units, and the state after it."""
    values, after = pac.release(worlds, state=state)
    units = [(out.value - grid.lower) / grid.step for out, grid in zip(values, pac.grids, strict=True)]
    return np.array([float(unit) for unit in units]), after


# --- T1, T3, T5, T6: the noise --------------------------------------------------------------------------


def claimed_deviations(pac: Any, worlds: Sequence) -> np.ndarray:
    """sqrt(r_k sum_c r_c / (2 beta)) for a first release, in grid units."""
    spreads = columns(worlds).std(axis=0)
    roots = np.maximum(spreads, [grid.cells / 4096 for grid in pac.grids])
    return np.sqrt(roots * roots.sum() / (2 * pac.micro_nats / MICRO))


def noise_of(
    pac: Any, worlds: Sequence, *, state: Any, module: ModuleType = privacy.pac
) -> Callable[[int], np.ndarray]:
    """Noise of n first releases, one column per output, in claimed standard deviations.

    `module` is that of `pac`: the real one, or a mutant's.
    """
    secret = columns(worlds)[state.secret]
    deviations = claimed_deviations(pac, worlds)

    def draw(n: int) -> np.ndarray:
        with drawn_in_batches(module):
            released = [released_units(pac, worlds, state=state)[0] for _ in range(n)]
        return (np.array(released) - secret) / deviations

    return draw


def check_fresh_normal_noise(draw: Callable[[int], np.ndarray], *, pairs: int = 1_000) -> None:
    """T5: two releases of the same data and state never agree, and differ by two independent draws.

    For noise of at least 3 * 10^8 steps: 1,000 honest pairs hold an equal one with probability 10^-6.
    """
    difference = draw(at_length(pairs))[:, 0] - draw(at_length(pairs))[:, 0]
    assert np.count_nonzero(difference[:1_000] == 0) == 0, "two releases carry the same noise"
    check_uniform(stats.norm.cdf(difference / math.sqrt(2)))


def check_pac_on_grid(pac: Any, worlds: Sequence, *, state: Any, size: int = 400) -> None:
    """T6: every released value is a whole number of grid steps, whatever the data."""
    for _ in range(at_length(size)):
        for output, grid in zip(pac.release(worlds, state=state)[0], pac.grids, strict=True):
            assert (output.value / grid.step).denominator == 1, "a released value is off the grid"


# --- the prior ------------------------------------------------------------------------------------------


def check_prior_of_one_half(mask: Callable[..., int], names: Iterable[str], *, key: bytes) -> None:
    """With a uniform secret world, everybody is in it with probability exactly 1/2."""
    for name in names:
        assert mask(name, key=key).bit_count() == 32, "somebody's prior is not 1/2"


def check_secret_is_uniform(draw_state: Callable[[], Any], *, size: int = 6_400) -> None:
    """Every world is the secret one equally often."""
    counts = np.bincount([draw_state().secret for _ in range(size)], minlength=64)
    check_chi_square(counts, np.full(64, size / 64))


# --- the attacker ---------------------------------------------------------------------------------------


class Attacker:
    """Bayes' rule over the 64 worlds."""

    def __init__(self) -> None:
        self.log_weights = np.zeros(64)

    @property
    def posterior(self) -> np.ndarray:
        weights = np.exp(self.log_weights - self.log_weights.max())
        return weights / weights.sum()

    def see(self, released: np.ndarray, worlds: Sequence, variances: Sequence) -> None:
        deviations = np.sqrt([float(variance) for variance in variances])
        self.log_weights -= (((released - columns(worlds)) / deviations) ** 2).sum(axis=1) / 2

    def nats_about(self, secret: int) -> float:
        """ln of how much likelier than 1/64 the secret world has become; its mean is the information."""
        return math.log(64 * self.posterior[secret])

    @property
    def nats_believed(self) -> float:
        """How far the posterior is from uniform: has the same mean, as far as his arithmetic is right."""
        return math.log(64) - float(stats.entropy(self.posterior))


def attack_first_releases(
    pac: Any,
    worlds: Sequence,
    draw_state: Callable[[], Any],
    *,
    size: int,
    module: ModuleType = privacy.pac,
) -> tuple[np.ndarray, np.ndarray]:
    """The attacker's posterior after each of `size` first releases, and the secret worlds."""
    deviations = np.sqrt([float(v) for v in pac.noise_variances(worlds, state=draw_state())])
    states = [draw_state() for _ in range(size)]
    with drawn_in_batches(module):
        released = np.array([released_units(pac, worlds, state=state)[0] for state in states])
    # Bayes' rule as in Attacker, for all releases at once
    logs = -(((released[:, None] - columns(worlds)) / deviations) ** 2).sum(axis=2) / 2
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True), np.array([state.secret for state in states])


def check_information(nats: Sequence[float], *, claimed: float, errors: float = STANDARD_ERRORS) -> float:
    """The mean gain of the attacker is not certainly above the mutual information that is claimed.

    Of a few dozen gains the standard error is itself uncertain: they need more `errors`.
    """
    mean, error = float(np.mean(nats)), float(np.std(nats) / math.sqrt(len(nats)))
    assert mean <= claimed + errors * error, f"an attacker gains {mean:.3f} nats, claimed are {claimed:.3f}"
    return mean


def check_guesses(right: np.ndarray, *, bound: float) -> float:
    """The share of right guesses is not certainly above the posterior bound."""
    hits = int(right.sum())
    certain = float(stats.beta.ppf(ALPHA, hits, len(right) - hits + 1)) if hits else 0.0
    assert certain <= bound, f"an attacker is right with probability {certain:.3f}, claimed is {bound:.3f}"
    return hits / len(right)


def attack_adaptively(
    pac: Any, state: Any, choose: Callable[[np.ndarray], Sequence], *, releases: int
) -> tuple[Attacker, Any]:
    """Each pipeline is chosen in view of all earlier releases."""
    attacker = Attacker()
    for _ in range(releases):
        worlds = choose(attacker.posterior)
        variances = pac.noise_variances(worlds, state=state)
        released, state = released_units(pac, worlds, state=state)
        attacker.see(released, worlds, variances)
    return attacker, state


def check_posterior_is_kept(pac: Any, state: Any, *, releases: int = 6) -> None:
    """What the state knows about the secret world is what the attacker knows."""
    attacker = Attacker()
    for _ in range(releases):
        worlds = most_underrated_worlds(attacker.posterior, top=pac.grids[0].cells)
        variances = pac.noise_variances(worlds, state=state)
        released, state = released_units(pac, worlds, state=state)
        attacker.see(released, worlds, variances)
        kept = np.exp(np.array(state.logs, float) / 2**128)
        assert np.allclose(kept / kept.sum(), attacker.posterior, atol=1e-6), "the state is not the posterior"


def most_underrated_worlds(posterior: np.ndarray, *, top: int) -> list[tuple[int]]:
    """The pipeline against noise that is matched to uniform worlds.

    Of all answers that set the likeliest m worlds apart, from each other in two groups of about equal weight
    or from the rest, the one whose variance under the posterior is largest beside that under the uniform law.
    """
    signs, lead = np.zeros(64), 0.0
    answers = []
    for world in np.argsort(-posterior)[:32]:
        # each next likeliest world goes to the lighter group; those of m are those of m - 1, and one more
        signs[world] = 1 if lead <= 0 else -1
        lead += signs[world] * posterior[world]
        answers += [signs.copy(), np.abs(signs)]
    tried = np.array(answers)
    best = tried[np.argmax(_variances(tried, posterior) / _variances(tried, UNIFORM))]
    return [(round(top * (1 + sign) / 2),) for sign in best]


def _variances(answers: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Of each row under these weights of its columns."""
    return ((answers - (answers @ weights)[:, None]) ** 2) @ weights


def exact_attack(worlds: Sequence, members: np.ndarray, *, nats: float) -> tuple[float, float]:
    """(chance of a right guess about the worst person, information) of one release of one output.

    By numerical integration over the 64 normal laws; `members[i, j]` says whether person i is in world j.
    """
    values = columns(worlds)[:, 0]
    deviation = values.std() / math.sqrt(2 * nats)
    points = np.linspace(values.min() - 8 * deviation, values.max() + 8 * deviation, 8_001)
    densities = stats.norm.pdf(points, values[:, None], deviation)
    mixture = densities.mean(axis=0)
    logs = np.log(np.maximum(densities, 1e-300) / mixture)
    information = np.trapezoid((densities * logs).mean(axis=0), points)
    distances = [
        np.trapezoid(np.abs(densities[person].mean(axis=0) - densities[~person].mean(axis=0)), points)
        for person in members
    ]
    return 0.5 + max(distances) / 4, float(information)
