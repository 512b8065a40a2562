"""From the exact sums of a query to named, noised numbers and the file that holds them."""

from __future__ import annotations

import csv
import io
from fractions import Fraction

from domain.dataset import Declaration
from domain.query import QueryRequest
from domain.query.expected import rank_words
from privacy.loss import GuaranteeClass
from privacy.trusted.query import MECHANISM, RELATION
from worker.drawn import Drawn, DrawnValue, text
from worker.scan.chunk import unpack_sums

FILE = "result.csv"


def draw_query(request: QueryRequest, declaration: Declaration, packed: bytes) -> Drawn:
    """Add the noise, once. The un-noised sums do not leave this function."""
    mechanism = request.mechanism_for(declaration)
    noised = mechanism.release(unpack_sums(packed))
    names = request.outputs(declaration)
    values = tuple(
        DrawnValue(name, output, step=step)
        for name, output, step in zip(names, noised, mechanism.steps, strict=True)
    )
    return Drawn(
        mechanism=MECHANISM,
        guarantee=GuaranteeClass.PURE_DP,
        relation=RELATION,
        parameters={
            "rows": mechanism.rows,
            "bounds": [[str(grid.lower), str(grid.upper)] for grid in mechanism.grids],
            **mechanism.parameters(),
        },
        limit=request.limit(declaration),
        ranks=rank_words(request, declaration),
        values=values,
        files={FILE: _table(request, declaration, values).encode()},
    )


def _table(request: QueryRequest, declaration: Declaration, values: tuple[DrawnValue, ...]) -> str:
    """One line for each number, behind the categories of its group."""
    groups = request.groups(declaration)
    per_group = len(values) // len(groups)
    file = io.StringIO()
    lines = csv.writer(file, lineterminator="\n")
    lines.writerow([*request.query.by, "output", "value", "lower_95", "upper_95"])
    for position, value in enumerate(values):
        group = groups[position // per_group]
        output = value.name.removeprefix(", ".join(group) + ": ") if group else value.name
        lines.writerow([*group, output, text(value), *_ends(value)])
    return file.getvalue()


def _ends(value: DrawnValue) -> tuple[str, str]:
    """Of the interval for the noise, with as many digits as the value; empty where there is none."""
    half, exact = value.output.half_width_95, value.output.value
    if half is None:
        return "", ""
    decimals = len(text(value).partition(".")[2])
    return _round(exact - half, decimals), _round(exact + half, decimals)


def _round(number: Fraction, decimals: int) -> str:
    return f"{float(number):.{decimals}f}"
