"""Checks of joint noise against its law, written out a second time and counted point by point."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from checks import check_chi_square
from length import at_length

ALPHAS = (Fraction(1, 20), Fraction(1, 100))


def shell_numbers(points: np.ndarray, *, sensitivities: tuple[int, ...], shells: int) -> np.ndarray:
    """The least whole t with |z_k| <= t w_k for all k, by trying all; points one per row."""
    sides = np.array([math.ceil(Fraction(n, shells)) for n in sensitivities])
    found = np.full(len(points), -1)
    t = 0
    while (found < 0).any():
        inside = (np.abs(points) <= t * sides).all(axis=1)
        found[inside & (found < 0)] = t
        t += 1
    return found


def enumerate_law(noise: Any, *, radii: int) -> tuple[np.ndarray, np.ndarray]:
    """All points of the first shells and their probabilities; what lies beyond is below e^-30."""
    sides = [math.ceil(Fraction(n, noise.shells)) * radii for n in noise.sensitivities]
    points = np.array(list(product(*(range(-side, side + 1) for side in sides))))
    numbers = shell_numbers(points, sensitivities=noise.sensitivities, shells=noise.shells)
    weights = np.exp(-float(noise.epsilon) / noise.shells * numbers)
    return points, weights / weights.sum()


def check_joint_law(noise: Any, *, radii: int, size: int = 40_000) -> None:
    """Chi-square on single points; those that are expected fewer than 20 times are one bin together."""
    points, law = enumerate_law(noise, radii=radii)
    size = at_length(size)
    reach = np.abs(points).max(axis=0)
    drawn = noise.draw(size)
    inside = (np.abs(drawn) <= reach).all(axis=1)
    counts = np.zeros(len(points))
    index = np.ravel_multi_index((drawn[inside] + reach).T, tuple(2 * reach + 1))
    np.add.at(counts, index, 1)
    often = size * law >= 20
    check_chi_square(
        np.array([*counts[often], size - counts[often].sum()]),
        np.array([*size * law[often], size * (1 - law[often].sum())]),
    )


def check_joint_loss(noise: Any, *, reach: int) -> Fraction:
    """The loss of all shifts within the sensitivities, at all points of a cube, by the noise's own sides and
    rate: at most its epsilon. Returns the largest."""
    points = np.array(list(product(range(-reach, reach + 1), repeat=len(noise.sensitivities))))
    widths = np.array(noise.widths)
    before = (-(-np.abs(points) // widths)).max(axis=1)
    most = 0
    for shift in product(*(range(-n, n + 1) for n in noise.sensitivities)):
        after = (-(-np.abs(points + np.array(shift)) // widths)).max(axis=1)
        most = max(most, int(np.abs(after - before).max()))
    loss = most * noise.rate
    assert loss <= noise.epsilon, f"a shift within the sensitivities costs {loss}, claimed is {noise.epsilon}"
    return loss


def check_marginals(noise: Any, *, radii: int) -> None:
    """Half widths hold and, beyond 2.5 shells, are not far too wide; the variance is no less than it is."""
    points, law = enumerate_law(noise, radii=radii)
    for index, marginal in enumerate(noise.marginals):
        size = np.abs(points[:, index])
        for alpha in ALPHAS:
            half = marginal.half_width(alpha)
            beyond = float(law[size > half].sum())
            assert beyond <= alpha, f"value {index} lies beyond {half} with probability {beyond:.4f}"
            shorter = half - 2.5 * noise.widths[index]
            assert law[size > shorter].sum() > alpha, f"value {index} has a half width of {half}, too wide"
        variance = float((law * size**2).sum())
        assert variance <= marginal.variance, "the variance is understated"
        # the bound is for a radius of 1.5 shells more
        assert math.sqrt(variance) > math.sqrt(marginal.variance) - 1.5 * noise.widths[index]
