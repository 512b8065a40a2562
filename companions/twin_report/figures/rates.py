"""Shares with their intervals, one row each, on one scale from 0 to 100 %."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from drawing.axis import framed

ROW, GROUP, LEFT = 22.0, 24.0, 2.0


@dataclass(frozen=True)
class Rate:
    """One share from 0 to 1; without an interval, both ends are the share itself."""

    name: str
    kind: str
    share: float
    low: float
    high: float


def draw_rates(groups: Sequence[tuple[str, Sequence[Rate]]], *, name: str) -> str:
    """Groups with a heading each."""
    parts, top, said = [], 0.0, []
    for heading, rates in groups:
        parts.append(f'<text class="label" x="0" y="{top + 16:.1f}">{escape(heading)}</text>')
        top += GROUP
        for rate in rates:
            parts.append(_row(rate, top))
            top += ROW
        said.append(f"{heading}: " + ", ".join(f"{rate.name} {100 * rate.share:.1f} %" for rate in rates))
        top += 4
    for share in (0.0, 0.5, 1.0):
        side = {0.0: "start", 1.0: "end"}.get(share, "middle")
        parts.append(f'<text x="{_x(share):.2f}%" y="{top + 12:.1f}" text-anchor="{side}">{share:.0%}</text>')
    return framed("".join(parts), kind="rates", name=name, sentence="; ".join(said) + ".", height=top + 16)


def _row(rate: Rate, top: float) -> str:
    title = escape(f"{rate.name}: {100 * rate.share:.1f} % ({100 * rate.low:.1f} to {100 * rate.high:.1f} %)")
    y = f"{top + 12:.1f}"
    # the words stand where the mark does not
    side, at = ("end", 100.0) if rate.high < 0.55 else ("start", 0.0)
    return (
        f'<g><title>{title}</title><line class="grid" x1="{_x(0):.2f}%" x2="{_x(1):.2f}%" y1="{y}" y2="{y}"/>'
        f'<line class="{rate.kind}" x1="{_x(rate.low):.2f}%" x2="{_x(rate.high):.2f}%" y1="{y}" y2="{y}"/>'
        f'<circle class="{rate.kind}" cx="{_x(rate.share):.2f}%" cy="{y}" r="5"/>'
        f'<text x="{at}%" y="{top + 8:.1f}" text-anchor="{side}">{escape(rate.name)} '
        f"{100 * rate.share:.1f} %</text></g>"
    )


def _x(share: float) -> float:
    return LEFT + (100 - 2 * LEFT) * min(1.0, max(0.0, share))
