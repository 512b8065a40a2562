"""What must hold of each step of a training, asked of the package or of a copy with a mistake in it."""

from contextlib import contextmanager
from fractions import Fraction
from unittest.mock import patch

import numpy as np

from privacy.keystream import Keystream

STREAM = Keystream()
ALPHA = 5.3
"""Standard deviations: one false alarm in 10^7."""


def trainer(package, network, **changed):
    fixed = {
        "network": network,
        "nominal_size": 100,
        "batch": 50,
        "steps": 40,
        "clip": Fraction(1),
        "micro_epsilon": 1_000_000,
        "atto_delta": 10**13,
        "learning_rate": 0.1,
    }
    made = package.training.Trainer(**{**fixed, **changed})
    # fewer losses than for a job: quicker, with a little more noise
    with patch.object(package.sampled_losses, "_CELLS", 2**6):
        assert made.sampled
    return made


def rows_of(package, inputs, targets, counts):
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    rows = np.asarray(inputs, np.int16), np.asarray(targets, np.int32), starts
    return package.training.PeopleRows(*rows, max(counts, default=1))


@contextmanager
def without_noise(package):
    """Yields the numbers of coordinates that noise was drawn for."""
    drawn = []

    def nothing(variance, size, *, keystream):
        drawn.append(size)
        return np.zeros(size, np.int64)

    with patch.object(package.training_trainer.gaussian_digits, "sample", nothing):
        yield drawn


def check_one_person_moves_a_sum_by_at_most_the_clip(package, *, rows=1, ordinary=20):
    """Everybody takes part, without noise; one comes who is as far out as can be."""
    network = package.training.Network(6, package.training.Head.LINEAR)
    asked = trainer(package, network, batch=100)
    random = np.random.default_rng(1)
    inputs = random.integers(-200, 200, (ordinary, 6)), np.full((rows, 6), 4096)
    targets = random.integers(-(2**10), 2**10, ordinary), np.full(rows, -(2**20))
    counts = [1] * ordinary
    without = rows_of(package, inputs[0], targets[0], counts)
    present = rows_of(package, np.concatenate(inputs), np.concatenate(targets), [*counts, rows])
    with without_noise(package):
        weights = np.zeros(network.size)
        sums = [asked.noised_sum(weights, people, keystream=STREAM) for people in (present, without)]
    moved = sum(int(entry) ** 2 for entry in sums[0] - sums[1]) ** 0.5
    assert moved <= asked.sampled.norm, f"one person moves a sum by {moved / asked.sampled.norm:.2f} clips"


def check_everybody_takes_part_by_lot(package, *, people=100, steps=400):
    """The errors of a constant: a step's sum counts who takes part."""
    network = package.training.Network(1, package.training.Head.LINEAR)
    asked = trainer(package, network, clip=Fraction(2))
    # an error of 1 for the first half of the people, and of 2^-10 for the second
    targets = [-(2**20)] * (people // 2) + [-(2**10)] * (people // 2)
    rows = rows_of(package, [[0]] * people, targets, [1] * people)
    with without_noise(package):
        sums = [int(asked.noised_sum(np.zeros(2), rows, keystream=STREAM)[1]) for _ in range(steps)]
    halves = np.array([(total >> 32, (total & (2**32 - 1)) >> 22) for total in sums])
    spread = np.sqrt(people / 8)
    assert (abs(halves.mean(axis=0) - people / 4) < ALPHA * spread / steps**0.5).all(), (
        "not half of the people"
    )
    variances = halves.var(axis=0), (halves[:, 0] + halves[:, 1]).var()
    for found, true in zip((*variances[0], variances[1]), (people / 8, people / 8, people / 4), strict=True):
        assert abs(found / true - 1) < ALPHA * (2 / steps) ** 0.5, "not by lot, each for themselves"


def check_noise_is_wide_and_fresh(package):
    """Of nobody's data, two steps: the noise of each coordinate, and that it does not come back."""
    network = package.training.Network(1500, package.training.Head.LINEAR)
    asked = trainer(package, network)
    nobody = rows_of(package, np.zeros((0, 1500)), [], [])
    one, other = (asked.noised_sum(np.zeros(1501), nobody, keystream=STREAM) for _ in range(2))
    for noise in (one, other):
        share = float((noise.astype(float) ** 2).mean() / asked.sampled.variance)
        assert abs(share - 1) < ALPHA * (2 / 1501) ** 0.5, f"noise has {share:.2f} of its variance"
    shared = float((one.astype(float) * other).mean() / asked.sampled.variance)
    assert abs(shared) < ALPHA / 1501**0.5, "steps share their noise"


def check_steps_are_those_that_are_paid_for(package):
    network = package.training.Network(2, package.training.Head.LOGISTIC)
    asked = trainer(package, network, steps=7)
    for people in (0, 3, 900):
        rows = rows_of(package, np.zeros((people, 2)), np.ones(people), [1] * people)
        with without_noise(package) as drawn:
            asked.train(rows, keystream=STREAM)
        assert drawn == [3] * 7, f"{len(drawn)} steps of 7"


def check_others_add_the_same(package):
    """To the last bit: what somebody adds beside others, and what alone."""
    random = np.random.default_rng(2)
    network = package.training.Network(105, package.training.Head.SOFTMAX, 10, (64,))
    asked = trainer(package, network, batch=100)
    inputs, targets = random.integers(-4096, 4097, (40, 105)), random.integers(0, 10, 40)
    weights = package.training_fixed_point.nearest_weights(random.normal(0, 0.3, network.size))
    with without_noise(package):
        sums = [
            asked.noised_sum(
                weights, rows_of(package, inputs[who], targets[who], [1] * len(who)), keystream=STREAM
            )
            for who in ([*range(40)], [*range(39)], [39])
        ]
    assert (sums[0] == sums[1] + sums[2]).all(), "others add something else when one more takes part"
