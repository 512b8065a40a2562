"""T7 of the privacy design: one person is in one block of each repeat, and reaches no other."""

import random
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from checks import check_chi_square
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

Assign = Callable[..., list[int | None]]
_PEOPLE = st.lists(
    st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip), min_size=1, max_size=30
)


def check_partition(
    assign: Assign, *, least_blocks: int = 1, most_blocks: int = 12, phases: Iterable[Phase] = tuple(Phase)
) -> None:
    """T7: each person is in one block of a repeat with all their rows, or left out of it for want of a slot;
    blocks are as equal as they can be. `dealing_checks` looks at what one person more changes.

    Without the phase `shrink` the people that show a mistake are not made fewer, which takes seconds.
    """

    @settings(
        max_examples=300, deadline=None, database=None, report_multiple_bugs=False, phases=tuple(phases)
    )
    @given(
        rows=_PEOPLE,
        blocks=st.integers(least_blocks, most_blocks),
        more_slots=st.integers(0, 40),
        repeat=st.integers(0, 99),
        key=st.binary(min_size=32),
        seed=st.randoms(),
    )
    def check(
        rows: list[str], blocks: int, more_slots: int, repeat: int, key: bytes, seed: random.Random
    ) -> None:
        slots = blocks + more_slots

        def contents(people: Iterable[str]) -> dict[int, list[str]]:
            return _contents(assign, list(people), key=key, blocks=blocks, people=slots, repeat=repeat)

        whole = contents(rows)
        people = {_spelling(row) for row in rows}
        seated = [{_spelling(row) for row in block} for block in whole.values()]
        assert all(0 <= block < blocks for block in whole), "a block that does not exist"
        assert contents(seed.sample(rows, len(rows))) == whole, "the order of rows matters"
        assert len(set().union(*seated)) == sum(map(len, seated)), "one person is in several blocks"
        assert sum(map(len, seated)) == min(len(people), slots), "a slot is free and a person left out"
        assert all(len(block) <= -(-slots // blocks) for block in seated), "a block has more than its slots"
        if len(people) >= slots:
            assert len(whole) == blocks, "a block is empty"
            assert all(len(block) >= slots // blocks for block in seated), "blocks are not equal"

    check()


def check_repeats_are_unrelated(assign: Assign, *, people: int = 4_000, blocks: int = 8) -> None:
    """T7: the block of a person in one repeat says nothing about the block in another."""
    names, key = [str(number) for number in range(people)], bytes(range(32))
    first, second = (
        np.array(assign(names, key=key, blocks=blocks, people=people, repeat=repeat)) for repeat in (0, 1)
    )
    pairs = np.bincount(first * blocks + second, minlength=blocks**2)
    check_chi_square(pairs, np.full(blocks**2, people / blocks**2))


def check_sum_moves_by_one_range(assign: Assign, aggregate: Any) -> None:
    """T7: with a hostile pipeline on every block, one person moves each sum of grid units by at most r K, and
    the number of values below any point, on which a median rests, and the failures, by at most r.

    For every key where a person's data change; where somebody comes, in the coupling of the proof, whose law
    `dealing_checks` looks at.
    """

    @settings(max_examples=100, deadline=None, database=None, report_multiple_bugs=False)
    @given(rows=_PEOPLE, key=st.binary(min_size=32), seed=st.randoms())
    def check(rows: list[str], key: bytes, seed: random.Random) -> None:
        people = sorted({_spelling(row) for row in rows})
        before = _places(assign, aggregate, people, key)
        _check_moves(aggregate, before, _changed_data(before, people[0]))
        _check_moves(aggregate, before, [_with_newcomer(repeat, aggregate, seed) for repeat in before])

    check()


Place = tuple[int | None, str]
"""A block, and the data of the person who is in it."""


def _places(assign: Assign, aggregate: Any, people: list[str], key: bytes) -> list[list[Place]]:
    """Of each repeat; `assign` gives a slot each, since blocks of one are slots."""
    slots = aggregate.plan.people
    return [
        list(zip(assign(people, key=key, blocks=slots, people=slots, repeat=repeat), people, strict=True))
        for repeat in range(aggregate.repeats)
    ]


def _changed_data(places: list[list[Place]], person: str) -> list[list[Place]]:
    return [[(slot, one + "*" if one == person else one) for slot, one in repeat] for repeat in places]


def _with_newcomer(places: list[Place], aggregate: Any, seed: random.Random) -> list[Place]:
    slots = range(aggregate.plan.people)
    free = sorted(set(slots) - {slot for slot, _ in places})
    slot = seed.choice(free or [*slots, *[None] * (len(places) + 1 - len(slots))])
    return [*(place for place in places if slot is None or place[0] != slot), (slot, "newcomer")]


def _check_moves(aggregate: Any, before: list[list[Place]], after: list[list[Place]]) -> None:
    repeats = aggregate.repeats
    ran = [[_run for repeat in places for _run in _run_all(repeat, aggregate)] for places in (before, after)]
    failed = [sum(output is None for output in outputs) for outputs in ran]
    assert abs(failed[0] - failed[1]) <= repeats, "one person moves a count of failures by more than repeats"
    for index, grid in enumerate(aggregate.grids):
        one, other = (_column(aggregate, outputs, index) for outputs in ran)
        assert abs(sum(one) - sum(other)) <= repeats * grid.cells, (
            "one person moves a sum by more than its range"
        )
        for point in (0, 1, grid.middle, grid.cells):
            below = [sum(value < point for value in column) for column in (one, other)]
            assert abs(below[0] - below[1]) <= repeats, "one person moves a rank by more than repeats"


def _run_all(places: list[Place], aggregate: Any) -> list[tuple[int, ...] | None]:
    blocks, slots = aggregate.blocks, aggregate.plan.people
    contents: list[list[str]] = [[] for _ in range(blocks)]
    for slot, data in places:
        if slot is not None:
            contents[slot * blocks // slots].append(data)
    return [_hostile_pipeline(block, aggregate) for block in contents]


def _column(aggregate: Any, outputs: Sequence, index: int) -> list[int]:
    return [(aggregate.default(run) if o is None else o)[index] for run, o in enumerate(outputs)]


def _hostile_pipeline(block: list[str], aggregate: Any) -> tuple[int, ...] | None:
    """Jumps between the bounds, or fails, by what it sees."""
    seen = sum(map(ord, "".join(block))) + len(block)
    if seen % 3 == 2:
        return None
    top = seen % 3 == 1
    return tuple(grid.cells if top else 0 for grid in aggregate.grids)


def _contents(assign: Assign, rows: list[str], **numbers: Any) -> dict[int, list[str]]:
    """The people of every block that has any."""
    contents: dict[int, list[str]] = {}
    for block, person in zip(assign(rows, **numbers), rows, strict=True):
        if block is not None:
            contents.setdefault(block, []).append(person)
    return {block: sorted(people) for block, people in contents.items()}


def _spelling(person: str) -> str:
    return unicodedata.normalize("NFC", person).strip()
