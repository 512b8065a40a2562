"""What a release path is asked for, and what its public parameters claim, computed a second time."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import optimize

MICRO = 10**6


class Batches:
    """The sampler `sample`, called for many draws at once and handing them out few by few, each once.

    Most of the time of one release goes into the call for its one draw.
    """

    def __init__(self, sample: Callable[..., np.ndarray]) -> None:
        self._sample = sample
        self._left: dict[Any, np.ndarray] = {}
        self._next = 2**6

    def __call__(self, parameter: Any, size: int, *, keystream: object = None) -> np.ndarray:
        left = self._left.get(parameter)
        if left is None or len(left) < size:
            left = self._sample(parameter, self._next + size)
            self._next = min(2 * self._next, 2**12)
        self._left[parameter] = left[size:]
        return left[:size]


@contextmanager
def drawn_in_batches(*modules: ModuleType) -> Iterator[None]:
    """The `sample` of these modules draws in batches: the release path is the real one all the same."""
    patches = [patch.object(module, "sample", Batches(module.sample)) for module in modules]
    for one in patches:
        one.start()
    try:
        yield
    finally:
        for one in patches:
            one.stop()


@contextmanager
def joint_in_batches(aggregate: Any) -> Iterator[None]:
    """The same for the joint noise of a release, whose one draw has a row for each release."""
    joint = getattr(aggregate, "joint", None)
    if joint is None:
        yield
        return
    rows = Batches(type(joint).draw)
    with patch.object(type(joint), "draw", lambda of, size, keystream=None: rows(of, size)):
        yield


def release_values(aggregate: Any, runs: Sequence, n: int) -> np.ndarray:
    """n releases of the same run outputs as an (n, numbers) array of floats.

    Everything that a release says is a column: values, diagnostics, and the ends of sampling intervals.
    """
    with joint_in_batches(aggregate):
        return np.array([_numbers(aggregate.release(runs)) for _ in range(n)])


def _numbers(release: Sequence) -> list[float]:
    numbers = [output.value for output in release]
    numbers += [end for output in release for end in output.sampling_95 or ()]
    return [float(number) for number in numbers]


def release_noise(aggregate: Any, n: int) -> np.ndarray:
    """Noise of n releases of means, one column per output, in units of the scale that the epsilon CLAIMS.

    The claimed scale is computed from the public parameters alone, so a standard Laplace or normal law is to
    be expected (one unit of the sum is less than 10^-3 of the scale).
    """
    outputs = len(aggregate.grids)
    bottom = [(0,) * outputs] * (aggregate.blocks * aggregate.repeats)
    lower = np.array([float(grid.lower) for grid in aggregate.grids])
    with joint_in_batches(aggregate):
        values = np.array([[float(o.value) for o in aggregate.release(bottom)[:outputs]] for _ in range(n)])
    return (values - lower) / claimed_scales(aggregate)


def claimed_scales(aggregate: Any) -> np.ndarray:
    """Noise scale of every mean in its own units: R/(l epsilon_k), Gaussian R/(l sqrt(2 rho_k)); joint, what
    the largest of all is measured in, R/(l epsilon)."""
    ranges = np.array([float(grid.upper - grid.lower) for grid in aggregate.grids]) / aggregate.blocks
    weights = np.array(aggregate.weights or (1,) * len(ranges)) / sum(aggregate.weights or (1,) * len(ranges))
    epsilon = aggregate.micro_epsilon / MICRO
    epsilon *= 0.95 if aggregate.count_failures else 1
    epsilon *= 0.7 if aggregate.interval == "sampling" else 1
    if aggregate.noise == "joint":
        return ranges / epsilon
    if aggregate.noise == "laplace":
        return ranges / (epsilon * weights)
    return ranges / np.sqrt(2 * _claimed_rho(epsilon, aggregate.atto_delta / 1e18) * weights)


def _claimed_rho(epsilon: float, delta: float) -> float:
    """Largest rho that implies (epsilon, delta), by another road than the package's: delta is minimised over
    the order for each rho, and rho is found by bisection."""

    def log_delta(rho: float) -> float:
        def at(log_excess: float) -> float:
            x = math.exp(log_excess)
            return x * ((1 + x) * rho - epsilon) - log_excess + (1 + x) * (log_excess - math.log1p(x))

        return float(optimize.minimize_scalar(at, bounds=(-8, 20), method="bounded").fun)

    return float(optimize.brentq(lambda rho: log_delta(rho) - math.log(delta), 1e-9, 900))
