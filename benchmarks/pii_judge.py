"""How many identifying columns of others are found, and how many calls are right, with Wilson's intervals.

A column is found if it is called direct. `kept` counts direct columns that the scan proposes to keep; `asked`
are harmless columns for which it proposes anything else, although it does not call them direct.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pii_others import CHOSEN, HELD_OUT, Other, others

from twins.evaluation.proportions import Proportion
from twins.pii import Action, Class, Finding
from twins.pii.column import ColumnScan
from twins.pii.model import Model

Judged = list[tuple[Other, Finding]]


def judge_others(lent: Path, model: Model, *, each: bool) -> None:
    """Prints a line for each half, kind of header and source; with `each`, one for each wrong column too."""
    found = list(others(lent))
    print(f"\n{'columns of others':<28}{'header':<8}{'recall':>28}{'precision':>28}{'kept':>6}{'asked':>11}")
    for half in (CHOSEN, HELD_OUT):
        of_half = [column for column in found if column.half == half]
        for is_shown in (False, True):
            judged = [(column, _finding(column, model, is_shown=is_shown)) for column in of_half]
            for source in (*sorted({column.source for column in of_half}), None):
                part = [(column, said) for column, said in judged if source in (None, column.source)]
                print(_line(f"{half}, {source or 'all'}", is_shown, part))
            if each:
                _print_wrong(judged)


def _finding(column: Other, model: Model, *, is_shown: bool) -> Finding:
    scan = ColumnScan(column.header if is_shown else None, model=model)
    scan.add(column.values)
    return scan.finish()


def _line(title: str, is_shown: bool, judged: Judged) -> str:
    counted = Counter(
        (column.expected, said.classification is Class.DIRECT, said.proposed is Action.KEEP)
        for column, said in judged
    )
    hit = sum(
        count for (expected, is_called, _), count in counted.items() if expected == "direct" and is_called
    )
    direct = sum(count for (expected, _, _), count in counted.items() if expected == "direct")
    wrong = sum(
        count for (expected, is_called, _), count in counted.items() if expected == "none" and is_called
    )
    harmless = sum(count for (expected, _, _), count in counted.items() if expected == "none")
    kept = sum(count for (expected, _, is_kept), count in counted.items() if expected == "direct" and is_kept)
    asked = counted["none", False, False]
    return (
        f"{title:<28}{'shown' if is_shown else 'hidden':<8}"
        f"{_share(hit, direct):>28}{_share(hit, hit + wrong):>28}"
        f"{kept:>6}{f'{asked}/{harmless}':>11}"
    )


def _share(count: int, total: int) -> str:
    if not total:
        return "-"
    low, high = Proportion(count, total).interval()
    return f"{count}/{total} {count / total:.3f} [{low:.3f}, {high:.3f}]"


def _print_wrong(judged: Sequence[tuple[Other, Finding]]) -> None:
    for column, said in judged:
        is_called = said.classification is Class.DIRECT
        if is_called != (column.expected == "direct"):
            where = f"{column.source} {column.table} {column.header!r}"
            print(f"    {column.expected:<7}{where}: {said.kind} {said.proposed}")
