"""Training by noised gradients: that these are right, exact and clipped, and what is refused."""

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest

from privacy import sampled_losses
from privacy.cost import Currency
from privacy.keystream import Keystream
from privacy.sampled_losses import tight_micro_epsilon
from privacy.training import Head, Network, PeopleRows, Trainer
from privacy.training import rows as rows_module
from privacy.training.clipping import clipped_sum
from privacy.training.fixed_point import exp_of_negative, logistic_units, softmax_units, tanh_units
from privacy.training.network import Layer

STREAM = Keystream()
UNBOUND = 2**44
HEADS = [(Head.LINEAR, 1), (Head.LOGISTIC, 1), (Head.SOFTMAX, 3)]


@pytest.fixture(autouse=True)
def few_losses(monkeypatch):
    """Fewer than for a job: quicker, with a little more noise."""
    monkeypatch.setattr(sampled_losses, "_CELLS", 2**8)


def draws(seed):
    return np.random.default_rng(seed)


def people_of(random, counts, network, most_rows=None):
    rows = sum(counts)
    inputs = random.integers(-4096, 4097, (rows, network.inputs)).astype(np.int16)
    if network.head is Head.LINEAR:
        targets = random.integers(-(2**20), 2**20, rows).astype(np.int32)
    else:
        targets = random.integers(0, max(2, network.outputs), rows).astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return PeopleRows(inputs, targets, starts, most_rows or max(counts, default=1))


def weights_of(random, network):
    return np.rint(random.normal(0, 0.7, network.size) * 2**20)


def summed(network, weights, people, who, *, norm=UNBOUND):
    parts = people.parts(np.asarray(who, np.intp))
    found = [clipped_sum(network.layers(weights, p.inputs, p.targets, p.there), norm=norm) for p in parts]
    return sum(found, np.zeros(network.size, np.int64))


def loss(network, weights, people):
    """In floats, from the textbook."""
    values, start = people.inputs / 4096, 0
    for position, (before, after) in enumerate(network.shapes):
        matrix = weights[start : start + before * after].reshape(before, after)
        start += before * after
        values = (np.tanh(values) if position else values) @ matrix[:-1] + matrix[-1]
    if network.head is Head.LINEAR:
        away = np.abs(values[:, 0] - people.targets / 2**20)
        return np.where(away < 4, away**2 / 2, 4 * away - 8).sum()
    if network.head is Head.LOGISTIC:
        return np.logaddexp(0, values[:, 0] * (1 - 2 * people.targets)).sum()
    chosen = values[np.arange(len(values)), people.targets]
    return (np.log(np.exp(values).sum(axis=1)) - chosen).sum()


@pytest.mark.parametrize(("head", "outputs"), HEADS)
@pytest.mark.parametrize("hidden", [(), (4,), (5, 3)])
def test_gradients_are_those_of_the_loss(head, outputs, hidden):
    random = draws(3)
    network = Network(3, head, outputs, hidden)
    people = people_of(random, [1, 3, 2], network)
    units = weights_of(random, network)
    weights, step = units / 2**20, 1e-5
    slopes = [
        (loss(network, weights + move, people) - loss(network, weights - move, people)) / (2 * step)
        for move in step * np.eye(network.size)
    ]
    assert summed(network, units, people, range(3)) / 2**32 == pytest.approx(np.array(slopes), abs=3e-3)


def test_errors_far_away_are_bounded():
    network = Network(1, Head.LINEAR)
    people = PeopleRows(np.array([[4096]], np.int16), np.array([-(2**20)], np.int32), np.array([0, 1]))
    assert list(summed(network, np.array([16.0, 16.0]) * 2**20, people, [0])) == [4 * 2**32] * 2


def test_the_curves_are_those_of_the_library():
    x = np.linspace(-70, 70, 4001)
    assert exp_of_negative(-np.abs(x[np.abs(x) < 60])) == pytest.approx(
        np.exp(-np.abs(x[np.abs(x) < 60])), rel=1e-13
    )
    assert tanh_units(x) / 4096 == pytest.approx(np.tanh(x), abs=2**-12)
    assert logistic_units(x) / 2**20 == pytest.approx(1 / (1 + np.exp(-x)), abs=2**-20)
    three = np.stack([x, -x, x / 2], axis=-1)
    powers = np.exp(three - three.max(axis=-1, keepdims=True))
    assert softmax_units(three) / 2**20 == pytest.approx(
        powers / powers.sum(axis=-1, keepdims=True), abs=2**-19
    )


