"""One released value on a line: the point, the interval of its noise, and the declared bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from drawing.axis import MARGIN, Linear, figure_text, framed

HEIGHT = 34.0
MIDDLE = HEIGHT / 2
"""Of the line; the interval for the population lies below it."""


@dataclass(frozen=True)
class Strip:
    """A released value; pairs are from and to. What is None is unknown, or would tell about the data."""

    name: str
    value: float
    noise: tuple[float, float] | None = None
    sampling: tuple[float, float] | None = None
    bounds: tuple[float, float] | None = None

    @property
    def pairs(self) -> tuple[tuple[float, float], ...]:
        return tuple(pair for pair in (self.noise, self.sampling, self.bounds) if pair is not None)


def draw_strip(shown: Strip) -> str:
    """SVG. Raises ValueError for a number that is not finite."""
    axis = axis_of(shown)
    parts = [_line("range", _x(axis, axis.low), _x(axis, axis.high))]
    if shown.bounds is not None:
        low, high = (_x(axis, end) for end in shown.bounds)
        parts = [_line("range", low, high), _upright("edge", low), _upright("edge", high)]
    if shown.noise is not None:
        parts.append(_line("noise", *(_x(axis, end) for end in shown.noise)))
    if shown.sampling is not None:
        parts.append(_line("sampling", *(_x(axis, end) for end in shown.sampling), at=MIDDLE + 13))
    parts.append(f'<circle class="point" cx="{_x(axis, shown.value):.2f}%" cy="{MIDDLE:.0f}" r="6.5"/>')
    return framed("".join(parts), kind="strip", name=shown.name, sentence=sentence(shown), height=HEIGHT)


def axis_of(shown: Strip) -> Linear:
    """Everything that the strip shows; a number alone stands in the middle."""
    numbers = [shown.value, *(end for pair in shown.pairs for end in pair)]
    if not all(math.isfinite(number) for number in numbers):
        raise ValueError("a strip shows finite numbers")
    return Linear.around(numbers)


def sentence(shown: Strip) -> str:
    """What the drawing shows, for those who do not see it."""
    parts = [f"Released value {figure_text(shown.value)}"]
    for name, pair in (
        ("95 % noise interval", shown.noise),
        ("95 % interval for the population", shown.sampling),
        ("declared bounds", shown.bounds),
    ):
        parts += [f"{name} {span_text(pair)}"] if pair else []
    return ", ".join(parts) + "."


def span_text(pair: Sequence[float]) -> str:
    """From and to, as people read them."""
    return " to ".join(figure_text(end) for end in pair)


def _x(axis: Linear, value: float) -> float:
    return MARGIN + (100 - 2 * MARGIN) * axis.share(value)


def _line(kind: str, start: float, end: float, *, at: float = MIDDLE) -> str:
    return f'<line class="{kind}" x1="{start:.2f}%" x2="{end:.2f}%" y1="{at:.0f}" y2="{at:.0f}"/>'


def _upright(kind: str, at: float) -> str:
    return (
        f'<line class="{kind}" x1="{at:.2f}%" x2="{at:.2f}%" y1="{MIDDLE - 10:.0f}" y2="{MIDDLE + 10:.0f}"/>'
    )
