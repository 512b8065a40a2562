"""The chart that a demo leaves: one page without scripts, from elsewhere it loads nothing."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from dpgate.demo.found import Found
from dpgate.demo.picture import BY_NIGHT, GRID, INK, PAPER
from dpgate.demo.picture import draw as draw_picture
from dpgate.demo.words import LABELS, plus_minus

WIDE, NARROW = 760, 350
STYLE = f"""
:root {{ color-scheme: light dark; }}
body {{ margin: 0; background: #fff; color: {INK}; font: 16px/1.5 system-ui, sans-serif; }}
main {{ max-width: 800px; margin: 0 auto; padding: 16px 20px 40px; }}
h1 {{ font-size: 1.5rem; line-height: 1.25; }}
svg {{ display: block; width: 100%; height: auto; }}
.narrow {{ display: none; }}
table {{ border-collapse: collapse; width: 100%; font-size: 0.9rem; }}
caption {{ text-align: left; font-weight: 700; padding: 20px 0 6px; }}
th, td {{ border-bottom: 1px solid {GRID}; padding: 4px 6px 4px 0; text-align: right; }}
th:first-child {{ text-align: left; font-weight: 400; }}
@media (max-width: 600px) {{ .wide {{ display: none; }} .narrow {{ display: block; }} }}
@media (prefers-color-scheme: dark) {{
  body {{ background: {BY_NIGHT[PAPER]}; color: {BY_NIGHT[INK]}; }}
  th, td {{ border-color: {BY_NIGHT[GRID]}; }}
}}
"""


def draw(found: Found) -> str:
    """A whole HTML document."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>dpgate demo</title><style>{STYLE}</style></head><body><main>"
        f"<h1>What the platform gave, and what it kept</h1>{_introduction(found)}"
        f'<div class="wide">{draw_picture(found, width=WIDE)}</div>'
        f'<div class="narrow">{draw_picture(found, width=NARROW)}</div>'
        f"{_spied(found)}{_many(found)}{_few(found)}"
        "</main></body></html>\n"
    )


def _introduction(found: Found) -> str:
    return (
        f"<p>Dots are released numbers of class {escape(found.guarantee)}, lines the 95 % intervals of their "
        f"noise, upright strokes the truth: {found.covered} of {len(found.answers)} answers lie within their "
        "interval. The truth is here only because these data are public.</p>"
    )


def _spied(found: Found) -> str:
    spied = found.spied
    return (
        f"<p>The spy's program answers 1 in the block of one person and 0 in the {spied.blocks - 1} others. "
        f"Without noise it would get {spied.if_there:g} or 0, and know. It got {spied.value:.2f} "
        f"± {spied.within:.2f}. From a guess of 50 % that makes {100 * spied.belief:.0f} %; from "
        f"there no program's one answer for epsilon {escape(spied.epsilon)} gets beyond "
        f"{100 * spied.most_belief:.0f} %.</p>"
        f"<p>The next question was refused: {escape(found.refusal)}</p>"
    )


def _many(found: Found) -> str:
    rows = [
        (LABELS[query.name], plus_minus(query), plus_minus(program), f"{query.truth:.1f}")
        for query, program in zip(found.query.answers, found.pipeline.answers, strict=True)
    ]
    return _table(
        f"{found.people:,} people: hours per week", ("group", "query", "own program", "truth"), rows
    )


def _few(found: Found) -> str:
    rows = [(LABELS[one.name], plus_minus(one), f"{one.truth:.1f}") for one in found.few.answers]
    return _table(
        f"{found.few_people} people, epsilon {found.few.epsilon}", ("mean", "own program", "truth"), rows
    )


def _table(caption: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        f"{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for first, *cells in rows
    )
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )
