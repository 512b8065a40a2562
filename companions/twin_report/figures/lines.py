"""Curves and points in a field: cumulative shares, distances to the nearest row, logarithms of moments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from drawing.axis import BOTTOM, TOP, Field, Linear, figure_text, framed


@dataclass(frozen=True)
class Line:
    """Points from left to right; `kind` is a class of the style sheet."""

    name: str
    kind: str
    points: Sequence[tuple[float, float]]


def draw_lines(
    lines: Sequence[Line],
    *,
    name: str,
    sentence: str,
    upward: tuple[float, float] = (0, 1),
    height: float = 110,
) -> str:
    """Several curves over one axis."""
    points = [point for line in lines for point in line.points]
    if not points:
        return framed("", kind="lines", name=name, sentence="nothing to draw.", height=1)
    field = Field(Linear.around([x for x, _ in points]), Linear(*upward), height)
    body = [field.grid_lines(), field.floor_line(), _ends(field)]
    body += [field.segments(line.kind, line.points) for line in lines]
    return framed("".join(body), kind="lines", name=name, sentence=sentence, height=TOP + height + BOTTOM)


@dataclass(frozen=True)
class Dot:
    """One column: the first table's number to the right, the twin's upwards."""

    name: str
    first: float
    twin: float


def draw_scatter(dots: Sequence[Dot], *, name: str, height: float = 260) -> str:
    """Points and the line on which both are equal."""
    if not dots:
        return framed("", kind="scatter", name=name, sentence="no columns of numbers.", height=1)
    axis = Linear.around([value for dot in dots for value in (dot.first, dot.twin)])
    room = (axis.high - axis.low) * 0.05
    axis = Linear(axis.low - room, axis.high + room)
    field = Field(axis, axis, height)
    body = [field.grid_lines(), field.floor_line(), field.numbers_below()]
    body.append(field.segments("identity", [(axis.low, axis.low), (axis.high, axis.high)]))
    for dot in dots:
        title = escape(f"{dot.name}: {figure_text(dot.first)}, twin {figure_text(dot.twin)}")
        body.append(
            f'<circle class="twin" cx="{field.x(dot.first):.2f}%" cy="{field.y(dot.twin):.1f}" r="4.5">'
            f"<title>{title}</title></circle>"
        )
    far = max(dots, key=lambda dot: abs(dot.first - dot.twin))
    said = f"Farthest from the line: {far.name}, {figure_text(far.first)} and {figure_text(far.twin)}."
    return framed("".join(body), kind="scatter", name=name, sentence=said, height=TOP + height + BOTTOM)


def _ends(field: Field) -> str:
    low, high = figure_text(field.across.low), figure_text(field.across.high)
    at = f"{field.floor + 16:.1f}"
    return f'<text x="0" y="{at}">{low}</text><text x="100%" y="{at}" text-anchor="end">{high}</text>'
