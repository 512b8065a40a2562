"""T7 of the privacy design: people are dealt into slots as the theorem of `privacy.partition` says.

Each mutant deals in another way; the enumeration that the real code passes notices it.
"""

import os
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from dealing_checks import check_blocks_of_slots, check_coupling, law_of
from epsilon_audit import audit_epsilon
from mutation import load_mutant
from release_paths import drawn_in_batches, release_values

from privacy import discrete_laplace, partition
from privacy.grid import OutputGrid
from privacy.partition import assign_blocks, derive_key, draw_slots
from privacy.sample_aggregate import SampleAggregate

NOT_DEALT = pytest.raises(AssertionError, match="not dealt as the proof says")
SMALL = [(people, slots) for people in range(4) for slots in range(1, 5) if people + slots < 7]
DRAWN = "slots = draw_slots(_words(key, repeat=repeat), slots=people, wanted=min(len(ordered), people))"
ORDERED = "ordered = _ordered(set(called), key=key, repeat=repeat)"
REMAINDER = "    while word >= limit:\n        word = next(words)\n"


@pytest.mark.parametrize(("people", "slots"), SMALL)
def test_one_person_more_changes_one_block_in_a_coupling(people, slots):
    check_coupling(partition, people=people, slots=slots)


@pytest.mark.parametrize(("people", "slots"), [(1, 2), (1, 3), (2, 2), (2, 1)])
def test_repeats_are_coupled_each_by_itself(people, slots):
    check_coupling(partition, people=people, slots=slots, repeats=2)


@pytest.mark.parametrize(("people", "slots", "blocks"), [(3, 4, 2), (4, 4, 3), (4, 3, 2), (2, 4, 1)])
def test_blocks_are_slots_side_by_side(people, slots, blocks):
    check_blocks_of_slots(partition, people=people, slots=slots, blocks=blocks)


def test_repeats_are_independent():
    names = ["p0", "p1"]
    one = law_of(partition, names, slots=3, blocks=3)
    both = law_of(partition, names, slots=3, blocks=3, repeats=2)
    assert both == {(a, b): one[(a,)] * one[(b,)] for ((a,), (b,)) in product(one, one)}


def check_draws(module, *, slots: int, values: int) -> None:
    """All permutations are equally likely, whichever of the words are passed over."""
    counts: Counter[tuple[int, ...]] = Counter()
    for words in product(range(values), repeat=slots + 1):
        try:
            counts[tuple(module.draw_slots(words, slots=slots, wanted=slots, values=values))] += 1
        except (StopIteration, RuntimeError):  # so few words do not draw all of it
            continue
    assert len(counts) == [1, 1, 2, 6, 24][slots]
    assert len(set(counts.values())) == 1, "some permutations are likelier"


@pytest.mark.parametrize(("slots", "values"), [(1, 2), (2, 3), (3, 4), (3, 5), (3, 8), (4, 5)])
def test_permutations_are_equally_likely(slots, values):
    check_draws(partition, slots=slots, values=values)


def test_less_of_a_permutation_is_its_beginning():
    words = [int.from_bytes(os.urandom(8), "big") for _ in range(400)]
    whole = draw_slots(words, slots=300, wanted=300)
    assert sorted(whole) == list(range(300))
    assert all(draw_slots(words, slots=300, wanted=wanted) == whole[:wanted] for wanted in range(300))


def test_permutation_by_remainder():
    mutant = load_mutant("partition", old=REMAINDER, new="")
    with pytest.raises(AssertionError, match="some permutations are likelier"):
        check_draws(mutant.partition, slots=3, values=8)


def test_free_slots_at_the_end():
    mutant = load_mutant("partition", old=DRAWN, new="slots = range(people)")
    with NOT_DEALT:
        check_coupling(mutant.partition, people=1, slots=3)


def test_identifiers_decide_who_is_left_out():
    mutant = load_mutant("partition", old=ORDERED, new="ordered = sorted(set(called))")
    with NOT_DEALT:
        check_coupling(mutant.partition, people=2, slots=2)


def test_as_many_slots_as_there_are_people():
    mutant = load_mutant("partition", old=DRAWN, new="people = max(blocks, len(ordered)); " + DRAWN)
    with pytest.raises(AssertionError):
        check_blocks_of_slots(mutant.partition, people=2, slots=4, blocks=2)
    drawn = DRAWN.replace("slots=people", "slots=len(ordered)")
    mutant = load_mutant("partition", old=DRAWN, new=drawn)
    with NOT_DEALT:
        check_coupling(mutant.partition, people=2, slots=4)


