"""From the cell of a file to a declared value: whole grid steps of a number, or one of the declared
categories.

Anything else counts as missing: no value, NaN, an infinity, a number that no 64-bit count of steps reaches,
text that is no number, a category that nobody declared. Each rule looks at one cell alone and none can fail,
so what one person's row holds decides nothing about another's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from domain.dataset import Column
from domain.query.columns import declared_grid
from domain.query.filters import Comparison, Operator
from privacy.grid import OutputGrid

# every character that Python's str.strip() takes away, as the import of a data set does for names
_SPACES = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())

_SQL = {
    Operator.EQUAL: "=",
    Operator.DIFFERENT: "<>",
    Operator.LESS: "<",
    Operator.AT_MOST: "<=",
    Operator.GREATER: ">",
    Operator.AT_LEAST: ">=",
}


class Parameters:
    """Values of a statement, by the names that stand for them in it: no value is ever spliced into SQL."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}

    def bind(self, value: float | str | int) -> str:
        name = f"v{len(self._values)}"
        self._values[name] = value
        return f"${name}"

    def bind_all(self, values: Sequence[float | str | int]) -> str:
        return "(" + ", ".join(map(self.bind, values)) + ")"

    @property
    def values(self) -> Mapping[str, Any]:
        return self._values


def number(cell: str, column: Column, *, is_text: bool, parameters: Parameters) -> str:
    """SQL for the number in a cell: a double, or NULL."""
    present = f"nullif({cell}, {parameters.bind(column.missing)})" if is_text else cell
    return f"TRY_CAST({present} AS DOUBLE)"


def steps(value: str, grid: OutputGrid, *, is_down: bool = True) -> str:
    """SQL for a double in whole steps above the grid's lower bound, not clipped yet; NULL where it has none.
    The step below it, or else the nearest: half a step of each of a million rows is more than noise.

    Doubles round, and may do so here: each row's whole number is a function of that row alone, and it is
    whole before anything is added up. The factor is a power of two.
    """
    half = 0.0 if is_down else 0.5
    exact = f"({value} - {float(grid.lower)!r}) * {float(1 / grid.step)!r}"
    return f"TRY_CAST(floor({exact} + {half}) AS BIGINT)"


def clipped(whole: str, grid: OutputGrid) -> str:
    """SQL for steps that lie in 0..cells whatever the cell held; NULL stays NULL."""
    return (
        f"CASE WHEN {whole} BETWEEN 0 AND {grid.cells} THEN {whole} "
        f"WHEN {whole} < 0 THEN 0 WHEN {whole} > {grid.cells} THEN {grid.cells} END"
    )


def category(cell: str, column: Column, parameters: Parameters) -> str:
    """SQL for a declared category, or NULL. An empty cell is the empty category, if that is declared."""
    present = f"coalesce({cell}, '')" if "" in column.categories else cell
    return f"CASE WHEN {present} IN {parameters.bind_all(column.categories)} THEN {present} END"


def person(cell: str, parameters: Parameters, *, is_text: bool) -> str:
    """SQL for the name of a person, in the spelling that the import compares; a number stands for itself."""
    if not is_text:
        return cell
    spaced = f"trim({cell}, {parameters.bind(_SPACES)})"
    # nearly every name has nothing to take away, which is quicker to see than to do
    is_bare = f"{cell}[1] BETWEEN '!' AND '~' AND {cell}[-1] BETWEEN '!' AND '~'"
    return f"CASE WHEN {is_bare} THEN {cell} ELSE {spaced} END"


def measured(value: str, column: Column, parameters: Parameters) -> str:
    """SQL for a double as conditions compare it: itself within the declared bounds, else the nearer of them;
    NULL where it has no steps. Not in steps: one of a wide column holds several whole numbers."""
    lower, upper = map(parameters.bind, map(float, column.bounds))
    reached = f"{steps(value, declared_grid(column))} IS NOT NULL"
    return f"CASE WHEN {reached} THEN least(greatest({value}, {lower}), {upper}) END"


def condition(value: str, comparison: Comparison, column: Column, parameters: Parameters) -> str:
    """SQL that is true where a declared value (a measured number, or a category) meets the comparison."""
    if column.kind == "categorical":
        different = comparison.operator is Operator.DIFFERENT
        wanted = [name for name in column.categories if (name in comparison.values) is not different]
        return f"{value} IN {parameters.bind_all(wanted)}" if wanted else "FALSE"
    if comparison.operator is Operator.ONE_OF:
        return f"{value} IN {parameters.bind_all(comparison.values)}"
    return f"{value} {_SQL[comparison.operator]} {parameters.bind(comparison.values[0])}"
