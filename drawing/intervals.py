"""Many released values at one look: each a point with the interval of its noise, in the order of release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from drawing.axis import BOTTOM, TOP, Field, Linear, figure_text, framed

HEIGHT = 200.0
MOST = 2000
NAMED = 3
"""So many values are named in the sentence of the drawing; all of them are in the table beside it."""


@dataclass(frozen=True)
class Mark:
    """One released value; what is None is unknown or would tell about the data."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    lower: float | None = None
    upper: float | None = None


def draw_intervals(marks: Sequence[Mark]) -> str:
    """SVG. Values of equal bounds stand on one axis of numbers; others, each inside its own bounds.

    Raises ValueError for no values, or more than MOST.
    """
    if not 0 < len(marks) <= MOST:
        raise ValueError(f"a drawing has 1 to {MOST} values")
    inside = by_own_bounds(marks)
    heights = [_heights(mark, inside=inside) for mark in marks]
    field = Field(Linear(0.0, len(marks) + 1.0), _upward(heights, inside=inside), HEIGHT)
    body = [field.grid_lines(" %" if inside else ""), field.floor_line()]
    for place, (mark, found) in enumerate(zip(marks, heights, strict=True), start=1):
        body.append(_mark(field, place, mark, found))
    return framed(
        "".join(body),
        kind="intervals",
        name=f"{len(marks)} released values with the 95 % intervals of their noise",
        sentence=sentence(marks, inside=inside),
        height=TOP + HEIGHT + BOTTOM / 2,
    )


def by_own_bounds(marks: Sequence[Mark]) -> bool:
    """Whether each value is drawn as its place inside its own bounds, in percent."""
    bounds = {(mark.lower, mark.upper) for mark in marks}
    return len(bounds) > 1 and all(
        mark.lower is not None and mark.upper is not None and mark.lower < mark.upper for mark in marks
    )


def sentence(marks: Sequence[Mark], *, inside: bool) -> str:
    """What the drawing shows, for those who do not see it."""
    named = ", ".join(f"{mark.name} {figure_text(mark.value)}" for mark in marks[:NAMED])
    more = f", and {len(marks) - NAMED} more" if len(marks) > NAMED else ""
    scale = "Each inside its declared bounds, 0 to 100 %" if inside else "All on one axis"
    return f"{scale}. In the order of the table: {named}{more}."


def _heights(mark: Mark, *, inside: bool) -> tuple[float, float | None, float | None]:
    if not inside:
        return mark.value, mark.low, mark.high
    assert mark.lower is not None
    assert mark.upper is not None
    low, width = mark.lower, mark.upper - mark.lower
    share = [None if number is None else (number - low) / width * 100 for number in (mark.low, mark.high)]
    return (mark.value - low) / width * 100, share[0], share[1]


def _upward(heights: Sequence[tuple[float, float | None, float | None]], *, inside: bool) -> Linear:
    found = [number for three in heights for number in three if number is not None and math.isfinite(number)]
    if inside:
        # one value whose noise is far beyond its bounds must not flatten all others
        found = [min(150.0, max(-50.0, number)) for number in [*found, 0.0, 100.0]]
    return Linear.around(found)


def _mark(field: Field, place: int, mark: Mark, found: tuple[float, float | None, float | None]) -> str:
    x, (value, low, high) = f"{field.x(place):.3f}%", found
    title = f"<title>{escape(f'{mark.name}: {figure_text(mark.value)}')}</title>"
    whisker = ""
    if low is not None and high is not None:
        y1, y2 = field.y(low), field.y(high)
        whisker = f'<line class="noise" x1="{x}" x2="{x}" y1="{y1:.1f}" y2="{y2:.1f}"/>'
    return f'<g>{title}{whisker}<circle class="point" cx="{x}" cy="{field.y(value):.1f}" r="3"/></g>'
