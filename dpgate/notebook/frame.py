"""The frame of everything shown in a notebook: its style, and texts that can do no harm.

A notebook gives its own colours to text and ground, light or dark. Letters take those; drawings have colours
that stand out from both.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import TypeVar

from drawing.axis import figure_text
from privacy.loss import GuaranteeClass

LONGEST_TEXT = 300
MOST_ROWS = 100
ShownT = TypeVar("ShownT")
# what an answer of the wrong form leads to, wherever it is first looked into
_SENSELESS = (ValueError, TypeError, KeyError, AttributeError, IndexError, ArithmeticError, RecursionError)

STYLE = """
.dpgate-view { --accent: #0b8793; --set-aside: #b87514; --bad: #cc4b50; --rest: rgb(128 128 128 / 35%);
  --edge: #808890; max-width: 60rem; margin: .25rem 0; color: inherit;
  font: 1rem/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.dpgate-view .head { font-weight: 650; font-size: 1.1em; margin: 0 0 .3em; }
.dpgate-view p { margin: .3em 0; max-width: 75ch; }
.dpgate-view .badge { border: 1.5px solid var(--edge); border-radius: 1em; padding: 0 .6em;
  font-size: .85em; font-weight: 600; white-space: nowrap; }
.dpgate-view .promise { border-left: 4px solid var(--accent); padding-left: .8em; }
.dpgate-view .promise.weak { border-color: var(--bad); }
.dpgate-view .scroll { overflow-x: auto; }
.dpgate-view table { border-collapse: collapse; margin: .5em 0; font-size: .95em; color: inherit;
  overflow-wrap: normal; }
.dpgate-view th, .dpgate-view td { text-align: right; padding: .2em .8em .2em 0; background: none;
  color: inherit; border-bottom: 1px solid var(--rest); }
.dpgate-view th:first-child { text-align: left; }
.dpgate-view ol { display: flex; flex-wrap: wrap; gap: .3em 1.2em; list-style: none; padding: 0;
  margin: .4em 0; }
.dpgate-view .now { font-weight: 700; }
.dpgate-view .named { margin: .6em 0 0; max-width: none; display: flex; gap: 1em;
  justify-content: space-between; flex-wrap: wrap; }
.dpgate-view .chart { display: block; width: 100%; overflow: visible; color: inherit; background: none; }
.dpgate-view .chart text { font-size: .8rem; fill: currentColor; stroke: none; }
.dpgate-view .chart .mark { font-weight: 600; }
.dpgate-view .chart .grid { stroke: var(--rest); }
.dpgate-view .chart .floor, .dpgate-view .chart .edge { stroke: var(--edge); stroke-width: 1.5; }
.dpgate-view .chart .curve { stroke-width: 3; fill: none; stroke-linecap: round; }
.dpgate-view .chart .curve.chosen { stroke: var(--accent); }
.dpgate-view .chart .curve.other { stroke: var(--edge); stroke-dasharray: 2 6; }
.dpgate-view .chart .bound { stroke: var(--edge); stroke-dasharray: 2 4; }
.dpgate-view .chart .guide { stroke: var(--accent); }
.dpgate-view .chart .range { stroke: var(--rest); stroke-width: 10; }
.dpgate-view .chart .noise { stroke: var(--accent); stroke-width: 8; }
.dpgate-view .chart.intervals .noise { stroke-width: 2; }
.dpgate-view .chart .sampling { stroke: var(--set-aside); stroke-width: 4; }
.dpgate-view .chart .point { fill: currentColor; stroke: var(--accent); stroke-width: 2; }
.dpgate-view .chart .left { fill: var(--rest); }
.dpgate-view .chart .spent { fill: var(--accent); }
.dpgate-view .chart .reserved { fill: var(--set-aside); }
"""


def careful(show: Callable[[ShownT], str]) -> Callable[[ShownT], str]:
    """An answer of the wrong form is shown as plain text: a display never fails."""

    @functools.wraps(show)
    def shown(thing: ShownT) -> str:
        try:
            return show(thing)
        except _SENSELESS:
            return _plain(thing)

    return shown


def view(title: str, *parts: str) -> str:
    """A region of a notebook. `title` is text, the parts are HTML of our own making."""
    # no <style> of a notebook reaches beyond the class, and many of them say the same
    return (
        f'<div role="group" class="dpgate-view" aria-label="{text(title)}"><style>{STYLE}</style>'
        f'<p class="head">{text(title)}</p>{"".join(parts)}</div>'
    )


def text(value: object) -> str:
    """Foreign text as HTML."""
    return escape(legible(value))


def legible(value: object) -> str:
    """Foreign text not longer than a line that people read, for what escapes it itself."""
    found = value if isinstance(value, str) else _number_or_text(value)
    cut = found if len(found) <= LONGEST_TEXT else f"{found[:LONGEST_TEXT]}…"
    # a character that turns the direction of letters would reorder what stands beside it
    return "".join(letter if letter.isprintable() else " " for letter in cut)


def paragraph(value: object, *, kind: str = "") -> str:
    opening = f'<p class="{kind}">' if kind else "<p>"
    return f"{opening}{text(value)}</p>"


def promise(guarantee: str, cost: Mapping[str, str], sentence: str = "") -> str:
    """The class that every number comes with, what it cost, and what it promises in words.

    Raises ValueError for a class that there is not: its numbers are then not shown as if they had one.
    """
    known = GuaranteeClass(guarantee)
    weak = " weak" if known in (GuaranteeClass.PAC, GuaranteeClass.EMPIRICAL) else ""
    badges = [known.value, *(f"{currency} {amount}" for currency, amount in cost.items())]
    return (
        f'<p class="promise{weak}">Guarantee class '
        + " ".join(f'<span class="badge">{text(badge)}</span>' for badge in badges)
        + f"<br>{text(sentence or known.sentence)}</p>"
    )


def table(caption: str, columns: Sequence[str], rows: Sequence[Iterable[object]]) -> str:
    """At most MOST_ROWS rows; the first cell of each is its name."""
    top = "".join(f'<th scope="col">{text(column)}</th>' for column in columns)
    body = "".join(_row(row) for row in rows[:MOST_ROWS])
    more = f"The first {MOST_ROWS} of {len(rows)}." if len(rows) > MOST_ROWS else ""
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{text(caption)}"><table>'
        f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>{paragraph(more) if more else ''}"
    )


def number(value: object) -> float:
    """A finite number. Raises ValueError for anything else that an answer may hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("not a number")
    found = float(value)
    if not math.isfinite(found):
        raise ValueError("not a finite number")
    return found


def pair(low: object, high: object) -> tuple[float, float] | None:
    """From and to, where both are there."""
    return None if low is None or high is None else (number(low), number(high))


def _row(cells: Iterable[object]) -> str:
    first, *others = (text(cell) for cell in cells)
    return f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in others)}</tr>'


def _number_or_text(value: object) -> str:
    if isinstance(value, float):
        return figure_text(value) if math.isfinite(value) else "not a number"
    return str(value)


def _plain(thing: object) -> str:
    try:
        found = repr(thing)
    except _SENSELESS:
        found = type(thing).__name__
    folded = "white-space: pre-wrap; overflow-wrap: anywhere"
    return f'<pre style="{folded}">{escape(found[: 10 * LONGEST_TEXT])}</pre>'
