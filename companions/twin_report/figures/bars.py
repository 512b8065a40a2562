"""The shares of a column's cells: grey for the first table, green for the twin over it, and a noise band."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from drawing.axis import figure_text, framed

MOST_CELLS = 60
MOST_WORDS = 12
HEIGHT, ROW, TOP, BELOW = 96.0, 34.0, 6.0, 18.0


@dataclass(frozen=True)
class Bars:
    """One column. `band` is the reach of the noise of one cell's share, 0 where there is none; `names` says
    what each cell is."""

    name: str
    names: Sequence[str]
    first: Sequence[float]
    twin: Sequence[float]
    band: float = 0.0
    are_words: bool = False


def draw_bars(shown: Bars) -> str:
    """Upright bars in order for numbers, lying ones for words, the most frequent first."""
    if not shown.names:
        return framed("", kind="bars", name=shown.name, sentence="no cells.", height=1)
    return _lying(shown) if shown.are_words else _upright(shown)


def _upright(shown: Bars) -> str:
    places = list(range(len(shown.names)))[:MOST_CELLS]
    most = _most(shown, places)
    width = 100 / len(places)
    parts = []
    for slot, place in enumerate(places):
        left, title = slot * width, _title(shown, place)
        first, twin = HEIGHT * shown.first[place] / most, HEIGHT * shown.twin[place] / most
        floor = TOP + HEIGHT
        parts.append(
            f"<g><title>{title}</title>"
            f'<rect class="real" x="{left + width * 0.06:.2f}%" y="{floor - first:.1f}" '
            f'width="{width * 0.88:.2f}%" height="{first:.1f}"/>'
            f'<rect class="twin" x="{left + width * 0.3:.2f}%" y="{floor - twin:.1f}" '
            f'width="{width * 0.4:.2f}%" height="{twin:.1f}"/>'
            f"{_reach(shown, place, most, left + width / 2)}</g>"
        )
    floor = TOP + HEIGHT
    parts.append(f'<line class="floor" x1="0" x2="100%" y1="{floor}" y2="{floor}"/>')
    for x, side, place in ((0, "start", places[0]), (100, "end", places[-1])):
        text = escape(_short(shown.names[place], 22))
        parts.append(f'<text x="{x}%" y="{floor + 14}" text-anchor="{side}">{text}</text>')
    return _framed(shown, "".join(parts), places, TOP + HEIGHT + BELOW)


def _reach(shown: Bars, place: int, most: float, x: float) -> str:
    if shown.band <= 0:
        return ""
    low, high = max(0.0, shown.first[place] - shown.band), min(most, shown.first[place] + shown.band)
    top, bottom = TOP + HEIGHT * (1 - high / most), TOP + HEIGHT * (1 - low / most)
    return f'<line class="band" x1="{x:.2f}%" x2="{x:.2f}%" y1="{top:.1f}" y2="{bottom:.1f}"/>'


def _lying(shown: Bars) -> str:
    places = sorted(range(len(shown.names)), key=lambda place: -shown.first[place])[:MOST_WORDS]
    most, parts = _most(shown, places), []
    for slot, place in enumerate(places):
        top = TOP + ROW * slot
        first, twin = 100 * shown.first[place] / most, 100 * shown.twin[place] / most
        text = escape(_short(shown.names[place], 34))
        parts.append(
            f"<g><title>{_title(shown, place)}</title>"
            f'<text class="label" x="0" y="{top + 11:.1f}">{text}</text>'
            f'<rect class="real" x="0" y="{top + 15:.1f}" width="{first:.2f}%" height="12"/>'
            f'<rect class="twin" x="0" y="{top + 18:.1f}" width="{twin:.2f}%" height="6"/>'
        )
        if shown.band > 0:
            low = 100 * max(0.0, shown.first[place] - shown.band) / most
            high = 100 * min(most, shown.first[place] + shown.band) / most
            at = f"{top + 21:.1f}"
            parts.append(f'<line class="band" x1="{low:.2f}%" x2="{high:.2f}%" y1="{at}" y2="{at}"/>')
        parts.append("</g>")
    height = TOP + ROW * len(places)
    if left_out := len(shown.names) - len(places):
        parts.append(f'<text x="0" y="{height + 11:.1f}">and {left_out} rarer ones</text>')
        height += 16
    return _framed(shown, "".join(parts), places, height)


def _framed(shown: Bars, body: str, places: Sequence[int], height: float) -> str:
    said = "; ".join(_title(shown, place) for place in places[:8])
    more = "" if len(places) <= 8 else "; and so on"
    # _title has escaped: framed would escape again
    svg = framed(body, kind="bars", name=f"Shares of {shown.name}", sentence="@@", height=height)
    return svg.replace("@@", f"{said}{more}.")


def _title(shown: Bars, place: int) -> str:
    return escape(
        f"{shown.names[place]}: {figure_text(100 * shown.first[place])} %, twin "
        f"{figure_text(100 * shown.twin[place])} %"
    )


def _most(shown: Bars, places: Sequence[int]) -> float:
    return max((max(shown.first[place], shown.twin[place]) for place in places), default=0.0) * 1.02 or 1.0


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
