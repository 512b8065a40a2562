"""A document as one HTML file that loads nothing and runs nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from companions.twin_report.parts import Document, Figures, NumberTable, Origin, Part, Section, Text, Warned

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""Styles may stand in the page; everything else is forbidden, files of its own site too."""

_MARKS = {
    Origin.ORIGINAL: "original",
    Origin.COUNTS: "counts",
    Origin.HANDED: "counts",
    Origin.APPROX_COUNTS: "counts",
    Origin.APPROX_HANDED: "counts",
    Origin.DECLARED: "declared",
    Origin.TWIN: "alone",
}


def render(document: Document) -> str:
    """The whole file."""
    kind = "open" if document.is_public else "closed"
    head = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="robots" content="noindex">\n'
        f"<title>{escape(document.title)}</title>\n<style>{STYLE}</style>\n</head>\n"
    )
    body = [
        f'<p class="banner {kind}" role="note">{escape(document.banner)}</p>',
        f"<h1>{escape(document.title)}</h1>",
        f'<p class="about">{escape(document.about)}</p>',
        _contents(document.sections),
        "<main>",
        *map(_section, document.sections),
        "</main>",
    ]
    return f"{head}<body>\n{chr(10).join(body)}\n</body>\n</html>\n"


def _contents(sections: Sequence[Section]) -> str:
    items = "".join(f'<li><a href="#{escape(one.slug)}">{escape(one.title)}</a></li>' for one in sections)
    return f'<nav aria-label="Sections"><ul>{items}</ul></nav>'


def _section(section: Section) -> str:
    parts = "\n".join(map(_part, section.parts))
    return (
        f'<section id="{escape(section.slug)}">\n<h2>{escape(section.title)}</h2>\n'
        f'<p class="question">{escape(section.question)}</p>\n{parts}\n</section>'
    )


def _part(part: Part) -> str:
    match part:
        case Text():
            return f"<p>{escape(part.words)}{_mark(part.origin)}</p>"
        case Warned():
            return f'<p class="warned">{escape(part.words)}{_mark(part.origin)}</p>'
        case NumberTable():
            return f"<figure>{_caption(part)}{_table(part)}</figure>"
        case Figures():
            return f"<figure>{_caption(part)}{_legend(part)}{_drawings(part)}</figure>"


def _mark(origin: Origin | None) -> str:
    if origin is None:
        return ""
    return f' <span class="mark-of {_MARKS[origin]}">{escape(origin)}</span>'


def _caption(part: NumberTable | Figures) -> str:
    words = f" {escape(part.words)}" if part.words else ""
    return f"<figcaption><strong>{escape(part.title)}</strong>{_mark(part.origin)}{words}</figcaption>"


def _legend(part: Figures) -> str:
    if not part.legend:
        return ""
    items = "".join(
        f'<li><span class="key {escape(kind)}" aria-hidden="true"></span>{escape(words)}</li>'
        for kind, words in part.legend
    )
    return f'<ul class="legend">{items}</ul>'


def _drawings(part: Figures) -> str:
    # the only markup that is not escaped here: the figures escaped it
    kind = "drawings dense" if part.is_dense else "drawings"
    shown = "".join(
        f'<div class="drawing">{f"<h3>{escape(name)}</h3>" if name else ""}{svg}</div>'
        for name, svg in part.drawings
    )
    return f'<div class="{kind}">{shown}</div>'


def _table(table: NumberTable) -> str:
    head = "".join(
        f'<th scope="col"{_side(row[place] for row in table.rows)}>{escape(column)}</th>'
        for place, column in enumerate(table.columns)
    )
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in table.rows)
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="{escape(table.title)}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _side(cells: Iterable[str]) -> str:
    """The head of a column of numbers stands over them."""
    found = [_is_number(cell) for cell in cells]
    return ' class="number"' if found and all(found) else ""


def _cell(text: str) -> str:
    return f'<td class="number">{escape(text)}</td>' if _is_number(text) else f"<td>{escape(text)}</td>"


