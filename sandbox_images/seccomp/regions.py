"""A rule as disjoint boxes of argument values, for engines that know neither order nor "otherwise".

Docker's format (and libseccomp below it) holds conditions of the form `argument & mask == value`, joined by
"and", at most one for each argument; two rules of one call must not contradict each other. So the part of
all argument values that each case decides is cut into boxes of such conditions.
"""

from collections.abc import Iterator

from .model import Rule, Test, Verdict

_LOW, _ALL = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF

Condition = tuple[int, int]  # mask, value: the argument's masked bits equal value
Box = dict[int, Condition]  # by argument number; all must hold


def regions(rule: Rule, *, default: Verdict) -> Iterator[tuple[Verdict, Box]]:
    """Boxes of every verdict but `default`, which is what lies in no box. Boxes that overlap agree."""
    remaining: list[Box] = [{}]
    for index, case in enumerate(rule.cases):
        held = _conditions(case.test, case.values)
        if case.verdict is not default:
            yield from ((case.verdict, box) for box in _within(remaining, case.argument, held))
        later = {each.verdict for each in rule.cases[index + 1 :]} | {rule.otherwise}
        if case.verdict is default or not later <= {case.verdict, default}:
            remaining = list(_within(remaining, case.argument, _complement(held)))
    if rule.otherwise is not default:
        yield from ((rule.otherwise, box) for box in remaining)


def _conditions(test: Test, values: tuple[int, ...]) -> list[Condition]:
    """Disjoint conditions of which one holds exactly if the test passes."""
    match test:
        case Test.IN:
            return [(_LOW, value) for value in values]
        case Test.NOT_IN:
            return _complement([(_LOW, value) for value in values])
        case Test.ANY_BIT:
            return _complement([(values[0], 0)])
        case Test.MASKED:
            return [(values[0], values[1])]
        case Test.NULL:
            return [(_ALL, 0)]


def _complement(conditions: list[Condition]) -> list[Condition]:
    """Disjoint conditions of which one holds exactly if none of the given ones does."""
    rest: list[Condition] = [(0, 0)]
    for mask, value in conditions:
        rest = [piece for whole in rest for piece in _without(whole, mask, value)]
    return rest


def _without(whole: Condition, mask: int, value: int) -> Iterator[Condition]:
    """`whole` less what (mask, value) holds: a piece for each bit that is the first to differ."""
    fixed, bits = whole
    if fixed & mask & (bits ^ value):
        yield whole  # they exclude each other already
        return
    for position in reversed(range(64)):
        bit = 1 << position
        if mask & bit & ~fixed:
            yield fixed | bit, bits | (~value & bit)
            fixed, bits = fixed | bit, bits | (value & bit)


def _within(boxes: list[Box], argument: int, conditions: list[Condition]) -> Iterator[Box]:
    for box in boxes:
        fixed, bits = box.get(argument, (0, 0))
        for mask, value in conditions:
            if not fixed & mask & (bits ^ value):
                yield {**box, argument: (fixed | mask, bits | value)}
