"""Within which ranks a median or quantile lies that the exponential mechanism chose.

It adds no noise in units of its own, so no interval in them follows without asking the data again. One by
rank does: from epsilon and the number of grid points alone, for any data, at no further cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from privacy.exponential import MAX_LEVELS
from privacy.sample_aggregate import SampleAggregate

PROOF = "for any data (Dwork and Roth 2014, Corollary 3.12)"
_MOST_NAMED = 6
_RARELY = Fraction(1, 20)


def missed_ranks(points: int, *, epsilon: Fraction, moved: Fraction, together: int = 1) -> Fraction:
    """By how many ranks grid points chosen among so many miss the wanted ones, 95 times in 100 at most.

    `moved`: ranks by which one person moves a distance; `together`: how many are chosen, of which none may
    miss by more: two that come out in the wrong order are exchanged.

    `privacy.median` chooses a point with a weight of exp(-epsilon d / (2 D moved)), where d is D times the
    ranks by which it misses, and 0 for the wanted one. So all points that miss by more than t ranks have a
    probability of at most points * exp(-epsilon t / (2 moved)) together, as long as the table of weights goes
    on to D t; and that is 1/20 over `together` for the t here.
    """
    return 2 * moved / epsilon * Fraction(math.log(points * together / _RARELY))


def said_of_blocks(mechanism: SampleAggregate, names: Sequence[str]) -> str | None:
    """Of the medians of a pipeline, before as after the release; None where it has none."""
    told = list(_of_blocks(mechanism, names))
    if not told:
        return None
    more = f"; and so on for {len(told) - _MOST_NAMED} more" if len(told) > _MOST_NAMED else ""
    return (
        "A median has no interval in units of its own, for that would tell about the data. By rank it has "
        f"one, up to a step of its grid: 95 times in 100, {'; '.join(told[:_MOST_NAMED])}{more}, {PROOF}."
    )


def _of_blocks(mechanism: SampleAggregate, names: Sequence[str]) -> Iterator[str]:
    answers = mechanism.plan.runs
    # diagnostics come behind the outputs, and have noise
    for index, (name, noise, grid) in enumerate(zip(names, mechanism.noises, mechanism.grids, strict=True)):
        if noise is not None:
            continue
        wanted, of = mechanism.quantile(index), f"the {answers:,} answers of the runs"
        epsilon, moved = mechanism.value_epsilon(index), Fraction(mechanism.repeats)
        missed = missed_ranks(grid.cells + 1, epsilon=epsilon, moved=moved)
        if missed * wanted.denominator > MAX_LEVELS:  # beyond, all points weigh the same
            missed = Fraction(answers + 1)
        first = math.ceil(wanted * answers - missed)
        last = math.floor(wanted * answers + missed) + 1
        if first < 1 and last > answers:
            yield f"{name} may lie beyond all of {of}, anywhere between its bounds"
        else:
            low = f"the {_nth(first)} smallest" if first >= 1 else "its lower bound"
            high = f"the {_nth(last)} smallest" if last <= answers else "its upper bound"
            yield f"{name} lies between {low} and {high} of {of}"


def said_of_rows(missed: Sequence[tuple[str, Fraction]]) -> str | None:
    """Of quantiles of rows, by name; None without any."""
    if not missed:
        return None
    told = [f"{name} misses its rank by {math.floor(ranks):,} rows at most" for name, ranks in missed]
    return (
        "A quantile has no interval in units of its own, for that would tell about the data. By rank it has "
        f"one, up to a step of its grid: 95 times in 100, {'; '.join(told)}, {PROOF}."
    )


def _nth(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"
