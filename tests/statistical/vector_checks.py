"""Checks of clipped vectors against the ball and the loss, by enumeration of all vectors of small grids."""

from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
from checks import check_chi_square
from length import at_length


def squared_norm(units: tuple[int, ...], cells: tuple[int, ...]) -> Fraction:
    """Of the place from the middle in half-ranges, exact."""
    pairs = zip(units, cells, strict=True)
    return sum((Fraction(unit - K // 2, K - K // 2) ** 2 for unit, K in pairs), start=Fraction(0))


def all_vectors(cells: tuple[int, ...]) -> list[tuple[int, ...]]:
    return list(product(*(range(K + 1) for K in cells)))


def check_ball(clip: Any) -> int:
    """Every vector of the grids ends within the ball and within the grids, and nothing inside it is moved.
    Returns how many were moved."""
    moved = 0
    for units in all_vectors(clip.cells):
        clipped = clip.clip(units)
        norm = squared_norm(clipped, clip.cells)
        assert norm <= clip.norm**2, f"{units} becomes {clipped}, outside the ball of {clip.norm}"
        assert all(0 <= unit <= K for unit, K in zip(clipped, clip.cells, strict=True))
        is_moved = clipped != units
        assert is_moved <= clip.clips(units)
        assert clip.clips(units) or squared_norm(units, clip.cells) <= clip.norm**2
        moved += is_moved
    return moved


def check_vector_loss(clip: Any, *, repeats: int, rho: Fraction) -> Fraction:
    """The zCDP that Gaussian noise of the stated variances costs, for all pairs of vectors in each repeat: at
    most rho. Returns the largest."""
    clipped = sorted({clip.clip(units) for units in all_vectors(clip.cells)})
    steps = {
        tuple(b - a for a, b in zip(one, other, strict=True)) for one, other in product(clipped, clipped)
    }
    variances = [clip.variance(k, repeats=repeats, rho=rho) for k in range(len(clip.cells))]
    worst = Fraction(0)
    for chosen in combinations_with_replacement(sorted(steps), repeats):
        shift = [sum(parts) for parts in zip(*chosen, strict=True)]
        loss = sum((s * s / (2 * v) for s, v in zip(shift, variances, strict=True)), start=Fraction(0))
        worst = max(worst, loss)
    assert worst <= rho, f"a neighbour costs rho {float(worst):.4f}, claimed is {float(rho):.4f}"
    return worst


def check_vector_release(aggregate: Any, runs: list[tuple[int, ...]], *, size: int = 4_000) -> None:
    """The noised sums follow the Gaussian law around the sum of the clipped vectors:
    quarters of each, and of sums and differences of neighbours, against their normal quantiles."""
    grids, count = aggregate.grids, len(runs)
    clip = aggregate.means.clip
    centre = [sum(column) for column in zip(*map(clip.clip, runs), strict=True)]
    deviations = [
        float(clip.variance(k, repeats=aggregate.repeats, rho=aggregate.means.rho)) ** 0.5
        for k in range(len(grids))
    ]
    drawn = np.array(
        [
            [
                float((one.value - grid.lower) / grid.step * count - middle) / deviation
                for one, grid, middle, deviation in zip(released, grids, centre, deviations, strict=True)
            ]
            for released in (aggregate.release(runs) for _ in range(at_length(size)))
        ]
    )
    pairs = [
        (drawn[:, k] + sign * drawn[:, k - 1]) / 2**0.5 for k in range(1, len(grids)) for sign in (1, -1)
    ]
    for standard in (*drawn.T, *pairs):
        edges = np.array([-0.6744897501960817, 0, 0.6744897501960817])
        counts = np.bincount(np.searchsorted(edges, standard), minlength=4)
        check_chi_square(counts, np.full(4, len(standard) / 4))
