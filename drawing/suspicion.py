"""How far suspicions about one person can grow: from what somebody thought before to the bound after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from drawing.axis import MARGIN, Linear, anchor, framed

ROW, LINE, FOOT = 40.0, 18.0, 22.0
_SHARES = Linear(0.0, 1.0)


@dataclass(frozen=True)
class Growth:
    """One suspicion: before, and at most after so much; shares from 0 to 1. `words` are the bound's own."""

    name: str
    before: float
    after: float
    words: str


@dataclass(frozen=True)
class Group:
    """The suspicions after one amount of reading."""

    name: str
    growths: tuple[Growth, ...]


def draw_suspicions(groups: Sequence[Group]) -> str:
    """One bar for each suspicion, from where it was to where it can come; all on one scale to 100 %."""
    parts, top, sentences = [], 0.0, []
    for group in groups:
        # a line for each part of the name: drawings cannot wrap, and phones are narrow
        for line in group.name.split(": "):
            parts.append(f'<text class="mark strong" x="0" y="{top + 16:.1f}">{escape(line)}</text>')
            top += LINE
        parts += [_row(growth, top + 8 + ROW * place) for place, growth in enumerate(group.growths)]
        top += ROW * len(group.growths) + 16
        said = ", ".join(f"{growth.name} to {growth.words}" for growth in group.growths)
        sentences.append(f"{group.name}: {said}")
    parts.append(_ticks(top))
    return framed(
        "".join(parts),
        kind="suspicions",
        name="How far suspicions about one person can grow at most",
        sentence="; ".join(sentences) + ".",
        height=top + FOOT,
    )


def at(share: float) -> float:
    """Percent of the width."""
    return MARGIN + (100 - 2 * MARGIN) * _SHARES.share(share)


def _row(growth: Growth, top: float) -> str:
    before, after = at(growth.before), at(growth.after)
    middle = top + 26
    return (
        f'<text class="tick" x="0" y="{top + 14:.1f}">{escape(f"{growth.name} → {growth.words}")}</text>'
        f'<line class="whole" x1="{at(0):.2f}%" x2="{at(1):.2f}%" y1="{middle:.1f}" y2="{middle:.1f}"/>'
        f'<line class="growth" x1="{before:.2f}%" x2="{after:.2f}%" y1="{middle:.1f}" y2="{middle:.1f}"/>'
        f'<circle class="before" cx="{before:.2f}%" cy="{middle:.1f}" r="5"/>'
        f'<circle class="after" cx="{after:.2f}%" cy="{middle:.1f}" r="6"/>'
    )


def _ticks(top: float) -> str:
    return "".join(
        f'<text class="tick" x="{at(share):.2f}%" y="{top + 14:.1f}" text-anchor="{anchor(at(share))}">'
        f"{share:.0%}</text>"
        for share in (0.0, 0.5, 1.0)
    )
