"""The gate's judge: it believes what repeats itself in fresh rounds, and nothing else."""

import random

import pytest

from worker.sandbox.gate import judge, known
from worker.sandbox.gate.judge import ASKED, LEARNED, Round

KEY = "value"


def rounds(values: list[tuple[bool, float, float]]) -> list[Round]:
    return [Round(sent, {KEY: before}, {KEY: after}) for sent, before, after in values]


def test_a_value_that_differs_is_told_with_who_sent():
    made = rounds([(True, 1, 2), (False, 1, 1), (True, 1, 1)])
    assert judge.differing(made, {KEY: 1}) == {KEY: [True]}


def test_a_value_that_comes_or_goes_differs():
    assert judge.differing([Round(True, {}, {"new": 1})], {"old": 1}).keys() == {"new", "old"}


def test_what_changes_within_a_round_is_told_apart_from_what_has_changed():
    made = rounds([(True, 1, 2), (False, 2, 2), (True, 2, 2)])
    assert judge.changing(made, KEY) == [True]
    assert judge.differing(made, {KEY: 1})[KEY] == [True, False, True]


@pytest.mark.parametrize(
    ("quiet", "sent"),
    [((5, 5), (5, 6)), ((1, 2), (1, 90)), ((7, 7), (7, 7.5)), ((9, 10), (9, 9))],
    ids=["moves", "moves further", "by a little", "stands still"],
)
def test_a_value_that_follows_is_learned(quiet, sent):
    made = rounds([(True, *sent), (False, *quiet)] * 4)
    rule = judge.learned(KEY, made)
    assert rule is not None
    assert rule.of(KEY, rounds([(True, *sent)])[0])
    assert not rule.of(KEY, rounds([(False, *quiet)])[0])


def test_a_value_that_counts_up_by_itself_is_read_by_its_steps():
    counter, made = 0, []
    for sent in (True, False, False, True, True, False):
        step = 1000 if sent else 10
        made.append((sent, counter, counter + step))
        counter += step
    assert judge.learned(KEY, rounds(made)) is not None


def test_noise_is_not_believed():
    """A rule is made for each of many values that say nothing, and none lasts."""
    drawn, believed, tried = random.Random(7), 0, 0
    for _ in range(300):
        made = rounds([(number % 2 == 0, drawn.random(), drawn.random()) for number in range(LEARNED)])
        rule = judge.learned(KEY, made)
        right = asked = 0
        while rule is not None and (said := judge.follows(right, asked)) is None:
            sent = drawn.random() < 0.5
            right += rule.of(KEY, rounds([(sent, drawn.random(), drawn.random())])[0]) == sent
            asked += 1
        if rule is not None:
            tried += 1
            believed += bool(said)
    assert tried > 0
    assert believed == 0


def test_a_weak_channel_is_believed():
    """A value that is right 97 times in 100."""
    drawn, believed = random.Random(8), 0
    for _ in range(100):
        right = asked = 0
        while (said := judge.follows(right, asked)) is None:
            right += drawn.random() < 0.97
            asked += 1
        believed += said
    assert believed > 90


def test_what_is_believed_is_no_chance():
    assert judge.by_chance(ASKED - 3, ASKED) < 1e-7
    assert judge.by_chance(0, ASKED) == 1
    assert judge.by_chance(1, 1) == 0.5


def test_bits_of_a_channel():
    assert judge.bits(24, 24) == 1
    assert judge.bits(12, 24) == 0
    assert 0.2 < judge.bits(22, 24) < 0.6
    assert judge.bits(3, 24) == 0


@pytest.mark.parametrize(
    "key", ["path /dev/null mtime", "opened pipe 0 ino", "call sysinfo().0[4]", "memory of another", "paths"]
)
def test_what_a_defence_keeps_still_is_on_no_list(key):
    assert known.known(key) is None
    assert known.known(key, slots=True) is None or key.endswith("mtime")


def test_a_row_that_may_follow_names_its_channel():
    with pytest.raises(ValueError, match="names no residual channel"):
        known.Known("x", "because", may_follow=True)


def test_every_channel_is_measured_or_says_why_not():
    from worker.sandbox.gate.senders import OF_CHANNEL

    measured = {*OF_CHANNEL, *known.NOT_MEASURED}
    shown = {row.channel for row in known.KNOWN if row.channel}
    assert measured | shown == known.NAMES
    assert not OF_CHANNEL.keys() & known.NOT_MEASURED.keys()
