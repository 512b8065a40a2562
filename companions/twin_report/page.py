"""A document as one HTML file that loads nothing and runs nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from companions.twin_report.parts import Document, Figures, NumberTable, Origin, Part, Section, Text, Warned
from companions.twin_report.style import STYLE

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