def test_one_permutation_for_all_repeats():
    mutant = load_mutant(
        "partition",
        old='prefix = _SLOTS + repeat.to_bytes(_REPEAT_BYTES, "big")',
        new="prefix = _SLOTS + bytes(4)",
    )
    with NOT_DEALT:
        check_coupling(mutant.partition, people=1, slots=3, repeats=2)


def test_one_order_for_all_repeats():
    mutant = load_mutant(
        "partition",
        old='prefix = _ORDER + repeat.to_bytes(_REPEAT_BYTES, "big")',
        new="prefix = _ORDER + bytes(4)",
    )
    with NOT_DEALT:
        check_coupling(mutant.partition, people=2, slots=2, repeats=2)


def test_blocks_that_depend_on_how_many_people_there_are():
    def by_number(names, **numbers):
        found = assign_blocks(names, **numbers)
        return [None if block is None else block * len(names) % numbers["blocks"] for block in found]

    with NOT_DEALT:
        check_coupling(partition, people=2, slots=3, assign=by_number)


def test_nobody_proves_more_than_epsilon_of_a_person_who_is_there_or_not():
    """The worst pipeline, run on blocks under a fresh key for each release: it looks for one person, and the
    attacker knows how many slots and people there are."""
    grid, names = OutputGrid.build(0, 1), ["a", "b", "c"]
    aggregate = SampleAggregate((grid,), blocks=2, people=4, micro_epsilon=1_000_000)

    def releases(people):
        def draw(n):
            return [release_values(aggregate, _traitor(people, aggregate), 1)[0] for _ in range(n)]

        return lambda n: np.array(draw(n))

    truths = (np.array([0.5]), np.array([0.0]))
    with drawn_in_batches(discrete_laplace):
        bound = audit_epsilon(releases([*names, "target"]), releases(names), truths=truths)
    assert 0.4 < bound <= 1


def _traitor(people, aggregate):
    dealt = assign_blocks(people, key=os.urandom(32), blocks=aggregate.blocks, people=aggregate.people)
    where = dict(zip(people, dealt, strict=True)).get("target")
    return [(aggregate.grids[0].cells if block == where else 0,) for block in range(aggregate.blocks)]


KNOWN_KEY = bytes(range(32))


def audit_of_known_places(key_of_a_release):
    """Each block answers the upper bound if it holds others than it would, without the person and under the
    key that the attacker knows."""
    aggregate = SampleAggregate((OutputGrid.build(0, 1),), blocks=8, people=8, micro_epsilon=1_000_000)
    names = [f"p{number}" for number in range(7)]
    expected = contents(names, KNOWN_KEY)

    def releases(people):
        def answers():
            held = contents(people, key_of_a_release())
            return [
                (aggregate.grids[0].cells if held[block] != expected[block] else 0,) for block in range(8)
            ]

        return lambda n: np.array([release_values(aggregate, answers(), 1)[0] for _ in range(n)])

    truths = (np.array([0.5]), np.array([0.0]))
    with drawn_in_batches(discrete_laplace):
        return audit_epsilon(releases([*names, "target"]), releases(names), truths=truths)


def contents(people, key):
    dealt = dict(zip(people, assign_blocks(people, key=key, blocks=8, people=8), strict=True))
    return [{person for person, block in dealt.items() if block == number} for number in range(8)]


def test_who_knows_the_key_proves_more_and_who_does_not_proves_no_more():
    assert audit_of_known_places(lambda: KNOWN_KEY) > 1.5
    assert audit_of_known_places(lambda: os.urandom(32)) <= 1


def test_a_retry_deals_the_same_blocks():
    people = [f"p{number}" for number in range(40)]
    one, again, other_job = (
        assign_blocks(people, key=derive_key(bytes(32), dataset_id="d", job_id=job), blocks=9, people=38)
        for job in ("j", "j", "k")
    )
    assert one == again != other_job


def test_with_the_key_one_person_more_is_plain_to_see():
    """Why the key must be secret: under one fixed key many blocks differ."""
    people = [f"p{number}" for number in range(40)]
    before, after = (
        assign_blocks(some, key=bytes(range(32)), blocks=40, people=40) for some in (people[:-1], people)
    )
    assert sum(one != two for one, two in zip(before, after, strict=False)) > 5
    assert Fraction(len(set(after)), 40) == 1
