"""The error to expect against epsilon or another amount, with what the budget still allows and the point that
was chosen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from drawing.axis import BOTTOM, TOP, Field, Logarithmic, figure_text, framed

HEIGHT = 240.0
"""Of the field, in pixels."""


@dataclass(frozen=True)
class Curve:
    """One way of making a value: pairs of epsilon and error, both above 0, by increasing epsilon."""

    name: str
    points: tuple[tuple[float, float], ...]
    is_chosen: bool = False

    def at(self, epsilon: float) -> float:
        """The error between two points as if it were a power of epsilon; at the ends, that of the end."""
        if epsilon <= self.points[0][0]:
            return self.points[0][1]
        for (low, first), (high, second) in pairwise(self.points):
            if epsilon <= high:
                share = math.log(epsilon / low) / math.log(high / low)
                return math.exp((1 - share) * math.log(first) + share * math.log(second))
        return self.points[-1][1]


@dataclass(frozen=True)
class ErrorCurve:
    """Everything that the drawing shows. `unit` names the amounts below the curves, `floor` is the error that
    no amount removes. What is None is not drawn."""

    output: str
    curves: tuple[Curve, ...]
    chosen: float | None = None
    left: float | None = None
    cap: float | None = None
    floor: float | None = None
    unit: str = "epsilon"


def draw_error_curve(shown: ErrorCurve) -> str:
    """SVG. Raises ValueError where there is no curve with a point."""
    field = field_of(shown)
    parts = [field.grid_lines(), field.floor_line(), field.numbers_below(), _caption(field, shown.unit)]
    parts += [
        _limit(field, "cap", shown.cap, "most per job"),
        _limit(field, "left", shown.left, "budget left"),
    ]
    if shown.floor and _is_inside(field.upward, shown.floor):
        at = f"{field.y(shown.floor):.1f}"
        parts.append(f'<line class="bound" x1="0" x2="100%" y1="{at}" y2="{at}"/>')
    for curve in sorted(shown.curves, key=lambda curve: curve.is_chosen):
        kind = "curve chosen" if curve.is_chosen else "curve other"
        parts.append(field.segments(kind, curve.points))
    parts.append(_point(field, shown))
    return framed(
        "".join(parts),
        kind="error-curve",
        name=f"Expected error of {shown.output} against {shown.unit}",
        sentence=sentence(shown),
        height=TOP + HEIGHT + BOTTOM + 14,
    )


def field_of(shown: ErrorCurve) -> Field:
    """Both axes logarithmic: halving the error costs twice the epsilon, and the curve is a straight line."""
    points = [point for curve in shown.curves for point in curve.points]
    if not points:
        raise ValueError("there is no curve to draw")
    epsilons = [epsilon for epsilon, _ in points] + [
        amount for amount in (shown.chosen, shown.left, shown.cap) if amount
    ]
    errors = [error for _, error in points]
    return Field(
        across=Logarithmic(min(epsilons), max(epsilons)),
        upward=Logarithmic(min(errors) * 0.8, max(errors) * 1.25),
        height=HEIGHT,
    )


def sentence(shown: ErrorCurve) -> str:
    """What the drawing shows, for those who do not see it."""
    parts = [f"{curve.name}: {_ends(curve.points, shown.unit)}" for curve in shown.curves]
    chosen = chosen_curve(shown)
    if shown.chosen and chosen:
        parts.append(
            f"at the chosen {shown.unit} {figure_text(shown.chosen)} the error stays within "
            f"{figure_text(chosen.at(shown.chosen))} 95 times in 100"
        )
    if shown.left is not None:
        parts.append(f"budget left {figure_text(shown.left)}")
    if shown.cap is not None:
        parts.append(f"at most {figure_text(shown.cap)} for one job")
    return "; ".join(parts) + "."


def chosen_curve(shown: ErrorCurve) -> Curve | None:
    return next((curve for curve in shown.curves if curve.is_chosen), None)


def _ends(points: Sequence[tuple[float, float]], unit: str) -> str:
    (low, first), (high, last) = points[0], points[-1]
    start = f"error {figure_text(first)} at {unit} {figure_text(low)}"
    return f"{start}, {figure_text(last)} at {figure_text(high)}"


def _limit(field: Field, kind: str, epsilon: float | None, label: str) -> str:
    """A line at an epsilon; what lies beyond cannot be asked, and the ground there is shaded."""
    if not epsilon or epsilon <= 0:
        return ""
    # the two words may stand close together: one above the other
    above = 15.0 if kind == "cap" else 2.0
    line = field.upright(f"limit {kind}", epsilon, f"{label} {figure_text(epsilon)}", above=above)
    return field.shade("beyond", epsilon) + line


def _point(field: Field, shown: ErrorCurve) -> str:
    curve = chosen_curve(shown)
    if not shown.chosen or curve is None:
        return ""
    x, y = field.x(shown.chosen), field.y(curve.at(shown.chosen))
    return (
        f'<line class="guide" x1="{x:.2f}%" x2="{x:.2f}%" y1="{y:.1f}" y2="{field.floor:.1f}"/>'
        f'<circle class="point" cx="{x:.2f}%" cy="{y:.1f}" r="6"/>'
    )


def _caption(field: Field, unit: str) -> str:
    at = f'x="100%" y="{field.floor + 38:.1f}"'
    return f'<text class="caption" {at} text-anchor="end">{escape(unit)} →</text>'


def _is_inside(axis: Logarithmic | object, value: float) -> bool:
    return isinstance(axis, Logarithmic) and axis.low <= value <= axis.high
