"""Pieces of the report's page: tables, badges, small drawings. What comes from the data is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from twins.profile.found import FoundColumn

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_WIDTH, _HEIGHT, _LONGEST = 200, 44, 60

STYLE = """
:root { color-scheme: light; --line: #cfd8dc; --text: #263238; --soft: #546e7a; --bar: #00695c; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 64rem; padding: 1rem; color: var(--text); background: #fff;
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 1rem 0 .3rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .3rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .3rem; }
.warning { background: #b71c1c; color: #fff; padding: 1rem 1.2rem; border-radius: .3rem; font-weight: 700;
  font-size: 1.35rem; line-height: 1.35; }
.about, .soft { color: var(--soft); font-size: .9rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; width: 100%; min-width: 34rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .7rem .35rem 0;
  border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; }
th, td { overflow-wrap: break-word; }
td { min-width: 3.5rem; }
td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td.name { font-weight: 600; min-width: 7rem; }
.badge { display: inline-block; padding: 0 .5rem; border-radius: 1rem; color: #fff; font-size: .8rem;
  background: #546e7a; white-space: nowrap; }
.direct { background: #b71c1c; } .quasi { background: #8a5a00; } .sensitive { background: #6a1b9a; }
code { font-size: .95em; background: #eceff1; padding: 0 .2rem; border-radius: .2rem; }
svg { display: block; } svg rect { fill: var(--bar); } svg .missing { fill: #b0bec5; }
nav ul { padding-left: 1.2rem; } a { color: #00695c; } ul.plain { margin: .2rem 0; padding-left: 1.1rem; }
@media print { .warning { border: 2px solid #b71c1c; color: #b71c1c; background: none; } }
"""


def page(title: str, body: Iterable[str]) -> str:
    """A whole file that loads nothing and runs nothing."""
    head = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="robots" content="noindex">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n"
    )
    return f"{head}<body>\n{chr(10).join(body)}\n</body>\n</html>\n"


def shown(text: str, longest: int = _LONGEST) -> str:
    """Text of the data as one short line, escaped."""
    line = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
    return escape(line if len(line) <= longest else line[: longest - 1] + "…")


def paragraph(text: str, kind: str = "") -> str:
    return f"<p{f' class={kind!r}' if kind else ''}>{escape(text)}</p>"


def listed(lines: Sequence[str]) -> str:
    """Escaped lines as a list; nothing for none."""
    items = "".join(f"<li>{line}</li>" for line in lines)
    return f'<ul class="plain">{items}</ul>' if items else ""


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, empty: str = "None.") -> str:
    """`rows` hold whole `<td>` cells."""
    if not rows:
        return paragraph(empty, "soft")
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def cell(text: object) -> str:
    return f"<td>{shown(str(text), 400)}</td>"


def name_cell(text: str) -> str:
    return f'<td class="name">{shown(text, 200)}</td>'


def number_cell(value: object) -> str:
    return f'<td class="number">{escape(str(value))}</td>'


def marked(markup: str) -> str:
    """A cell of markup that is escaped already."""
    return f"<td>{markup}</td>"


def badge(text: str) -> str:
    return f'<span class="badge {escape(text)}">{escape(text)}</span>'


def digits(value: float) -> str:
    return f"{value:,.6g}"


def drawing(column: FoundColumn) -> str:
    """How a column is spread: bars of equal steps of its range, or its most frequent values."""
    if column.numbers is not None and column.numbers.bars:
        said = f"{column.name}: {len(column.numbers.bars)} equal steps from smallest to largest"
        return _bars(column.numbers.bars, said)
    counts = tuple(count for _, count in column.frequent[:20])
    if not counts:
        return ""
    return _bars(counts, f"{column.name}: the most frequent values, {len(counts)} of {column.distinct}")


def _bars(counts: Sequence[int], said: str) -> str:
    most = max(counts) or 1
    wide = _WIDTH / len(counts)
    bars = "".join(
        f'<rect x="{number * wide:.1f}" y="{_HEIGHT - max(_HEIGHT * count / most, 1 if count else 0):.1f}" '
        f'width="{max(wide - 1, 0.5):.1f}" height="{max(_HEIGHT * count / most, 1 if count else 0):.1f}"/>'
        for number, count in enumerate(counts)
    )
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" role="img" '
        f'aria-label="{shown(said, 200)}">{bars}</svg>'
    )
