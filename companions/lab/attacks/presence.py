"""Presence: somebody's exact amount is known; does it stand in the table?

A neighbour knows what somebody earns, to the unit, and wants to know whether they are in this table of
patients. They look for the number. Where it stands, and few people have it, the answer is yes. The order of
rows does not matter, so dealing the columns out anew does not help.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from companions.lab.subjects import MISSING
from twins.evaluation.proportions import Proportion


def found_again(amounts: Sequence[str], people: NDArray[np.intp], column: Sequence[str]) -> Proportion:
    """How many of these people have an amount that stands in the column. Missing amounts are nobody's."""
    there = {_amount(cell) for cell in column} - {None}
    known = [amount for person in people.tolist() if (amount := _amount(amounts[person])) is not None]
    return Proportion(sum(amount in there for amount in known), len(known))


def _amount(cell: str) -> float | None:
    """25 and 25.0 are one amount."""
    text = cell.strip().lower()
    if text in MISSING:
        return None
    try:
        return float(text)
    except ValueError:
        return None
