"""Twins that cost budget: noisy counts of declared cells, and any number of rows drawn from them for free.

A column is a number of cells: categories, bins of a declared range, missing, each declared before any data
is read. A mechanism is a frozen description. It says which exact counts it needs (`pairs`), and `release`
adds the noise, once. What it returns, NoisyCounts, is the release; drawing rows from it looks at nothing
else. Reading order: mechanism, column_counts, merging, selection, joint, patterns, noisy_counts; for a delta
gaussian, gaussian_columns, gaussian_patterns; then, all of it
post-processing: marginals, draws, updates, rows. `level` says what to expect before anything is spent.
"""

from privacy.twin.column_counts import ColumnCounts
from privacy.twin.gaussian import GaussianLoss
from privacy.twin.gaussian_columns import GaussianColumns
from privacy.twin.gaussian_patterns import GaussianPatterns
from privacy.twin.level import Suggestion, predicted_tv1, predicted_tv1_of, suggested_level
from privacy.twin.mechanism import TwinMechanism
from privacy.twin.noisy_counts import NoisyCounts, PairCounts
from privacy.twin.patterns import Patterns
from privacy.twin.rows import draw_rows

__all__ = [
    "ColumnCounts",
    "GaussianColumns",
    "GaussianLoss",
    "GaussianPatterns",
    "NoisyCounts",
    "PairCounts",
    "Patterns",
    "Suggestion",
    "TwinMechanism",
    "draw_rows",
    "predicted_tv1",
    "predicted_tv1_of",
    "suggested_level",
]
