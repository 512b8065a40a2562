"""The noise of simulated releases follows its laws."""

from __future__ import annotations

import pytest
from scipy import stats

from privacy.keystream import Keystream
from privacy.preview import unit_laplace, unit_normal


@pytest.mark.parametrize(("draw", "law"), [(unit_normal, stats.norm), (unit_laplace, stats.laplace)])
def test_unit_noise_follows_its_law(draw, law):
    """Kolmogorov and Smirnov's test; a right law fails it once in a million runs."""
    drawn = draw(20_000, keystream=Keystream())
    assert drawn.shape == (20_000,)
    assert stats.kstest(drawn, law.cdf).pvalue > 1e-6


@pytest.mark.parametrize(("draw", "law"), [(unit_laplace, stats.norm), (unit_normal, stats.laplace)])
def test_another_law_is_told_apart(draw, law):
    assert stats.kstest(draw(20_000, keystream=Keystream()), law.cdf).pvalue < 1e-6
