"""Noise: values per second of our samplers against diffprivlib and numpy, single draws, and one release.

    python benchmarks/noise.py

All samplers draw the same scale in one process, in turn, several times; the ratio is what travels.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from privacy import fast_laplace, gaussian_digits
from privacy.bounded_noise import BoundedNoise
from privacy.discrete_laplace import sample
from privacy.grid import OutputGrid
from privacy.reference import geometric_unsafe, laplace_unsafe
from privacy.sample_aggregate import SampleAggregate

SCALE = Fraction(27_034)
ROUNDS = 5


def main() -> None:
    samplers()
    print()
    single_draws()
    print()
    releases()


def samplers() -> None:
    """Rounds of each in turn, so that a slow moment of the machine hits all."""
    rng = np.random.default_rng()
    cases: dict[str, tuple[int, Callable[[int], object]]] = {
        "dpgate, exact": (2_000_000, lambda count: sample(SCALE, count)),
        "dpgate, fast variant": (2_000_000, lambda count: fast_laplace.sample(SCALE, count)),
        "dpgate, bounded": (2_000_000, BoundedNoise(int(SCALE), 1_000_000, 10**9).sample),
        "dpgate, discrete Gaussian": (
            2_000_000,
            lambda count: gaussian_digits.sample(int(SCALE) ** 2, count),
        ),
        "diffprivlib Geometric": (
            20_000,
            lambda count: geometric_unsafe(count, epsilon=1.0, sensitivity=int(SCALE)),
        ),
        "diffprivlib Laplace": (
            20_000,
            lambda count: laplace_unsafe(count, epsilon=1.0, sensitivity=float(SCALE)),
        ),
        "numpy laplace (not for privacy)": (2_000_000, lambda count: rng.laplace(0, float(SCALE), count)),
    }
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(ROUNDS):
        for name, (count, draw) in cases.items():
            started = time.perf_counter()
            draw(count)
            seconds[name].append((time.perf_counter() - started) / count)
    own = statistics.median(seconds["dpgate, exact"])
    print(f"{'sampler':<34}{'million values/s':>18}{'ratio to dpgate':>18}")
    for name, each in seconds.items():
        median = statistics.median(each)
        print(f"{name:<34}{1e-6 / median:>18.3f}{own / median:>18.4f}")


def single_draws() -> None:
    """The first draw of a scale makes its tables; every later one finds them."""
    print(f"{'one draw':<20}{'first, us':>11}{'later, us':>11}")
    for name, scale in (
        ("scale 27,034", SCALE),
        ("scale 2^31", Fraction(2**31)),
        ("scale 1/2", Fraction(1, 2)),
    ):
        started = time.perf_counter()
        sample(scale + Fraction(1, 1_000_003), 1)  # a scale that nobody has drawn from
        first = time.perf_counter() - started
        times = []
        for _ in range(2_000):
            started = time.perf_counter()
            sample(scale, 1)
            times.append(time.perf_counter() - started)
        print(f"{name:<20}{first * 1e6:>11.0f}{statistics.median(times) * 1e6:>11.0f}")


def releases() -> None:
    """`SampleAggregate.release` alone: aggregate and noise, without storage."""
    print(f"{'blocks':>8}{'outputs':>9}{'median ms':>11}{'p99 ms':>9}")
    for blocks, outputs in ((20, 1), (20, 3), (1_000, 20), (100_000, 20)):
        grids = (OutputGrid.build(0, 100),) * outputs
        mechanism = SampleAggregate(grids=grids, blocks=blocks, micro_epsilon=1_000_000)
        given = [tuple(random.randrange(grids[0].cells) for _ in grids) for _ in range(blocks)]
        times = []
        for _ in range(200 if blocks <= 1_000 else 5):
            started = time.perf_counter()
            mechanism.release(given)
            times.append((time.perf_counter() - started) * 1e3)
        times.sort()
        print(
            f"{blocks:>8}{outputs:>9}{statistics.median(times):>11.2f}{times[int(len(times) * 0.99)]:>9.2f}"
        )


if __name__ == "__main__":
    main()
