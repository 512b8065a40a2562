"""The power transform of Yeo and Johnson ("A new family of power transformations", Biometrika 87, 2000)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_GOLDEN = (5**0.5 - 1) / 2
LOWEST, HIGHEST = -3.0, 5.0
_STEPS = 40
_FEW, _NEAR_ZERO = 8, 1e-9

Values = NDArray[np.float64]


def transform(values: Values, power: float) -> Values:
    """psi(power, x) of the paper, section 3."""
    found = np.empty_like(values)
    up = values >= 0
    found[up] = _above(values[up], power)
    found[~up] = -_above(-values[~up], 2 - power)
    return found


def _above(values: Values, power: float) -> Values:
    if abs(power) < _NEAR_ZERO:
        return np.log1p(values)
    return np.asarray(np.expm1(power * np.log1p(values)) / power)


def best_power(values: Values) -> float | None:
    """The maximum of the likelihood (equation 3.1) by golden section; None where it has none.

    Values are divided by their spread before: a power of numbers of a million would not fit into a float.
    """
    spread = float(values.std()) if len(values) >= _FEW else 0.0
    if not spread or not np.isfinite(spread):
        return None
    scaled = values / spread
    logs = float((np.sign(scaled) * np.log1p(np.abs(scaled))).sum())
    low, high = LOWEST, HIGHEST
    for _ in range(_STEPS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if _likelihood(scaled, logs, left) >= _likelihood(scaled, logs, right):
            high = right
        else:
            low = left
    return (low + high) / 2


def scaled_skew(values: Values, power: float | None = None) -> float:
    """The third standardised moment, behind the transform if there is one; 0 for a constant."""
    spread = float(values.std()) if len(values) else 0.0
    if not spread or not np.isfinite(spread):
        return 0.0
    moved = values / spread if power is None else transform(values / spread, power)
    after = float(moved.std())
    if not after or not np.isfinite(after):
        return 0.0
    return float((((moved - moved.mean()) / after) ** 3).mean())


def _likelihood(scaled: Values, logs: float, power: float) -> float:
    with np.errstate(all="ignore"):
        variance = float(transform(scaled, power).var())
    if not np.isfinite(variance) or variance <= 0:
        return -np.inf
    return -len(scaled) / 2 * float(np.log(variance)) + (power - 1) * logs
