"""An account over time: what was spent, what is set aside on top of it, and the cap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from drawing.axis import BOTTOM, TOP, Field, Linear, anchor, figure_text, framed

HEIGHT = 150.0
"""Of the field, in pixels."""


@dataclass(frozen=True)
class Standing:
    """From this moment (seconds since any start) so much is spent and set aside, until the next one."""

    at: float
    spent: float
    reserved: float


@dataclass(frozen=True)
class Timeline:
    """One account in one currency. `start` and `end` are seconds like those of the standings, with the words
    for them; `sentence` says all that the drawing shows."""

    currency: str
    cap: float
    standings: tuple[Standing, ...]
    start: tuple[float, str]
    end: tuple[float, str]
    sentence: str


def draw_timeline(shown: Timeline) -> str:
    """SVG. Steps, never slopes: an account changes at a moment."""
    field = field_of(shown)
    parts = [field.grid_lines(), *_areas(field, shown.standings, shown.end[0]), field.floor_line()]
    parts.append(_steps(field, shown.standings, shown.end[0]))
    parts.append(_cap(field, shown.cap))
    parts += [_day(field, *shown.start), _day(field, *shown.end)]
    return framed(
        "".join(parts),
        kind="timeline",
        name=f"{shown.currency.capitalize()} spent over time",
        sentence=shown.sentence,
        height=TOP + HEIGHT + BOTTOM,
    )


def field_of(shown: Timeline) -> Field:
    """Time from left to right; upwards from nothing to the cap."""
    return Field(Linear(shown.start[0], shown.end[0]), Linear(0.0, shown.cap), HEIGHT)


def _areas(field: Field, standings: Sequence[Standing], end: float) -> list[str]:
    found = []
    for standing, until in _spans(standings, end):
        x, width = field.x(standing.at), field.x(until) - field.x(standing.at)
        spent = field.y(standing.spent)
        found.append(_rect("spent", x, width, spent, field.floor - spent))
        if standing.reserved:
            top = field.y(standing.spent + standing.reserved)
            found.append(_rect("reserved", x, width, top, spent - top))
    return found


def _steps(field: Field, standings: Sequence[Standing], end: float) -> str:
    """The line of what is spent: up at a moment, then level."""
    lines, before = [], 0.0
    for standing, until in _spans(standings, end):
        x, y = f"{field.x(standing.at):.2f}%", f"{field.y(standing.spent):.1f}"
        lines.append(f'<line class="step" x1="{x}" x2="{x}" y1="{field.y(before):.1f}" y2="{y}"/>')
        lines.append(f'<line class="step" x1="{x}" x2="{field.x(until):.2f}%" y1="{y}" y2="{y}"/>')
        before = standing.spent
    return "".join(lines)


def _spans(standings: Sequence[Standing], end: float) -> list[tuple[Standing, float]]:
    """Each standing with the moment until which it holds."""
    pairs = [(standing, following.at) for standing, following in pairwise(standings)]
    return [*pairs, (standings[-1], end)] if standings else []


def _rect(kind: str, x: float, width: float, y: float, height: float) -> str:
    return f'<rect class="{kind}" x="{x:.2f}%" width="{width:.2f}%" y="{y:.1f}" height="{height:.1f}"/>'


def _cap(field: Field, cap: float) -> str:
    y = field.y(cap)
    return (
        f'<line class="cap" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text class="mark" x="100%" y="{y - 8:.1f}" text-anchor="end">cap {figure_text(cap)}</text>'
    )


def _day(field: Field, at: float, words: str) -> str:
    x = field.x(at)
    return (
        f'<text class="tick" x="{x:.2f}%" y="{field.floor + 19:.1f}" text-anchor="{anchor(x)}">'
        f"{escape(words)}</text>"
    )
