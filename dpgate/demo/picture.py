"""The demo's answers as one SVG: each released number with its interval, and the truth as an upright stroke.

Pure text from plain numbers. The same drawing is in the chart of a demo and, from recorded numbers, on the
front page of the project.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from dpgate.demo.found import Answer, Found, Spied
from dpgate.demo.words import LABELS, plus_minus
from drawing.axis import Linear, figure_text

INK, QUIET, PAPER, GRID = "#1a2233", "#4a5568", "#fbfcfe", "#d5dbe5"
QUERY, PROGRAM, SPY = "#1f5fa8", "#a3480f", "#8a1c4a"
# of who reads in the dark; the figures of contrast are as good as by day
BY_NIGHT = {
    INK: "#e6ebf5",
    QUIET: "#a9b4c8",
    PAPER: "#141a26",
    GRID: "#36415a",
    QUERY: "#7db4f5",
    PROGRAM: "#f2a36b",
    SPY: "#f08fb8",
}
ROW, GAP = 52.0, 14.0
SIDE = 24.0
FONT = "system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif"


@dataclass(frozen=True)
class Bar:
    """An interval with its value."""

    color: str
    value: float
    low: float
    high: float

    @classmethod
    def of(cls, answer: Answer, color: str) -> Bar:
        return cls(color, answer.value, answer.low, answer.high)


@dataclass(frozen=True)
class Row:
    label: str
    bars: tuple[Bar, ...]
    truth: float


@dataclass(frozen=True)
class Panel:
    """Rows on one axis. `marks` are further upright strokes with their words."""

    title: str
    rows: tuple[Row, ...]
    marks: tuple[tuple[float, str], ...] = ()

    @property
    def axis(self) -> Linear:
        ends = [end for row in self.rows for bar in row.bars for end in (bar.low, bar.high, bar.value)]
        ends += [row.truth for row in self.rows] + [mark for mark, _ in self.marks]
        room = (max(ends) - min(ends)) * 0.04
        return Linear(min(ends) - room, max(ends) + room)

    @property
    def height(self) -> float:
        return 34.0 + ROW * len(self.rows) + 30.0


def draw(found: Found, *, width: float) -> str:
    """SVG of this width in pixels; its height follows."""
    panels = panels_of(found)
    parts, top = [_legend(found, width)], 62.0
    for panel in panels:
        parts.append(_panel(panel, top, width))
        top += panel.height + GAP
    name = escape(sentence(found))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {top:g}" role="img" '
        f'aria-label="{name}" '
        f'font-family="{FONT}"><title>{name}</title>{_by_night()}'
        f'<rect width="{width:g}" height="{top:g}" rx="12" '
        f'fill="{PAPER}" '
        f'stroke="{GRID}"/>{"".join(parts)}</svg>\n'
    )


def _by_night() -> str:
    rules = "".join(
        f'[fill="{day}"]{{fill:{night}}}[stroke="{day}"]{{stroke:{night}}}' for day, night in BY_NIGHT.items()
    )
    return f"<style>@media (prefers-color-scheme:dark){{{rules}}}</style>"


def sentence(found: Found) -> str:
    """What the drawing shows, for those who do not see it."""
    pairs = zip(found.query.answers, found.pipeline.answers, strict=True)
    hours = "; ".join(
        f"{LABELS[query.name]} {query.truth:.1f} (query {plus_minus(query)}, program {plus_minus(program)})"
        for query, program in pairs
    )
    return (
        f"Hours of work per week of {found.people:,} people, true and released: {hours}. A spy's answer "
        f"{found.spied.value:.2f} ± {found.spied.within:.2f}, where {found.spied.if_there:g} would mean "
        f"there and 0 "
        f"not there."
    )


def panels_of(found: Found) -> tuple[Panel, ...]:
    hours = tuple(
        Row(LABELS[query.name], (Bar.of(query, QUERY), Bar.of(program, PROGRAM)), query.truth)
        for query, program in zip(found.query.answers, found.pipeline.answers, strict=True)
    )
    few = tuple(
        Panel(
            f"{found.few_people} people: {LABELS[one.name]}",
            (Row(f"epsilon {found.few.epsilon}", (Bar.of(one, PROGRAM),), one.truth),),
        )
        for one in found.few.answers
        if one.name == "mean_height"
    )
    return (Panel(f"{found.people:,} people: hours of work a week", hours), _spy_panel(found.spied), *few)


def _spy_panel(spied: Spied) -> Panel:
    bar = Bar(SPY, spied.value, spied.low, spied.high)
    label = f"its answer, epsilon {spied.epsilon}"
    row = Row(label, (bar,), spied.if_there)
    return Panel("A spy: is one person there?", (row,), ((0.0, "no"), (spied.if_there, "yes")))


def _legend(found: Found, width: float) -> str:
    words = (
        (QUERY, f"query, epsilon {found.query.epsilon}"),
        (PROGRAM, f"own program, epsilon {found.pipeline.epsilon}"),
        (INK, "the truth"),
    )
    step = (width - 2 * SIDE) / 3 if width > 500 else 0.0
    parts = []
    for place, (color, text) in enumerate(words):
        x, y = (SIDE + place * step, 34.0) if step else (SIDE, 18.0 + 16.0 * place)
        parts.append(
            f'<rect x="{x:.1f}" y="{y - 9:.1f}" width="10" height="10" rx="2" fill="{color}"/>'
            f'<text x="{x + 16:.1f}" y="{y:.1f}" font-size="13" fill="{INK}">{escape(text)}</text>'
        )
    return "".join(parts)


def _panel(panel: Panel, top: float, width: float) -> str:
    axis = panel.axis
    bottom = top + 34.0 + ROW * len(panel.rows)

    def at(value: float) -> float:
        return SIDE + (width - 2 * SIDE) * axis.share(value)

    parts = [_text(SIDE, top + 16, panel.title, size=15, weight=700)]
    for tick in () if panel.marks else axis.ticks(6 if width > 500 else 4):
        x = at(tick)
        parts.append(_stroke(x, top + 30, bottom, GRID, 1.0))
        parts.append(_text(x, bottom + 16, figure_text(tick), fill=QUIET, middle=True))
    for value, word in panel.marks:
        parts.append(_text(at(value), bottom + 16, word, middle=True, weight=700))
        parts.append(_stroke(at(value), top + 52, bottom + 4, INK, 1.5, dashed=True))
    for place, row in enumerate(panel.rows):
        parts.append(_row(row, top + 34.0 + ROW * place, at, has_truth=not panel.marks))
    return "".join(parts)


def _row(row: Row, top: float, at: Callable[[float], float], *, has_truth: bool) -> str:
    parts = [_text(SIDE, top + 12, row.label, fill=QUIET)]
    for place, bar in enumerate(row.bars):
        y = top + 24 + 13 * place
        parts.append(
            f'<line x1="{at(bar.low):.1f}" x2="{at(bar.high):.1f}" y1="{y:.1f}" y2="{y:.1f}" '
            f'stroke="{bar.color}" '
            f'stroke-width="4" stroke-linecap="round" opacity="0.55"/>'
            f'<circle cx="{at(bar.value):.1f}" cy="{y:.1f}" r="4.5" fill="{bar.color}"/>'
        )
    if has_truth:
        parts.append(_stroke(at(row.truth), top + 17, top + 17 + 13 * len(row.bars) + 1, INK, 2.5))
    return "".join(parts)


def _stroke(x: float, top: float, bottom: float, color: str, thick: float, *, dashed: bool = False) -> str:
    dashes = ' stroke-dasharray="4 3"' if dashed else ""
    return (
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" y2="{bottom:.1f}" stroke="{color}" '
        f'stroke-width="{thick:g}"{dashes}/>'
    )


def _text(
    x: float,
    y: float,
    words: str,
    *,
    size: int = 13,
    weight: int = 400,
    fill: str = INK,
    middle: bool = False,
) -> str:
    anchor = ' text-anchor="middle"' if middle else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" fill="{fill}"{anchor}>'
        f"{escape(words)}</text>"
    )
