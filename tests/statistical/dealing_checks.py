"""The theorem of `privacy.partition` for small numbers, by enumeration of all that the key can decide.

In place of HMAC stands each random function in turn: every order of people and every permutation of slots, of
every repeat. So the law of the code's own blocks is known exactly, and the coupling of the proof is compared
with it as fractions.
"""

import struct
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations, product
from types import ModuleType
from unittest.mock import patch

Places = tuple[tuple[int | None, ...], ...]
"""Of each repeat the block of each person, None for whoever is left out."""

Law = Mapping[Places, Fraction]
Assign = Callable[..., list[int | None]]


def law_of(
    partition: ModuleType, people: Sequence[str], *, slots: int, blocks: int, repeats: int = 1,
    assign: Assign | None = None,
) -> Law:  # fmt: skip
    """How the people's blocks are distributed over the key."""
    deal = assign or partition.assign_blocks
    ways = [list(_random_functions(people, slots)) for _ in range(repeats)]
    counts: Counter[Places] = Counter()
    for chosen in product(*ways):
        with patch.object(partition, "_digest", _Oracle(partition, chosen)):
            found = (
                deal(people, key=bytes(32), blocks=blocks, people=slots, repeat=repeat)
                for repeat in range(repeats)
            )
            counts[tuple(map(tuple, found))] += 1
    total = sum(counts.values())
    return {places: Fraction(count, total) for places, count in counts.items()}


class _Oracle:
    """One random function for each repeat: the rank of each person, and the words that draw the slots."""

    def __init__(
        self, partition: ModuleType, chosen: Sequence[tuple[Mapping[str, int], tuple[int, ...]]]
    ) -> None:
        self._order, self._slots, self._chosen = partition._ORDER, partition._SLOTS, chosen

    def __call__(self, _key: bytes, message: bytes) -> bytes:
        purpose, rest = message[: len(self._order)], message[len(self._order) :]
        ranks, words = self._chosen[int.from_bytes(rest[:4], "big")]
        if purpose == self._order:
            return ranks[rest[4:].decode()].to_bytes(32, "big")
        assert purpose == self._slots
        assert not any(rest[4:]), "so few slots take one digest"
        return struct.pack(">4Q", *words, *[0] * (4 - len(words)))


def _random_functions(people: Sequence[str], slots: int) -> Iterator[tuple[dict[str, int], tuple[int, ...]]]:
    for ranks in permutations(range(len(people))):
        for words in product(*(range(slots - place) for place in range(slots))):
            yield dict(zip(people, ranks, strict=True)), words


def check_coupling(
    partition: ModuleType, *, people: int, slots: int, repeats: int = 1, assign: Assign | None = None
) -> None:
    """T7: with one person more each place has the law that the proof's coupling gives it, and in the
    coupling the contents of at most one block of each repeat differ, however many blocks there are."""
    for newcomer in ("a newcomer", "who comes"):  # in front of all in the alphabet, and behind
        names = [*(f"p{number}" for number in range(people)), newcomer]
        fewer, more = (
            law_of(partition, some, slots=slots, blocks=slots, repeats=repeats, assign=assign)
            for some in (names[:-1], names)
        )
        _check_pair(fewer, more, slots=slots)


def _check_pair(fewer: Law, more: Law, *, slots: int) -> None:
    coupled: Counter[Places] = Counter()
    for places, probability in fewer.items():
        for other, given in _with_newcomer(places, slots=slots):
            coupled[other] += probability * given
            for blocks in range(1, slots + 1):
                for one, two in zip(places, other, strict=True):
                    assert _differing((*one, None), two, slots=slots, blocks=blocks) <= 1
    assert {k: v for k, v in coupled.items() if v} == dict(more), "people are not dealt as the proof says"


def check_blocks_of_slots(partition: ModuleType, *, people: int, slots: int, blocks: int) -> None:
    """T7: a block is so many slots next to each other, and nothing else."""
    names = [f"p{number}" for number in range(people)]
    of_slots: Counter[Places] = Counter()
    for (places,), probability in law_of(partition, names, slots=slots, blocks=slots).items():
        of_slots[(_in_blocks(places, slots=slots, blocks=blocks),)] += probability
    assert dict(of_slots) == law_of(partition, names, slots=slots, blocks=blocks)


def _with_newcomer(places: Places, *, slots: int) -> Iterator[tuple[Places, Fraction]]:
    """The proof's coupling, each repeat by itself: where the newcomer sits, given where the others do."""
    for chosen in product(*(list(_seated(repeat, slots=slots)) for repeat in places)):
        probability = Fraction(1)
        for _, given in chosen:
            probability *= given
        yield tuple(repeat for repeat, _ in chosen), probability


def _seated(
    places: tuple[int | None, ...], *, slots: int
) -> Iterator[tuple[tuple[int | None, ...], Fraction]]:
    free = sorted(set(range(slots)) - set(places))
    for slot in free:
        yield (*places, slot), Fraction(1, len(free))
    if free:
        return
    sits = Fraction(slots, len(places) + 1)
    yield (*places, None), 1 - sits
    for slot in range(slots):
        yield (*(None if place == slot else place for place in places), slot), sits / slots


def _in_blocks(places: Sequence[int | None], *, slots: int, blocks: int) -> tuple[int | None, ...]:
    return tuple(None if place is None else place * blocks // slots for place in places)


def _differing(one: Sequence[int | None], two: Sequence[int | None], *, slots: int, blocks: int) -> int:
    contents = [
        [
            {
                person
                for person, at in enumerate(_in_blocks(places, slots=slots, blocks=blocks))
                if at == block
            }
            for block in range(blocks)
        ]
        for places in (one, two)
    ]
    return sum(before != after for before, after in zip(*contents, strict=True))
