"""Geometry of the drawings. Positions are percentages, so a drawing fits every screen without a script."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from domain.release import ReleasedValue
from gateway.pages.layout import number

MARGIN = 0.03
"""Of the width, on both sides: the mark of a value at the very end stays whole."""
WIDE = 0.9
"""An interval that covers so much of the declared range says hardly anything."""


@dataclass(frozen=True)
class Span:
    """From and to, in percent of the width."""

    start: str
    end: str


@dataclass(frozen=True)
class Bar:
    """From zero to the value, for values that people compare; places in percent."""

    zero: str
    start: str
    width: str


@dataclass(frozen=True)
class Strip:
    """One released value inside its bounds. What is unknown is None."""

    name: str
    value: str
    # what noise has carried beyond the bounds, where `value` is the nearest of them; else empty
    drawn: str
    plus_minus: str
    sentence: str
    point: str
    bar: Bar | None
    bounds: Span | None
    noise: Span | None
    sampling: Span | None
    low: str
    high: str
    says_little: bool


@dataclass(frozen=True)
class Extent:
    """The numbers that a strip shows, from left to right."""

    low: float
    high: float

    def share(self, value: float) -> float:
        """The place of a value in percent of the width."""
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return 100 * (MARGIN + (1 - 2 * MARGIN) * min(1.0, max(0.0, share)))

    def at(self, value: float) -> str:
        return f"{self.share(value):.2f}%"

    def span(self, start: float, end: float) -> Span:
        return Span(self.at(start), self.at(end))


def strips(
    values: Sequence[ReleasedValue], bounds: dict[str, tuple[float, float]], *, together: bool
) -> list[Strip]:
    """A strip for each value; with `together` all on one scale, for values that people compare."""
    extents = [_extent([value], bounds) for value in values]
    if together and values:
        shared = _extent(values, bounds)
        extents = [Extent(min(0.0, shared.low), max(0.0, shared.high))] * len(values)
    return [
        _strip(value, bounds.get(value.name), extent, together=together)
        for value, extent in zip(values, extents, strict=True)
    ]


def rounded(value: float, half: float | None) -> str:
    """A value with the digits that its noise leaves a meaning: two of the interval's half width."""
    if half is None or half <= 0 or not math.isfinite(half):
        return number(value)
    places = max(0, 1 - math.floor(math.log10(half)))
    return f"{value:,.{min(places, 12)}f}".replace("-", "−")


def _strip(
    value: ReleasedValue, bounds: tuple[float, float] | None, extent: Extent, *, together: bool
) -> Strip:
    low, high = value.lower_95, value.upper_95
    half = None if low is None or high is None else (high - low) / 2
    sampled_low, sampled_high = value.sampling_lower_95, value.sampling_upper_95
    has_sampling = sampled_low is not None and sampled_high is not None
    return Strip(
        name=value.name,
        value=rounded(value.headline, half),
        drawn="" if value.projected is None else rounded(value.value, half),
        plus_minus="" if half is None else rounded(half, half),
        sentence=_sentence(value, bounds, half),
        point=extent.at(value.value),
        bar=_bar(value.value, extent) if together else None,
        bounds=None if bounds is None else extent.span(*bounds),
        noise=None if low is None or high is None else extent.span(low, high),
        sampling=extent.span(sampled_low, sampled_high) if has_sampling else None,  # type: ignore[arg-type]
        low=number(float(f"{extent.low:.4g}")),
        high=number(float(f"{extent.high:.4g}")),
        says_little=half is not None and bounds is not None and 2 * half > WIDE * (bounds[1] - bounds[0]),
    )


def _bar(value: float, extent: Extent) -> Bar:
    start, end = extent.share(min(0.0, value)), extent.share(max(0.0, value))
    return Bar(zero=extent.at(0.0), start=f"{start:.2f}%", width=f"{end - start:.2f}%")


def _sentence(value: ReleasedValue, bounds: tuple[float, float] | None, half: float | None) -> str:
    parts = [f"{value.name}: {rounded(value.headline, half)}"]
    if value.projected is not None:
        parts.append(f"drawn {rounded(value.value, half)}")
    if half is not None:
        parts.append(f"95 % noise interval {number(value.lower_95)} to {number(value.upper_95)}")
    if value.sampling_lower_95 is not None:
        low, high = number(value.sampling_lower_95), number(value.sampling_upper_95)
        parts.append(f"95 % interval for the population {low} to {high}")
    if bounds is not None:
        parts.append(f"declared bounds {number(bounds[0])} to {number(bounds[1])}")
    return ", ".join(parts)


def _extent(values: Sequence[ReleasedValue], bounds: dict[str, tuple[float, float]]) -> Extent:
    numbers = [number for value in values for number in _numbers(value, bounds.get(value.name))]
    low, high = min(numbers), max(numbers)
    room = abs(high) or 1.0
    return Extent(low, high) if high > low else Extent(low - room, high + room)


def _numbers(value: ReleasedValue, bounds: tuple[float, float] | None) -> list[float]:
    known = (
        value.value,
        value.lower_95,
        value.upper_95,
        value.sampling_lower_95,
        value.sampling_upper_95,
        *(bounds or ()),
    )
    return [number for number in known if number is not None]
