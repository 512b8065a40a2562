"""T5 of the privacy design: noise is never used twice, shared, seeded or carried across processes."""

import os
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from checks import (
    check_fork,
    check_fresh_noise,
    check_independent_outputs,
    check_unseedable,
)
from release_paths import drawn_in_batches, release_noise

import privacy
from privacy import discrete_gaussian, discrete_laplace
from privacy.discrete_laplace import sample
from privacy.grid import OutputGrid
from privacy.sample_aggregate import SampleAggregate

# The smallest epsilon makes the widest noise: t/l = 2^20 * 2 * 1000/2 = 10^9 grid steps, so that an honest
# coincidence among 1,000 pairs has probability 1000 / (4 * 10^9).
WIDE = SampleAggregate((OutputGrid.build(0, 1),) * 2, blocks=2, micro_epsilon=1_000)

GAUSSIAN = replace(WIDE, noise="gaussian", atto_delta=10**9)
MEDIAN = replace(WIDE, aggregator="median")

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def draw_bytes() -> bytes:
    return sample(Fraction(10**9), 8).tobytes()


def release_once() -> list[Fraction]:
    return [output.value for output in WIDE.release([None, None])]


def release_gaussian() -> list[Fraction]:
    return [output.value for output in GAUSSIAN.release([None, None])]


def release_median() -> list[Fraction]:
    # two million points are about equally likely for each of two outputs
    return [output.value for output in MEDIAN.release([None, None])]


def test_two_jobs_on_the_same_data_differ_by_two_independent_draws():
    check_fresh_noise(lambda n: release_noise(WIDE, n)[:, 0], pairs=1_000)


def test_draws_within_one_sample_are_independent():
    drawn = sample(Fraction(10**9), 10_000) / 1e9
    parts = iter([drawn[::2], drawn[1::2]])
    check_fresh_noise(lambda n: next(parts))


@pytest.mark.parametrize("aggregate", [WIDE, GAUSSIAN], ids=["laplace", "gaussian"])
def test_outputs_of_one_release_do_not_share_noise(aggregate):
    with drawn_in_batches(discrete_laplace, discrete_gaussian):
        check_independent_outputs(lambda n: release_noise(aggregate, n))


def test_medians_of_one_release_and_of_two_do_not_share_noise():
    drawn = np.array([[float(value) for value in release_median()] for _ in range(2_000)])
    assert np.count_nonzero(drawn[:, 0] == drawn[:, 1]) <= 3  # 0.002 expected
    assert np.count_nonzero(drawn[1:] == drawn[:-1]) <= 3
    assert abs(np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1]) < 5 / len(drawn) ** 0.5


def test_diagnostics_and_quartiles_carry_noise_of_their_own():
    full = replace(WIDE, count_failures=True, interval="sampling")
    drawn = []
    with drawn_in_batches(discrete_laplace):
        for _ in range(2_000):
            one, other, failed = full.release([None, None])
            widths = [float(end) for output in (one, other) for end in output.sampling_95]
            drawn.append(
                [float(failed.value), float(one.value), widths[1] - widths[0], widths[3] - widths[2]]
            )
    correlations = np.abs(np.corrcoef(np.array(drawn), rowvar=False) - np.eye(4))
    assert correlations.max() < 5.5 / len(drawn) ** 0.5


@pytest.mark.parametrize("draw", [draw_bytes, release_once, release_gaussian, release_median])
def test_seeds_have_no_effect(draw):
    check_unseedable(draw)


def test_forked_processes_draw_different_noise():
    check_fork(draw_bytes)
    for release in (release_once, release_gaussian, release_median):
        check_fork(lambda release=release: repr(release()).encode())


def test_two_processes_with_the_same_seeds_draw_different_noise():
    program = (
        "import random, numpy; random.seed(0); numpy.random.seed(0)\n"
        "from fractions import Fraction; from privacy.discrete_laplace import sample\n"
        "print(hash('same'), random.random(), numpy.random.random(), *sample(Fraction(10**9), 8))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": str(Path(privacy.__file__).parents[1])}
    one, other = (
        subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, check=True, text=True
        ).stdout.split()
        for _ in range(2)
    )
    assert one[:3] == other[:3], "the seeds took hold"
    assert not set(one[3:]) & set(other[3:])
