"""What the reference library does, as facts: they are why its mechanisms are marked unsafe."""

import math

import numpy as np
import pytest

from privacy.reference import geometric_unsafe, laplace_unsafe, randomised_unsafe


def randomised(law, *, values=(1.25,) * 200, epsilon=0.01, delta=0.1, sensitivity=0.49):
    return randomised_unsafe(values, law=law, epsilon=epsilon, delta=delta, sensitivity=sensitivity)


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_laplace_with_delta_one_returns_the_raw_value():
    assert set(randomised("laplace", delta=1.0)) == {1.25}


def test_a_large_delta_shrinks_laplace_noise():
    """scale = sensitivity/(epsilon - ln(1 - delta)): at epsilon 1, delta 0.9 makes it 3.3 times smaller."""
    values = (0.0,) * 20_000
    honest = np.abs(randomised("laplace", values=values, epsilon=1.0, delta=0.0)).mean()
    shrunk = np.abs(randomised("laplace", values=values, epsilon=1.0, delta=0.9)).mean()
    assert math.isclose(honest / shrunk, 1 - math.log(0.1), rel_tol=0.1)


@pytest.mark.parametrize("delta", [0.5, 0.9, 1.0])
def test_bounded_noise_refuses_half_and_more(delta):
    with pytest.raises(ValueError, match="Delta"):
        randomised("bounded", delta=delta)


def test_a_class_ratio_as_sensitivity_promises_little():
    """Declared epsilon 0.01 with delta 0.1 at sensitivity 0.49, for values that span 26.36: really 6.2."""
    scale = 0.49 / (0.01 - math.log(1 - 0.1))
    assert round(26.36 / scale, 1) == 6.2
    noise = randomised("laplace", values=(0.0,) * 20_000)
    assert math.isclose(np.abs(noise).mean(), scale, rel_tol=0.1)


def test_gaussian_and_bounded_noise_are_added():
    for law in ("gaussian", "bounded"):
        assert len(set(randomised(law, delta=1e-3))) == 200


def test_plain_noise_has_the_stated_scale():
    """Mean |Z| is 2 for Laplace noise of scale 2, and 1/sinh(1/2) for its two-sided geometric cousin."""
    assert math.isclose(np.abs(laplace_unsafe(5_000, epsilon=0.5, sensitivity=1.0)).mean(), 2, rel_tol=0.08)
    geometric = geometric_unsafe(5_000, epsilon=0.5, sensitivity=1)
    assert math.isclose(np.abs(geometric).mean(), 1 / math.sinh(0.5), rel_tol=0.08)
