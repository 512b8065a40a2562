"""What a preview says of a nominal size that is not the number of people: where to each number then moves."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction

from domain.output_value import OutputValue, PersonValue, parts_of
from domain.outputs import values_of
from domain.people import Result
from domain.pipeline import Manifest
from dpgate.pipeline_folder import Lock
from dpgate.preview import BlocksPreview
from dpgate.preview_many import told_outputs
from privacy.block_rules import pull_of_free_slots
from privacy.people import Part, Released, computed
from privacy.preview import Choice

ROUNDED = 1e-12
"""As a share of a total: what floats alone are off by."""

FREE = (Fraction(5, 100), Fraction(10, 100), Fraction(20, 100))


def size_words(found: BlocksPreview, manifest: Manifest, lock: Lock) -> list[str]:
    """Of the recommended choice, for the values that the tables show."""
    return told_moves(
        found.recommendation.choice,
        values_of(manifest, lock.shape),
        lock.twin_numbers,
        nominal_size=lock.nominal_size,
        shown=told_outputs(found),
        results=manifest.results,
    )


def told_moves(
    taken: Choice,
    values: Sequence[OutputValue],
    numbers: Sequence[float],
    *,
    nominal_size: int,
    shown: Collection[int],
    results: Sequence[Result] = (),
) -> list[str]:
    """What it costs if fewer or more people are in the data than the nominal size says. `numbers` are those
    of the whole twin, `shown` the places of the values that are told."""
    parts = parts_of(values) or (Part(),) * len(values)
    places = sorted(shown)
    by_rank = [place for place in places if parts[place].aggregator(taken.aggregator) == "median"]
    means = [place for place in places if place not in by_rank]
    to_middle = [
        f"{values[place].name} {_told(_moves(values[place], numbers[place], taken))}"
        for place in means
        if parts[place].absent is None
    ]
    elsewhere = [
        f"{values[place].name} towards {goal(values[place]):.3g} by "
        f"{_told(_moves(values[place], numbers[place], taken))}"
        for place in means
        if parts[place].absent is not None
    ]
    size = taken.block_size
    words = [f"People are dealt into {nominal_size:,} slots, the nominal size."]
    few = "With 5 / 10 / 20 % fewer people"
    if to_middle:
        words.append(
            f"{few} a mean over blocks of {size} moves to the middle of its bounds by {', '.join(to_middle)}."
        )
    if elsewhere:
        words.append(f"{few} slots without anybody move {', '.join(elsewhere)}.")
    if by_rank:
        names = ", ".join(values[place].name for place in by_rank)
        words.append(
            f"Blocks without anybody count at both bounds of a median or quantile, in the proportion that "
            f"leaves its rank where it is: {names}."
        )
    if results:
        by_name = {value.name: place for place, value in enumerate(values)}
        off = [
            f"{each.name} {_told(result_off(each, values, numbers, by_name, nominal_size))}"
            for each in results
        ]
        words.append(f"{few} what follows from them is off by {', '.join(off)}.")
    words.append("With more people those above are left out of the release, at random.")
    return [" ".join(words)]


def goal(value: OutputValue) -> float:
    """What a mean counts for a block without anybody."""
    if isinstance(value, PersonValue) and value.absent is not None:
        return float(value.absent)
    return (float(value.lower) + float(value.upper)) / 2


def moved(value: OutputValue, number: float, *, block_size: int, free: Fraction) -> float:
    """A mean that is this number, where a share `free` of the slots has nobody."""
    return number + (goal(value) - number) * float(pull_of_free_slots(block_size, free=free))


def result_off(
    result: Result,
    values: Sequence[OutputValue],
    numbers: Sequence[float],
    places: Mapping[str, int],
    nominal_size: int,
) -> list[float]:
    """By how much a result over people is off, for each share of free slots; their blocks are of one. A total
    is compared with that of the people there are."""
    own = [places[name] for name in result.parts]
    centres = result.centres([values[place] for place in own])

    def of(parts: Sequence[float], people: int) -> float:
        exact = [Released(Fraction(part), Fraction(0)) for part in parts]
        # one that is open counts as 0, as in the forecast
        return computed(result.kind, exact, people=people, centres=centres).value or 0.0

    found = []
    truth = of([numbers[place] for place in own], nominal_size)
    for free in FREE:
        less = of(
            [moved(values[place], numbers[place], block_size=1, free=free) for place in own], nominal_size
        )
        there = truth * float(1 - free) if result.kind == "total" else truth
        off = less - there
        found.append(off if abs(off) > ROUNDED * abs(there) else 0.0)
    return found


def _moves(value: OutputValue, number: float, taken: Choice) -> list[float]:
    return [moved(value, number, block_size=taken.block_size, free=free) - number for free in FREE]


def _told(moves: Sequence[float]) -> str:
    return " / ".join(f"{abs(move):.3g}" for move in moves)
