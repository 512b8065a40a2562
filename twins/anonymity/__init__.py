"""k-anonymity, l-diversity and t-closeness of a table, and generalising a table until it has them.

Weaker than every guarantee of the platform: they bound nothing that is learnt with other knowledge, and two
tables that both have them may together have nothing. Whatever shows a figure of these pages says so.

Reading order: table, classes, measures (what a table has), then ladders, plan, release, search (making one).
"""

WEAKER = (
    "Weaker than the guarantees of the platform (pure_dp, approx_dp, pac, empirical): no bound against other "
    "knowledge, does not compose. It speaks of the columns that were named, and of this one release alone."
)
"""Stands on every output that shows a figure of these pages."""

__all__ = ["WEAKER"]
