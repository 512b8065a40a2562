"""The report of a profile: what was found and what is asked, for the rights holder alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from domain.dataset.person_size import proposed_rows
from dpgate.profile.pieces import (
    badge,
    cell,
    digits,
    drawing,
    listed,
    marked,
    name_cell,
    number_cell,
    page,
    paragraph,
    shown,
    table,
)
from dpgate.profile.steps import six_steps
from twins.profile import FoundTable
from twins.profile.document import ProfileDocument, ProfiledTable
from twins.profile.proposals import Proposal

DRAWN = 400
"""Columns of a table with a drawing each; a wider table has the first of them drawn."""


@dataclass(frozen=True)
class Looked:
    """One table with what is proposed for it."""

    table: ProfiledTable
    proposals: Sequence[Proposal]

    @property
    def found(self) -> FoundTable:
        assert self.table.found is not None
        return self.table.found


def render(document: ProfileDocument, proposals: Mapping[str, Sequence[Proposal]]) -> str:
    """The whole file. `proposals` by table."""
    looked = [Looked(table, proposals[table.name]) for table in document.tables if table.found is not None]
    body = [
        f'<p class="warning" role="alert">{shown(document.warning, 400)}</p>',
        "<h1>Registration profile</h1>",
        paragraph(_about(document), "about"),
        _contents(looked),
        '<h2 id="tables">Tables</h2>',
        _overview(document),
        listed([shown(note, 400) for note in document.notes]),
        '<h2 id="people">Whose the rows are</h2>',
        *_people(document, looked),
        '<h2 id="identifying">What may identify people</h2>',
        *_identifying(looked),
        *six_steps([(each.table.name, each.found, each.proposals) for each in looked]),
        *(part for number, each in enumerate(looked) for part in _columns(number, each)),
    ]
    return page("dpgate profile: for the rights holder only", body)


def _about(document: ProfileDocument) -> str:
    how = "in a sandbox without a network" if document.sandboxed else "WITHOUT a sandbox"
    return (
        f"Read {how}. Nothing was sent anywhere. No figure here is a release: none carries noise, so none "
        f"has a guarantee. Profile {document.id}."
    )


def _contents(looked: Sequence[Looked]) -> str:
    items = [
        ("tables", "Tables"), ("people", "Whose the rows are"), ("identifying", "What may identify people"),
        ("drop", "1 Columns to drop"), ("encoding", "2 Categorical encoding"), ("binning", "3 Binning"),
        ("transform", "4 Power transform"), ("generation", "5 Generation"), ("evaluation", "6 Evaluation"),
    ]  # fmt: skip
    items += [(f"columns-{number}", f"Columns of {each.table.name}") for number, each in enumerate(looked)]
    links = "".join(f'<li><a href="#{place}">{shown(text, 200)}</a></li>' for place, text in items)
    return f"<nav><ul>{links}</ul></nav>"


def _overview(document: ProfileDocument) -> str:
    rows = []
    for each in document.tables:
        if each.found is None:
            why = marked(f"<strong>Not read:</strong> {shown(each.refused or '', 600)}")
            rows.append([name_cell(each.name), why, cell(""), cell(""), cell("")])
            continue
        notes = listed([shown(note, 300) for note in each.found.notes])
        unit = badge("lists everybody") if each.name == document.unit else ""
        if each.found.dialect and each.found.dialect.words:
            notes += paragraph(f"Proposed dialect. {each.found.dialect.words}")
        rows.append(
            [
                name_cell(each.name),
                marked(f"{unit}{notes}"),
                number_cell(f"{each.found.rows:,}"),
                number_cell(len(each.found.columns)),
                cell(each.person or "no people of the others"),
            ]
        )
    return table(("table", "", "rows", "columns", "column of people"), rows)


def _people(document: ProfileDocument, looked: Sequence[Looked]) -> Iterator[str]:
    if document.unit is None:
        yield paragraph(
            "No column was found that names people. State it with --person TABLE=COLUMN: without one, no "
            "table can be registered."
        )
    else:
        yield paragraph(
            "Proposed privacy unit: one person, as the table that lists everybody names them. The draft asks "
            "for nominal_size, a public number of people. Where people have many rows, a question or twin "
            "asks how many of one person count, the contribution limit: more rows mean more noise, and rows "
            "beyond the limit are left out. The draft also asks for most_rows: an import keeps no more of "
            "anybody, and the time of a release rests on it. A number from the protocol is best. The one "
            "proposed here goes by what three quarters of the people have, which with fewer than five may be "
            "the most of the heaviest; it is for you to take or not, and public only if you declare it."
        )
    rows = []
    for each in looked:
        for people in each.found.people:
            about = "" if people.people_is_exact else "about "
            rows.append(
                [
                    name_cell(each.table.name),
                    cell(people.column + (" (chosen)" if people.column == each.table.person else "")),
                    number_cell(f"{about}{people.people:,}"),
                    cell(", ".join(map(str, people.rows_per_person))),
                    _proposed_most(people.rows_per_person),
                    number_cell(people.unnamed),
                ]
            )
    yield table(
        (
            "table",
            "column",
            "people",
            "rows of one: 5, 25, 50, 75, 95, 99 %, most",
            "proposed most_rows",
            "rows of nobody",
        ),
        rows,
    )
    ids = [
        f"{shown(each.table.name)}: {', '.join(shown(name) for name in each.found.candidate_ids[:20])}"
        for each in looked
        if each.found.candidate_ids
    ]
    if ids:
        yield paragraph("Different in every row, so they may be ids:")
        yield listed(ids)
    follows = [
        f"{shown(each.table.name)}: <code>{shown(one.determines)}</code> settles "
        f"<code>{shown(one.follows)}</code>" + (f" but in {one.exceptions} rows" if one.exceptions else "")
        for each in looked
        for one in each.found.dependencies
    ]
    if follows:
        yield paragraph("Columns that settle others. Whoever drops one keeps it through the other:")
        yield listed(follows)


def _identifying(looked: Sequence[Looked]) -> Iterator[str]:
    yield paragraph(
        "Every value was looked at, but for plain numbers behind the first 20,000 of a column. The scan "
        "errs on both sides: look at columns that it passed over, too. Each column named here needs a "
        "decision before the data set can be registered."
    )
    rows = []
    for each in looked:
        for proposal in each.proposals:
            if not proposal.is_flagged:
                continue
            seen = each.found.column(proposal.column).identifying
            evidence = ", ".join(f"{rule} {count:,}" for rule, count in seen.evidence.items())
            rows.append(
                [
                    name_cell(each.table.name),
                    name_cell(proposal.column),
                    marked(f"{badge(seen.classification)} {shown(seen.kind)}"),
                    cell(f"{evidence} {seen.masked_example}".strip()),
                    marked(f"<strong>{shown(proposal.decision)}</strong>. {shown(seen.why, 400)}"),
                ]
            )
    yield table(
        ("table", "column", "what it is", "evidence, masked", "proposed"), rows, empty="Nothing was found."
    )
    for each in looked:
        if (together := each.found.together) is not None:
            about = "" if together.is_exact else "about "
            names = ", ".join(together.columns)
            yield paragraph(
                f"{each.table.name}: {about}{together.unique:,} of {together.rows:,} rows are alone with "
                f"their values of {names}; the smallest group that shares them has {together.k} (k). Whoever "
                "knows these of a person finds that row. k tells how easily, and is no guarantee."
            )


def _columns(number: int, each: Looked) -> Iterator[str]:
    yield f'<h2 id="columns-{number}">Columns of {shown(each.table.name, 200)}</h2>'
    yield paragraph(
        f"Counts are of all {each.found.rows:,} rows. Quantiles, skew and bars are of a sample of "
        f"{each.found.sampled:,}.",
        "soft",
    )
    rows = []
    for at, (column, proposal) in enumerate(zip(each.found.columns, each.proposals, strict=True)):
        drawn = drawing(column) if at < DRAWN else ""
        about = "" if column.distinct_is_exact else "about "
        missing = f"{column.missing_share:.1%}" if column.rows else "-"
        codes = ", ".join(f"{code!r} {count:,}" for code, count in list(column.missing.items())[:4])
        rows.append(
            [
                name_cell(column.name or "(no name)"),
                marked(
                    f"{shown(proposal.role)}{listed([shown(reason, 400) for reason in proposal.reasons])}"
                ),
                marked(f"{missing}<br><span class='soft'>{shown(codes)}</span>"),
                number_cell(f"{about}{column.distinct:,}"),
                marked(drawn + _facts(each.found.rows, column.name, each.found)),
            ]
        )
    yield table(("column", "proposed kind", "missing", "different values", "seen in the data"), rows)


def _proposed_most(rows: Sequence[int]) -> str:
    """For tables in which somebody has several."""
    if len(rows) < 7 or rows[-1] == 1:
        return cell("")
    return number_cell(f"{proposed_rows(rows[3]):,}")


def _facts(rows: int, name: str, found: FoundTable) -> str:
    column = found.column(name)
    lines = []
    if column.numbers is not None:
        lines.append(
            f"{digits(column.numbers.lower)} to {digits(column.numbers.upper)}, mean "
            f"{digits(column.numbers.mean)}, sd {digits(column.numbers.sd)}, skew {column.numbers.skew:.2f}"
        )
    if column.days is not None:
        lines.append(f"{column.days.first} to {column.days.last}")
    if column.identifying.is_flagged:
        lines.append(f"Its values are not shown. {column.identifying.masked_example}".strip())
    elif column.numbers is None:
        lines.append(", ".join(f"{value} ({count:,})" for value, count in column.frequent[:6]))
    return "".join(f'<div class="soft">{shown(line, 300)}</div>' for line in lines if line and rows)
