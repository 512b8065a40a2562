"""The figure for all numbers of a job together: below the charge, above what they can lose, or left out."""

import subprocess
import sys

import pytest

from privacy.grid import OutputGrid
from privacy.preview import together
from privacy.preview.together import DELTA, LARGEST_MICRO_EPSILON, Together
from privacy.sample_aggregate import SampleAggregate
from privacy.tight_epsilon import tight_epsilon

GRID = OutputGrid.build(0, 1)


def asked(outputs=20, *, micro_epsilon=1_000_000, **others):
    return SampleAggregate((GRID,) * outputs, blocks=20, micro_epsilon=micro_epsilon, **others)


def test_twenty_values():
    found = together(asked())
    assert found == Together(20, tight_epsilon(asked().shares.values, delta=DELTA), DELTA, 1_000_000)
    assert 0.8 < found.epsilon < 0.9
    assert found.sentence == (
        "Inside this job the noise of all 20 numbers together is that of epsilon 0.875 with delta 1e-06, by "
        "their privacy loss distributions: for information. Charged is the sum, epsilon 1."
    )


def test_the_sentence_rounds_up():
    assert "that of epsilon 0.124 with" in Together(20, 0.12301, DELTA, 500_000).sentence


def test_quartiles_and_the_count_of_failures_are_numbers_too():
    found = together(asked(interval="sampling", count_failures=True))
    assert found.parts == 20 + 2 * 20 + 1
    assert found.epsilon < together(asked()).epsilon


def test_medians_are_as_pure_as_means():
    assert together(asked(aggregator="median")) == together(asked())


@pytest.mark.parametrize(
    "silent",
    [
        asked(1),
        asked(2),
        asked(noise="gaussian", atto_delta=10**12),
        asked(noise="joint"),
        asked(micro_epsilon=LARGEST_MICRO_EPSILON + 20),
    ],
    ids=["one", "as much as the sum", "gaussian", "joint", "weak"],
)
def test_where_it_says_no_more_than_the_charge(silent):
    assert together(silent) is None


def test_the_largest_epsilon_is_tried(monkeypatch):
    monkeypatch.setattr("privacy.tight_epsilon.tight_epsilon", lambda parts, *, delta: float(sum(parts)) / 2)
    assert together(asked(micro_epsilon=LARGEST_MICRO_EPSILON)).epsilon == 10
    assert together(asked(micro_epsilon=LARGEST_MICRO_EPSILON + 20)) is None


@pytest.mark.parametrize(("epsilon", "shown"), [(0.95, True), (0.9501, False)])
def test_a_figure_near_the_charge_is_left_out(monkeypatch, epsilon, shown):
    monkeypatch.setattr("privacy.tight_epsilon.tight_epsilon", lambda parts, *, delta: epsilon)
    assert (together(asked(2)) is not None) == shown


@pytest.mark.needs(process=True)
def test_what_loads_slowly_is_loaded_when_it_is_asked_for():
    program = "import sys, privacy.preview; print('dp_accounting' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "False"
