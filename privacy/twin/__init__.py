"""Twins that cost budget: noisy counts of declared cells, and any number of rows drawn from them for free.

A column is a number of cells: categories, bins of a declared range, missing, each declared before any data
is read. A mechanism is a frozen description. It says which exact counts it needs (`pairs`), and `release`
adds the noise, once. What it returns, NoisyCounts, is the release; drawing rows from it looks at nothing
else. Reading order: mechanism, column_counts, merging, selection, patterns, noisy_counts; then, all of it
post-processing: marginals, draws, updates, rows. `level` says what to expect before anything is spent.
"""

from privacy.twin.column_counts import ColumnCounts
from privacy.twin.level import Suggestion, predicted_tv1, suggested_level
from privacy.twin.mechanism import TwinMechanism
from privacy.twin.noisy_counts import NoisyCounts, PairCounts
from privacy.twin.patterns import Patterns
from privacy.twin.rows import draw_rows

__all__ = [
    "ColumnCounts",
    "NoisyCounts",
    "PairCounts",
    "Patterns",
    "Suggestion",
    "TwinMechanism",
    "draw_rows",
    "predicted_tv1",
    "suggested_level",
]
