"""Twins of counts as checks ask for them: exact counts of given rows, many releases as numbers, an audit."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from epsilon_audit import audit_epsilon
from release_paths import MICRO, drawn_in_batches

import privacy.twin.gaussian_columns
import privacy.twin.gaussian_patterns
from privacy import discrete_gaussian, gaussian_digits

REAL = SimpleNamespace(
    discrete_gaussian=discrete_gaussian,
    gaussian_digits=gaussian_digits,
    twin=privacy.twin,
    twin_column_counts=privacy.twin.column_counts,
    twin_gaussian=privacy.twin.gaussian,
    twin_gaussian_columns=privacy.twin.gaussian_columns,
    twin_gaussian_patterns=privacy.twin.gaussian_patterns,
    twin_patterns=privacy.twin.patterns,
    twin_selection=privacy.twin.selection,
)
"""Modules of the package by short name, as a mutant has them."""

Row = Sequence[int]


def totals_of(mechanism: Any, rows: Sequence[Row]) -> list[int]:
    """Exact counts over rows of cell numbers."""
    table, cells = np.array(rows, np.int64).reshape(-1, len(mechanism.cells)), mechanism.cells
    counts = [np.bincount(table[:, a], minlength=cells[a]) for a in range(len(cells))]
    counts += [
        np.bincount(table[:, a] * cells[b] + table[:, b], minlength=cells[a] * cells[b])
        for a, b in mechanism.pairs
    ]
    return [int(count) for each in counts for count in each]


def release_many(mechanism: Any, totals: Sequence[int], n: int) -> np.ndarray:
    """n releases as an (n, numbers) array.

    The noisy counts, and for each pair the place at which it was chosen (0 for never) and its counts, with
    zeros for what is not there. Merged cells and the number of rows are worked out from these counts.
    """
    return np.array([_numbers(mechanism, mechanism.release(totals)) for _ in range(n)], float)


def _numbers(mechanism: Any, counts: Any) -> list[float]:
    numbers = [count for column in counts.ones for count in column]
    chosen = {pair.columns: (place, pair.counts) for place, pair in enumerate(counts.pairs, 1)}
    for a, b in mechanism.pairs:
        place, joint = chosen.get((a, b), (0, ()))
        width = mechanism.cells[a] * mechanism.cells[b]
        numbers += [*([place] if len(mechanism.pairs) > 1 else []), *joint, *([0] * (width - len(joint)))]
    return numbers


def check_twin_audit(
    mechanism: Any, others: Sequence[Row], person: Sequence[Row], *, size: int = 3_000, modules: Any = REAL
) -> float:
    """T2: whoever sees the noisy counts of `others` with and without the rows of one person proves no more
    than the epsilon that the mechanism claims. Returns what they prove, to show that the audit has power.

    `modules` holds the package's modules by short name: the real ones, or those of a mutant.
    """
    one, other = (totals_of(mechanism, rows) for rows in ([*others, *person], others))
    with drawn_in_batches(
        modules.twin_column_counts, modules.twin_patterns, modules.discrete_gaussian, modules.gaussian_digits
    ):
        bound = audit_epsilon(
            lambda n: release_many(mechanism, one, n),
            lambda n: release_many(mechanism, other, n),
            truths=tuple(np.median(release_many(mechanism, each, 201), axis=0) for each in (one, other)),
            size=size,
        )
    claimed = mechanism.micro_epsilon / MICRO
    assert bound <= claimed, f"an attacker proves epsilon {bound:.2f}, claimed is {claimed}"
    return bound