def _is_number(text: str) -> bool:
    bare = text.removeprefix("< ").rstrip(" %").replace(",", "").lstrip("-−").replace(".", "", 1)
    return bare.isdigit()


# The style sheet of a report: readable on a phone and on paper; colours that differ in lightness too.

STYLE = """
:root { color-scheme: light; --line: #cfd8dc; --text: #263238; --soft: #4f6470; --real: #90a4ae;
  --twin: #00695c; --warn: #b71c1c; --blind: #8e6bb0; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; color: var(--text); background: #fff;
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 1rem 0 .3rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .3rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: .88rem; margin: .2rem 0; }
a { color: #00695c; } a:focus-visible, .wide:focus-visible { outline: 2px solid #00695c; }
.banner { color: #fff; padding: .8rem 1rem; border-radius: .3rem; font-weight: 600; }
.banner.closed { background: var(--warn); font-size: 1.15rem; } .banner.open { background: #00695c; }
.about, .question { color: var(--soft); margin-top: 0; }
.warned { border-left: .3rem solid var(--warn); padding: .3rem .8rem; background: #fdf2f2; }
nav ul { padding-left: 1.2rem; columns: 18rem; }
figure { margin: 1.5rem 0; }
figcaption { font-size: .88rem; color: var(--soft); margin-bottom: .4rem; }
figcaption strong { display: block; color: var(--text); font-size: .95rem; }
.mark-of { display: inline-block; padding: 0 .5rem; border-radius: 1rem; font-size: .78rem; color: #fff; }
.mark-of.original { background: var(--warn); } .mark-of.counts { background: #00695c; }
.mark-of.declared { background: #455a64; } .mark-of.alone { background: #6a4c93; }
.legend { list-style: none; padding: 0; margin: .3rem 0; display: flex; flex-wrap: wrap; gap: .2rem 1rem;
  font-size: .85rem; }
.key { display: inline-block; width: .9rem; height: .9rem; margin-right: .4rem; vertical-align: -.1rem; }
.key.real { background: var(--real); } .key.twin { background: var(--twin); }
.key.band { background: none; border: 2px solid #e08e0b; } .key.blind { background: var(--blind); }
.key.plus { background: #b2182b; } .key.minus { background: #2166ac; }
.key.attack { background: var(--warn); }
.drawings { display: grid; gap: .8rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); }
.drawings.dense { grid-template-columns: repeat(auto-fill, minmax(min(100%, 15rem), 1fr)); }
.drawing > svg { display: block; }
.matrix > svg { width: 100%; height: auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .7rem .3rem 0; border-bottom: 1px solid
  var(--line); }
th { color: var(--soft); font-weight: 600; }
th.number { text-align: right; }
td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
svg.chart { overflow: visible; } svg.chart.matrix { width: 100%; height: auto; }
svg text { font-size: 11px; fill: var(--soft); font-family: system-ui, sans-serif; }
svg .label { fill: var(--text); font-size: 12px; }
svg .grid { stroke: #e6ecef; } svg .floor { stroke: var(--real); } svg .identity { stroke: var(--real);
  stroke-dasharray: 4 3; }
svg rect.real { fill: var(--real); } svg rect.twin { fill: var(--twin); } svg .band { stroke: #e08e0b;
  stroke-width: 2; }
svg line.real { stroke: #78909c; stroke-width: 2; } svg line.twin { stroke: var(--twin); stroke-width: 2; }
svg line.blind { stroke: var(--blind); stroke-width: 2; stroke-dasharray: 3 3; }
svg line.attack { stroke: var(--warn); stroke-width: 2; } svg circle.attack { fill: var(--warn); }
svg circle.real { fill: #78909c; } svg circle.twin { fill: var(--twin); }
svg circle.blind { fill: var(--blind); }
@media print { .banner.closed { border: 2px solid var(--warn); color: var(--warn); background: none; } }
"""