@pytest.mark.parametrize(("head", "outputs"), HEADS)
def test_each_person_adds_the_same_whoever_else_takes_part(head, outputs):
    """To the last bit: one and all, in any order, filled up to any number of rows."""
    random = draws(5)
    network = Network(105, head, outputs, (64, 33))
    counts = [1, 4, 1, 2, 7, 1, 1, 3]
    people = people_of(random, counts, network)
    weights = weights_of(random, network)
    alone = [summed(network, weights, people, [who], norm=2**31) for who in range(len(counts))]
    for who in (range(8), [6, 1, 4], [7, 0]):
        assert (summed(network, weights, people, who, norm=2**31) == sum(alone[i] for i in who)).all()
    wide = PeopleRows(people.inputs, people.targets, people.starts, 60)
    assert (summed(network, weights, wide, range(8), norm=2**31) == sum(alone)).all()


def test_plain_floats_tell_who_else_takes_part():
    """The attack that whole numbers stop: somebody's row is rounded by how many other rows there are."""
    random = draws(7)
    told = 0
    for outputs in (1, 10, 64):
        rows, weights = random.random((40, 105)), random.normal(size=(105, outputs))
        for fewer in (1, 2, 3, 39):
            told += int((rows[:fewer] @ weights != (rows @ weights)[:fewer]).sum())
            units, whole = np.rint(rows * 2**12), np.rint(weights * 2**20)
            assert (units[:fewer] @ whole == (units @ whole)[:fewer]).all()
    assert told


@pytest.mark.parametrize("norm", [2**26, 2**30, 2**33])
def test_a_clipped_person_lies_in_the_ball(norm):
    random = draws(11)
    network = Network(40, Head.SOFTMAX, 10, (8,))
    counts = [1, 1, 2, 5, 30]
    people = people_of(random, counts, network)
    weights = weights_of(random, network)
    clipped = 0
    for who in range(len(counts)):
        full = summed(network, weights, people, [who])
        drawn_back = summed(network, weights, people, [who], norm=norm)
        length = isqrt(sum(int(entry) ** 2 for entry in drawn_back))
        assert sum(int(entry) ** 2 for entry in drawn_back) <= norm**2
        if sum(int(entry) ** 2 for entry in full) > norm**2:
            clipped += 1
            # within what rounding to whole units takes away
            rounding = counts[who] * 2**12 * 60
            assert length >= norm - 2 * rounding
        else:
            assert (drawn_back == full).all()
    assert clipped


def test_rows_that_cancel_cost_nothing_of_the_ball():
    """A person's rows are added up first, and clipped once."""
    network = Network(2, Head.LINEAR)
    inputs = np.array([[4096, 0], [-4096, 0], [0, 4096]], np.int16)
    targets = np.array([2**20, 2**20, 2**10], np.int32)
    people = PeopleRows(inputs, targets, np.array([0, 3]), 3)
    found = summed(network, np.zeros(3), people, [0], norm=3 * 2**32) / 2**32
    assert found == pytest.approx([0, -(2**-10), -2 - 2**-10])


def test_a_ball_smaller_than_a_rounding_holds_nobody():
    layer = Layer(np.full((1, 1, 3), 4096.0), np.full((1, 1, 2), 1000.0))
    assert not clipped_sum([layer], norm=1000).any()


def test_sums_that_might_not_be_exact_are_not_made():
    layer = Layer(np.zeros((2**16 + 1, 1, 2)), np.zeros((2**16 + 1, 1, 1)))
    with pytest.raises(ValueError, match="too many rows"):
        clipped_sum([layer], norm=1)


def trainer(network=None, **changed):
    fixed = {
        "network": network or Network(2, Head.LOGISTIC),
        "nominal_size": 400,
        "batch": 200,
        "steps": 12,
        "clip": Fraction(1),
        "micro_epsilon": 8_000_000,
        "atto_delta": 10**13,
        "learning_rate": 4.0,
    }
    return Trainer(**{**fixed, **changed})


def two_classes(random, size):
    inputs = random.integers(-4096, 4097, (size, 2)).astype(np.int16)
    return PeopleRows(inputs, (inputs[:, 0] > inputs[:, 1]).astype(np.int32), np.arange(size + 1))


