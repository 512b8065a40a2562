"""Turns by lot: everybody has one, and one person more or fewer leaves the law of all others as it was."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.participant_turns import participant_turns

KEY = bytes(range(32))
names = st.lists(st.text("ab01", min_size=1, max_size=6), unique=True, max_size=20)


@given(names, st.integers(0, 30), st.binary(min_size=32, max_size=32))
def test_everybody_has_one_turn_and_turns_have_one_person(people: list[str], turns: int, key: bytes) -> None:
    found = participant_turns(people, key=key, turns=turns)
    assert sorted(found.values()) == sorted(people)
    assert list(found) == sorted(found)
    assert all(0 <= turn < max(turns, len(people)) for turn in found)


@given(st.permutations([f"sub-{number}" for number in range(9)]))
def test_where_people_stand_changes_nothing(people: list[str]) -> None:
    assert participant_turns(people, key=KEY, turns=12) == participant_turns(
        sorted(people), key=KEY, turns=12
    )


def test_with_more_people_than_turns_some_come_after_the_last() -> None:
    people = [f"sub-{number}" for number in range(9)]
    assert sorted(participant_turns(people, key=KEY, turns=4)) == list(range(9))


def laws(people: tuple[str, ...], *, turns: int, keys: int = 6000) -> Counter[tuple[int, ...]]:
    """How often the first two people have which turns, over many keys."""
    found: Counter[tuple[int, ...]] = Counter()
    for number in range(keys):
        taken = participant_turns(people, key=number.to_bytes(32, "big"), turns=turns)
        turn_of = {name: turn for turn, name in taken.items()}
        found[turn_of["a"], turn_of["b"]] += 1
    return found


@pytest.mark.parametrize("people", [("a", "b"), ("a", "b", "c")])
def test_the_turns_of_two_people_are_uniform_whether_a_third_is_there_or_not(people: tuple[str, ...]) -> None:
    """Each of the 12 pairs of 4 turns in a twelfth of 6000 keys: 500, with a standard deviation of 21.4. The
    keys are fixed, so this never fails by chance."""
    found = laws(people, turns=4)
    assert set(found) == set(permutations(range(4), 2))
    assert all(abs(count - 500) < 5 * 21.4 for count in found.values())


def test_another_key_draws_the_lots_anew() -> None:
    people = [f"sub-{number}" for number in range(9)]
    first, second = (participant_turns(people, key=bytes([number]) * 32, turns=12) for number in (1, 2))
    assert first != second


@pytest.mark.parametrize(("name", "key"), [("", KEY), (" ", KEY), ("sub-1", KEY[:31])])
def test_what_cannot_be_used_is_refused(name: str, key: bytes) -> None:
    with pytest.raises(ValueError, match=r"identifier is empty|key must have at least 32 bytes"):
        participant_turns([name], key=key, turns=3)
