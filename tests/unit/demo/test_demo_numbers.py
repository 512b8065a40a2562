"""What the demo says of its numbers follows from them, and from the law of the noise."""

from __future__ import annotations

import json
from math import e
from pathlib import Path

import pytest
from demo_found import found, spied

from dpgate.demo.found import Found
from dpgate.demo.truth import true_hours

ADULT = Path(__file__).parents[3] / "examples" / "adult" / "data"


@pytest.mark.parametrize("value", [-2.0, 0.0, 0.05, 0.1, 0.2, 0.7, 3.0])
@pytest.mark.parametrize("epsilon", ["0.1", "1"])
def test_a_spy_is_never_surer_than_epsilon_allows(value: float, epsilon: str):
    seen = spied(value, epsilon=epsilon)
    assert 1 - seen.most_belief - 1e-12 <= seen.belief <= seen.most_belief + 1e-12


def test_a_spy_is_undecided_halfway_and_surest_beyond_both_answers():
    assert spied(0.1).belief == pytest.approx(0.5)
    assert spied(0.9).belief == pytest.approx(e / (1 + e))
    assert spied(-0.9).belief == pytest.approx(1 / (1 + e))


def test_without_noise_the_spy_would_know():
    """The control: what the spy's program gives over the blocks of the data tells both cases apart."""
    assert spied().if_there == 0.2
    assert spied(epsilon="40", value=0.2).belief > 1 - 1e-15


def test_answers_outside_their_interval_are_counted():
    seen = found()
    assert len(seen.answers) == 11
    assert seen.covered == 7
    assert seen.guarantee == "pure_dp"


def test_the_truth_is_that_of_the_table():
    """Sums and counts by another way: awk over the same file gave these."""
    expected = {
        "women_to_50k": 35.8991,
        "women_over_50k": 40.097,
        "men_to_50k": 40.7306,
        "men_over_50k": 46.253,
    }
    assert true_hours(ADULT) == pytest.approx(expected, abs=5e-5)


def test_a_document_is_read_as_it_was_written():
    assert Found.read(json.loads(json.dumps(found().document()))) == found()
