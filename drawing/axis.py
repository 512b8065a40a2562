"""Where a number stands in a drawing, which ticks an axis has, and the frame of every drawing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from html import escape
from itertools import pairwise
from typing import Protocol

MARGIN = 2.0
"""Percent of the width that stays free on both sides: a mark at the very end stays whole."""

TOP, BOTTOM = 30.0, 28.0
"""Pixels above and below the field: two lines of text and one."""

_STEPS = (1.0, 2.0, 5.0, 10.0)


class Axis(Protocol):
    """From a number to its share of the way, 0 at the low end and 1 at the high one."""

    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    def share(self, value: float) -> float: ...
    def ticks(self, most: int = 6) -> tuple[float, ...]: ...


@dataclass(frozen=True)
class Linear:
    """Equal distances for equal differences. Ends that coincide are moved apart."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high)):
            raise ValueError("an axis has finite ends")
        if self.high / 2 - self.low / 2 <= 0:
            room = abs(self.low) / 2 or 0.5
            object.__setattr__(self, "high", self.low + room)
            object.__setattr__(self, "low", self.low - room)

    def share(self, value: float) -> float:
        # halves: the difference of two ends may be beyond the largest float
        return _within((value / 2 - self.low / 2) / (self.high / 2 - self.low / 2))

    def ticks(self, most: int = 6) -> tuple[float, ...]:
        """Round numbers inside, at most so many, the step being 1, 2 or 5 times a power of ten."""
        width = self.high - self.low
        if not math.isfinite(width):
            return (self.low, 0.0, self.high)
        rough = width / most
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(factor * power for factor in _STEPS if factor * power >= rough * (1 - 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return tuple(_tidy(number * step) for number in range(first, last + 1))

    @classmethod
    def around(cls, values: Iterable[float]) -> Linear:
        """All of these, and at least one."""
        found = [value for value in values if math.isfinite(value)]
        return cls(min(found), max(found))


@dataclass(frozen=True)
class Logarithmic:
    """Equal distances for equal ratios; both ends are above 0."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (0 < self.low <= self.high < math.inf):
            raise ValueError("a logarithmic axis goes from a number above 0 to a finite one")
        if self.high == self.low:
            object.__setattr__(self, "high", self.low * 2)
            object.__setattr__(self, "low", self.low / 2)

    def share(self, value: float) -> float:
        if value <= 0:
            return 0.0
        return _within(math.log(value / self.low) / math.log(self.high / self.low))

    def ticks(self, most: int = 6) -> tuple[float, ...]:
        """1, 2 and 5 times powers of ten where they are few, else powers of ten, else some of those."""
        lowest, highest = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        for factors, stride in (((1, 2, 5), 1), ((1, 3), 1), ((1,), 1), ((1,), 2), ((1,), 4), ((1,), 16)):
            found = [
                _tidy(factor * 10.0**power)
                for power in range(lowest, highest + 1)
                if power % stride == 0
                for factor in factors
            ]
            inside = [tick for tick in found if self.low * (1 - 1e-9) <= tick <= self.high * (1 + 1e-9)]
            if len(inside) <= most:
                return tuple(inside)
        return (self.low, self.high)


@dataclass(frozen=True)
class Field:
    """The inner part of a drawing. `height` is its own, in pixels; x is in percent, y in pixels."""

    across: Axis
    upward: Axis
    height: float

    def x(self, value: float) -> float:
        return MARGIN + (100 - 2 * MARGIN) * self.across.share(value)

    def y(self, value: float) -> float:
        return TOP + self.height * (1 - self.upward.share(value))

    @property
    def floor(self) -> float:
        return TOP + self.height

    def grid_lines(self, unit: str = "") -> str:
        """Horizontal lines with their numbers on them, where they cover no column of the drawing."""
        lines = []
        for tick in self.upward.ticks(5):
            at = f"{self.y(tick):.1f}"
            lines.append(f'<line class="grid" x1="0" x2="100%" y1="{at}" y2="{at}"/>')
            text = escape(f"{figure_text(tick)}{unit}")
            lines.append(f'<text class="tick" x="0" y="{self.y(tick) - 4:.1f}">{text}</text>')
        return "".join(lines)

    def floor_line(self) -> str:
        at = f"{self.floor:.1f}"
        return f'<line class="floor" x1="0" x2="100%" y1="{at}" y2="{at}"/>'

    def numbers_below(self) -> str:
        """The ticks of the horizontal axis, each with its number; those at the ends stay inside."""
        return "".join(
            f'<line class="floor" x1="{self.x(tick):.2f}%" x2="{self.x(tick):.2f}%" y1="{self.floor:.1f}" '
            f'y2="{self.floor + 5:.1f}"/>'
            f'<text class="tick" x="{self.x(tick):.2f}%" y="{self.floor + 19:.1f}" '
            f'text-anchor="{anchor(self.x(tick))}">{figure_text(tick)}</text>'
            for tick in self.across.ticks()
        )

    def upright(self, kind: str, value: float, label: str, *, above: float = 8) -> str:
        """A vertical line at a number, with words so many pixels above the field."""
        at = self.x(value)
        return (
            f'<line class="{kind}" x1="{at:.2f}%" x2="{at:.2f}%" y1="{TOP:.1f}" y2="{self.floor:.1f}"/>'
            f'<text class="mark" x="{at:.2f}%" y="{TOP - above:.1f}" text-anchor="{anchor(at)}">'
            f"{escape(label)}</text>"
        )

    def shade(self, kind: str, start: float) -> str:
        """The ground from a number to the right end."""
        at = self.x(start)
        return (
            f'<rect class="{kind}" x="{at:.2f}%" y="{TOP:.1f}" width="{100 - at:.2f}%" '
            f'height="{self.height:.1f}"/>'
        )

    def segments(self, kind: str, points: Sequence[tuple[float, float]]) -> str:
        """A line through these points, from left to right."""
        return "".join(
            f'<line class="{kind}" x1="{self.x(start[0]):.2f}%" y1="{self.y(start[1]):.1f}" '
            f'x2="{self.x(end[0]):.2f}%" y2="{self.y(end[1]):.1f}"/>'
            for start, end in pairwise(points)
        )


def framed(body: str, *, kind: str, name: str, sentence: str, height: float) -> str:
    """A drawing of this height in pixels. `name` is what it is called, `sentence` all that it shows."""
    return (
        f'<svg class="chart {kind}" role="img" aria-label="{escape(f"{name}. {sentence}")}" width="100%" '
        f'height="{height:.0f}"><title>{escape(name)}</title><desc>{escape(sentence)}</desc>{body}</svg>'
    )


def figure_text(value: float) -> str:
    """A number as people read it, with a real minus sign; at most four digits."""
    text = f"{value:.4g}"
    if "e" in text and 1 <= abs(value) < 1e6:
        text = f"{value:.0f}"
    elif "e" in text and 1e-9 <= abs(value) < 1:
        text = f"{Decimal(text):f}"
    return text.replace("-", "−", 1) if value < 0 else text


def anchor(percent: float) -> str:
    """How a text at this place stays inside the drawing."""
    return "start" if percent < 12 else "end" if percent > 88 else "middle"


def _tidy(value: float) -> float:
    return float(f"{value:.12g}")


def _within(share: float) -> float:
    return min(1.0, max(0.0, share))
