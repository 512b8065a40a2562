"""The report: one HTML file that loads nothing, runs nothing, and says on top that it is not a release."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from importlib.metadata import version

from companions.lab.chapter import Chapter, Drawing, NumberTable, Part, Standing, Text, Verdict

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""Styles may stand in the page, since figures carry theirs; everything else is forbidden."""

WARNING = (
    "Not a release. These numbers were computed from the original data without protection, and some of "
    "them are people's values. Do not publish or send this file; delete it when you have read it."
)

_STYLE = """
:root { color-scheme: light; --line: #cfd8dc; --text: #263238; --soft: #546e7a; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 46rem; padding: 1rem; color: var(--text); background: #fff;
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 1rem 0 .3rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .3rem; padding-top: 1rem; border-top: 1px solid var(--line); }
.warning { background: #b71c1c; color: #fff; padding: .8rem 1rem; border-radius: .3rem; font-weight: 600; }
.question { color: var(--soft); margin-top: 0; }
.about { color: var(--soft); font-size: .9rem; }
figure { margin: 1.5rem 0; }
figure > svg { display: block; width: 100%; max-width: 34rem; height: auto; margin: 0 auto; }
figcaption strong { display: block; }
figcaption { font-size: .85rem; color: var(--soft); margin-bottom: .4rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid
var(--line); } th { color: var(--soft); font-weight: 600; } td.number { text-align: right; white-space:
nowrap; font-variant-numeric: tabular-nums; } .standing { display: inline-block; padding: 0 .5rem;
border-radius: 1rem; color: #fff; font-size: .8rem; white-space: nowrap; } .broken { background: #c62828; }
.holds { background: #00695c; } .no-promise { background: #8a5a00; } nav ul { padding-left: 1.2rem; } a {
color: #00695c; } @media print { .warning { border: 2px solid #b71c1c; color: #b71c1c; background: none; } }
"""


def render(chapters: Sequence[Chapter], *, subjects: str, now: datetime, seconds: float) -> str:
    """The whole file. `subjects` describes whose data were attacked."""
    about = (
        f"{subjects}. Written {now.astimezone(UTC):%Y-%m-%d %H:%M} UTC by dpgate {version('dpgate')} in "
        f"{seconds:.0f} s."
    )
    body = [
        f'<p class="warning" role="alert">{escape(WARNING)}</p>',
        "<h1>Attack laboratory</h1>",
        f'<p class="about">{escape(about)}</p>',
        _verdicts([verdict for chapter in chapters for verdict in chapter.verdicts]),
        _contents(chapters),
        *map(_chapter, chapters),
    ]
    head = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="robots" content="noindex">\n'
        f"<title>dpgate attack laboratory: not a release</title>\n<style>{_STYLE}</style>\n</head>\n"
    )
    return f"{head}<body>\n{chr(10).join(body)}\n</body>\n</html>\n"


def _contents(chapters: Sequence[Chapter]) -> str:
    items = "".join(
        f'<li><a href="#{escape(chapter.name)}">{escape(chapter.title)}</a></li>' for chapter in chapters
    )
    return f"<nav><ul>{items}</ul></nav>"


def _chapter(chapter: Chapter) -> str:
    parts = "\n".join(map(_part, chapter.parts))
    return (
        f'<section id="{escape(chapter.name)}">\n<h2>{escape(chapter.title)}</h2>\n'
        f'<p class="question">{escape(chapter.question)}</p>\n{parts}\n</section>'
    )


def _part(part: Part) -> str:
    match part:
        case Text():
            return f"<p>{escape(part.words)}</p>"
        case Drawing():
            # the only markup that is not escaped here: drawing escaped it
            return f"<figure>{_caption(part.title, part.ran)}{part.svg}</figure>"
        case NumberTable():
            table = _table(part.columns, [[_cell(cell) for cell in row] for row in part.rows])
            return f"<figure>{_caption(part.title, part.ran)}{table}</figure>"


def _caption(title: str, ran: str) -> str:
    return f"<figcaption><strong>{escape(title)}</strong>Ran: {escape(ran)}</figcaption>"


def _verdicts(verdicts: Sequence[Verdict]) -> str:
    rows = [
        [
            f"<td>{escape(verdict.attack)}</td>",
            f"<td>{escape(verdict.against)}</td>",
            f"<td>{_badge(verdict.standing)} {escape(verdict.outcome)}</td>",
        ]
        for verdict in verdicts
    ]
    return _table(("attack", "against", "outcome"), rows)


def _badge(standing: Standing) -> str:
    return f'<span class="standing {standing.replace(" ", "-")}">{escape(standing)}</span>'


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(text: str) -> str:
    numeric = text.rstrip(" %").replace(",", "").lstrip("-").replace(".", "", 1).isdigit()
    return f'<td class="number">{escape(text)}</td>' if numeric else f"<td>{escape(text)}</td>"
