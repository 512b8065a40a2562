"""Does a value move with a sender? Decided by fresh rounds in which a fair coin says whether it sends.

A value that nobody may move is a finding when it differs at all and does so again. One that moves by itself
(an address, a count) is no finding for that: a rule that guesses the sender is made from some rounds, and
must then guess in others. By chance each guess is right with probability one half, whatever else moves.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .languages import Look, Value

LEARNED, ASKED = 8, 40  # rounds: for the rule, and to try it
_MOST_WRONG = 3  # of ASKED: by chance 1 in 100 million


@dataclass(frozen=True)
class Round:
    """A look, then somebody who sends or does not, then another look, or one beside."""

    sent: bool
    before: Look
    after: Look


@dataclass(frozen=True)
class Rule:
    """Guesses from one round whether somebody has sent."""

    words: str
    guess: Callable[[Value | None, Value | None], bool]

    def of(self, key: str, round_: Round) -> bool:
        return self.guess(round_.before.get(key), round_.after.get(key))


def differing(rounds: Iterable[Round], reference: Look) -> dict[str, list[bool]]:
    """Keys that some look found other than in the reference: for each round in which it did, if it was one
    with a sender.
    """
    found: dict[str, list[bool]] = {}
    for each in rounds:
        for key in reference.keys() | each.before.keys() | each.after.keys():
            usual = reference.get(key)
            if each.before.get(key) != usual or each.after.get(key) != usual:
                found.setdefault(key, []).append(each.sent)
    return found


def changing(rounds: Iterable[Round], key: str) -> list[bool]:
    """For each round in which two looks found this key different, if it was one with a sender."""
    return [each.sent for each in rounds if each.before.get(key) != each.after.get(key)]


def learned(key: str, rounds: Sequence[Round]) -> Rule | None:
    """The rule that is right in all of these rounds, or None."""
    for rule in _rules(key, rounds):
        if all(rule.of(key, each) == each.sent for each in rounds):
            return rule
    return None


def best(key: str, rounds: Sequence[Round]) -> Rule | None:
    """The rule that is right most often in these rounds; None where all are as good as a coin."""
    scored = [(sum(rule.of(key, each) == each.sent for each in rounds), rule) for rule in _rules(key, rounds)]
    right, rule = max(scored, key=lambda each: each[0], default=(0, None))
    return rule if 2 * right > len(rounds) + 1 else None


def follows(right: int, asked: int) -> bool | None:
    """Whether a rule has shown itself in so many fresh rounds; None: not said yet."""
    if asked - right > _MOST_WRONG:
        return False
    return True if asked >= ASKED else None


def by_chance(right: int, asked: int) -> float:
    """How likely a coin is to guess at least so often."""
    return float(sum(math.comb(asked, count) for count in range(right, asked + 1)) / 2**asked)


def bits(right: int, asked: int) -> float:
    """What a run tells by a value that a rule reads so often rightly: the capacity of a symmetric channel,
    less what a coin would seem to have (one standard deviation).
    """
    share = max(0.5, right / asked - 0.5 / math.sqrt(asked)) if right < asked else 1.0
    wrong = 1 - share
    if wrong == 0:
        return 1.0
    return 1 + wrong * math.log2(wrong) + share * math.log2(share)


def _rules(key: str, rounds: Sequence[Round]) -> Iterable[Rule]:
    yield Rule("is not what it was before", lambda before, after: before != after)
    values = {each.after.get(key) for each in rounds}
    if len(values) == 2:
        for value in sorted(values, key=str):
            yield Rule(f"is {value}", lambda _, after, value=value: after == value)  # type: ignore[misc]
    for words, number in _NUMBERS.items():
        found = [number(each.before.get(key), each.after.get(key)) for each in rounds]
        if any(each is None for each in found):
            continue
        steps = sorted({float(each) for each in found if each is not None})
        for below, above in pairwise(steps):
            edge = (below + above) / 2
            for upper in (True, False):
                yield Rule(
                    f"{words} {'above' if upper else 'below'} {edge:g}",
                    lambda before, after, number=number, edge=edge, upper=upper: _is_beyond(  # type: ignore[misc]
                        number(before, after), edge, upper=upper
                    ),
                )


def _is_beyond(number: float | None, edge: float, *, upper: bool) -> bool:
    return number is not None and (number > edge) == upper


def _itself(_: Value | None, after: Value | None) -> float | None:
    return after if isinstance(after, int | float) else None


def _step(before: Value | None, after: Value | None) -> float | None:
    return after - before if isinstance(after, int | float) and isinstance(before, int | float) else None


_NUMBERS: Mapping[str, Callable[[Value | None, Value | None], float | None]] = {
    "is": _itself,
    "has moved by": _step,
}
