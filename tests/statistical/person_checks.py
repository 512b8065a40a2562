"""T7 of the privacy design: one person is in one block of each repeat, and reaches no other."""

import random
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from checks import check_chi_square
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

Assign = Callable[..., list[int]]
_PEOPLE = st.lists(
    st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip), min_size=1, max_size=30
)


def check_partition(
    assign: Assign, *, least_blocks: int = 1, most_blocks: int = 12, phases: Iterable[Phase] = tuple(Phase)
) -> None:
    """T7: adding or removing a person changes exactly one block of a repeat, replacing at most two.

    Without the phase `shrink` the people that show a mistake are not made fewer, which takes seconds.
    """

    @settings(
        max_examples=300, deadline=None, database=None, report_multiple_bugs=False, phases=tuple(phases)
    )
    @given(
        rows=_PEOPLE,
        newcomer=st.uuids().map(str),
        blocks=st.integers(least_blocks, most_blocks),
        repeat=st.integers(0, 99),
        key=st.binary(min_size=32),
        seed=st.randoms(),
    )
    def check(
        rows: list[str], newcomer: str, blocks: int, repeat: int, key: bytes, seed: random.Random
    ) -> None:
        def contents(people: Iterable[str]) -> dict[int, list[str]]:
            return _contents(assign, list(people), key=key, blocks=blocks, repeat=repeat)

        whole = contents(rows)
        leaver = rows[0].strip()
        rest = [row for row in rows if not _same_person(row, leaver)]
        shuffled = seed.sample(rows, len(rows))
        assert all(0 <= block < blocks for block in whole), "a block that does not exist"
        assert contents(shuffled) == whole, "the order of rows matters"
        assert _changed(whole, contents([newcomer, *rows])) == 1, "adding a person changes other blocks"
        assert _changed(whole, contents(rest)) == 1, "removing a person changes other blocks"
        assert _changed(whole, contents([newcomer, *rest])) <= 2, "replacing a person changes other blocks"
        assert sum(leaver in map(str.strip, block) for block in whole.values()) == 1, (
            "one person is in several blocks"
        )

    check()


def check_repeats_are_unrelated(assign: Assign, *, people: int = 4_000, blocks: int = 8) -> None:
    """T7: the block of a person in one repeat says nothing about the block in another."""
    names, key = [str(number) for number in range(people)], bytes(range(32))
    first, second = (np.array(assign(names, key=key, blocks=blocks, repeat=repeat)) for repeat in (0, 1))
    pairs = np.bincount(first * blocks + second, minlength=blocks**2)
    check_chi_square(pairs, np.full(blocks**2, people / blocks**2))


def check_sum_moves_by_one_range(assign: Assign, aggregate: Any) -> None:
    """T7: with a hostile pipeline on every block, one person moves each sum of grid units by at most r K, and
    the number of values below any point, on which a median rests, and the failures, by at most r."""

    @settings(max_examples=100, deadline=None, database=None, report_multiple_bugs=False)
    @given(rows=_PEOPLE, newcomer=st.uuids().map(str), key=st.binary(min_size=32))
    def check(rows: list[str], newcomer: str, key: bytes) -> None:
        before, after = (_run_all(assign, aggregate, people, key) for people in (rows, [*rows, newcomer]))
        repeats = aggregate.repeats
        assert abs(sum(o is None for o in before) - sum(o is None for o in after)) <= repeats, (
            "one person moves a count of failures by more than repeats"
        )
        for index, grid in enumerate(aggregate.grids):
            one, other = (_column(aggregate, outputs, index) for outputs in (before, after))
            assert abs(sum(one) - sum(other)) <= repeats * grid.cells, (
                "one person moves a sum by more than its range"
            )
            for point in (0, 1, grid.middle, grid.cells):
                below = [sum(value < point for value in column) for column in (one, other)]
                assert abs(below[0] - below[1]) <= repeats, "one person moves a rank by more than repeats"

    check()


def _run_all(assign: Assign, aggregate: Any, people: list[str], key: bytes) -> list[tuple[int, ...] | None]:
    outputs = []
    for repeat in range(aggregate.repeats):
        contents = _contents(assign, people, key=key, blocks=aggregate.blocks, repeat=repeat)
        outputs += [
            _hostile_pipeline(contents.get(block, []), aggregate) for block in range(aggregate.blocks)
        ]
    return outputs


def _column(aggregate: Any, outputs: Sequence, index: int) -> list[int]:
    return [(aggregate.default(run) if o is None else o)[index] for run, o in enumerate(outputs)]


def _hostile_pipeline(block: list[str], aggregate: Any) -> tuple[int, ...] | None:
    """Jumps between the bounds, or fails, by the parity and number of what it sees."""
    if len(block) % 3 == 2:
        return None
    top = len(block) % 3 == 1
    return tuple(grid.cells if top else 0 for grid in aggregate.grids)


def _contents(
    assign: Assign, people: list[str], *, key: bytes, blocks: int, repeat: int
) -> dict[int, list[str]]:
    """The people of every block that has any."""
    contents: dict[int, list[str]] = {}
    assigned = assign(people, key=key, blocks=blocks, repeat=repeat)
    for person, block in sorted(zip(people, assigned, strict=True)):
        contents.setdefault(block, []).append(person)
    return contents


def _changed(before: dict[int, list[str]], after: dict[int, list[str]]) -> int:
    return sum(before.get(block) != after.get(block) for block in {*before, *after})


def _same_person(one: str, other: str) -> bool:
    return _spelling(one) == _spelling(other)


def _spelling(person: str) -> str:
    return unicodedata.normalize("NFC", person).strip()