@pytest.mark.parametrize("hidden", [(), (8,)])
def test_a_model_learns_in_spite_of_the_noise(hidden):
    people = two_classes(draws(13), 400)
    for changed in ({"average": True}, {"average": False, "momentum": 0.5, "learning_rate": 2.0}):
        learner = trainer(Network(2, Head.LOGISTIC, 1, hidden), **changed)
        weights = learner.train(people, keystream=STREAM)
        sums = learner.network.sums(np.rint(weights * 2**20), people.inputs[:, None].astype(float))
        assert ((sums.ravel() > 0) == people.targets).mean() > 0.85


def test_what_is_charged_is_what_was_asked():
    asked = trainer()
    assert dict(asked.cost) == {Currency.EPSILON: 8_000_000, Currency.DELTA: 10**13}
    assert 7_990_000 <= tight_micro_epsilon(asked.sampled, 10**13) <= 8_000_000
    assert (asked.sampled.rate, asked.sampled.norm, asked.sampled.steps) == (2**31, 2**32, 12)
    # moments prove less of the same noise
    assert 8 < float(asked.epsilon_by_moments) < 16


def test_nobody_at_all_is_trained_on_as_well():
    empty = people_of(draws(17), [], Network(2, Head.LOGISTIC))
    without_rows = people_of(draws(17), [0, 0], Network(2, Head.LOGISTIC), most_rows=2)
    for people in (empty, without_rows):
        assert np.isfinite(trainer(steps=2).train(people)).all()


def test_memory_does_not_grow_with_people():
    people = people_of(draws(19), [3] * 1500, Network(2, Head.LOGISTIC))
    parts = list(people.parts(np.arange(1500)))
    assert len(parts) > 1
    assert all(part.there.size <= rows_module.ROWS_AT_ONCE for part in parts)


NO_TRAININGS = [
    ({"batch": 401}, "expected batch"),
    ({"batch": 0}, "expected batch"),
    ({"clip": Fraction(1, 101)}, "clip"),
    ({"clip": Fraction(101)}, "clip"),
    ({"learning_rate": 0.0}, "learning rate"),
    ({"learning_rate": float("nan")}, "learning rate"),
    ({"momentum": 1.0}, "momentum"),
    ({"steps": 0}, "number of steps"),
    ({"micro_epsilon": 0}, "above zero"),
    ({"micro_epsilon": 1000}, "change epsilon"),
    ({"atto_delta": 10**17}, "delta"),
]


def test_a_training_that_cannot_be_is_refused(subtests):
    for wrong, said in NO_TRAININGS:
        with subtests.test(wrong=wrong), pytest.raises(ValueError, match=said):
            trainer(**wrong)


NO_MODELS = [
    ((0, Head.LINEAR), "inputs"),
    ((10**6, Head.LINEAR), "fewer features"),
    ((3, Head.LINEAR, 1, (8, 8, 8)), "hidden layers"),
    ((3, Head.LINEAR, 1, (65,)), "hidden layers"),
    ((3, Head.SOFTMAX, 1), "2 to 64 classes"),
    ((3, Head.SOFTMAX, 65), "2 to 64 classes"),
    ((3, Head.LOGISTIC, 2), "one output"),
]


def test_a_model_that_cannot_be_is_refused(subtests):
    for shape, said in NO_MODELS:
        with subtests.test(shape=shape), pytest.raises(ValueError, match=said):
            Network(*shape)


NO_ROWS = [
    ({"most_rows": 0}, "rows at most"),
    ({"most_rows": 1025}, "rows at most"),
    ({"inputs": np.zeros((3, 2))}, "whole numbers"),
    ({"targets": np.zeros(3)}, "whole numbers"),
    ({"starts": np.array([1, 3])}, "whole numbers"),
    ({"targets": np.zeros(2, np.int32)}, "go together"),
    ({"starts": np.array([0, 1, 2])}, "go together"),
    ({"starts": np.array([0, 3, 3]), "most_rows": 2}, "more rows"),
    ({"starts": np.array([0, 3, 2, 3]), "most_rows": 3}, "more rows"),
    ({"inputs": np.full((3, 2), 4097, np.int16)}, "outside"),
    ({"inputs": np.full((3, 2), -4097, np.int16)}, "outside"),
]


def test_rows_that_cannot_be_are_refused(subtests):
    for wrong, said in NO_ROWS:
        with subtests.test(wrong=wrong):
            right = {
                "inputs": np.zeros((3, 2), np.int16),
                "targets": np.zeros(3, np.int32),
                "starts": np.arange(4),
            }
            with pytest.raises(ValueError, match=said):
                PeopleRows(**{**right, **wrong})
