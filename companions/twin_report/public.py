"""The page for researchers: what the twin is, what it cost, and how near it comes to the released counts.

Nothing in this file takes the original. What it is handed is the declaration, the twin, and the noisy counts;
whatever the original is, the page is the same, byte for byte.
"""

from __future__ import annotations

from decimal import Decimal
from importlib.metadata import version
from pathlib import Path

import numpy as np

from companions.twin_report.fidelity import Counted, associations, count_cells
from companions.twin_report.figures.bars import Bars, draw_bars
from companions.twin_report.figures.matrix import MOST, draw_matrix
from companions.twin_report.parts import (
    Document,
    Figures,
    NumberTable,
    Origin,
    Part,
    Section,
    Text,
    Warned,
    percent,
    three,
)
from companions.twin_report.price import Price, class_of
from companions.twin_report.provenance import Provenance
from companions.twin_report.reading import read_sheet
from domain.budget import Accounting
from domain.dataset import Declaration, Table
from domain.twin import TableCounts, cell_grid
from domain.twin.levels import LOOKED_AT, SHOWS, columns_looked_at
from privacy.loss import GuaranteeClass
from twins.evaluation.sheet import Floats, Sheet

BANNER = (
    "For researchers. Every number here comes from the declaration, from the twin, or from counts with noise "
    "({}). This page computed nothing from the original."
)
BANDS = {"laplace": 2.995732273553991, "gaussian": 1.959963984540054}
"""Noise of the discrete Laplace law stays within ln 20 times its scale 95 times in 100, that of the Gaussian
within 1.96 standard deviations."""
MEAN_MAGNITUDES = {"laplace": 1.0, "gaussian": 0.7978845608028654}
"""In scales, or in standard deviations: sqrt(2/pi)."""
LAWS = {
    GuaranteeClass.PURE_DP: "the scale of the discrete Laplace law",
    GuaranteeClass.APPROX_DP: "the standard deviation of the Gaussian law",
}
MOST_FIGURES = 60


def public_document(declaration: Declaration, twin: Path, provenance: Provenance, price: Price) -> Document:
    """`price` says of every number that rests on the counts who vouches for it. Raises DpgateError for a twin
    that lacks a table or a column."""
    promised = class_of(provenance.counts)
    banner = BANNER.format(promised)
    sections = [what_it_is(declaration, provenance), spent(declaration, provenance, price)]
    # of a twin of unknown origin nothing is measured: its values could be the original's
    for table in declaration.tables if provenance.made_again else ():
        sheet = read_sheet(twin, table)
        counts = provenance.counts.get(table.path)
        if sheet.columns:
            sections.append(_table_section(declaration, table, sheet, counts, price.origin(promised)))
    sections.append(not_protected(declaration, provenance))
    return Document(
        title=f"Twin of {declaration.title}: what it shows and what it cost",
        banner=f"{banner} The counts are {price.source}." if provenance.counts else banner,
        about=f"Written by dpgate {version('dpgate')}.",
        sections=tuple(sections),
        is_public=True,
    )


def what_it_is(declaration: Declaration, provenance: Provenance) -> Section:
    """Label and level of every column, and where the twin comes from."""
    rows = []
    for table in declaration.tables:
        for column in table.columns:
            level = provenance.level_of(table.path, column.name)
            shown = "made up" if column.kind == "person" else "unknown" if level is None else str(level)
            rows.append(
                (table.path, column.name, shown, _meaning(column.kind, level), column.basis or "not said")
            )
    parts: list[Part] = [
        Text(f"{provenance.label}.", Origin.TWIN),
        (Text if provenance.made_again else Warned)(provenance.sentence, Origin.TWIN),
    ]
    if looked := columns_looked_at(declaration):
        parts.append(Warned(f"{LOOKED_AT.capitalize()}: {', '.join(looked)}.", Origin.DECLARED))
    names = ("table", "column", "level", "what it shows", "declared after")
    parts.append(NumberTable("Columns and their levels", names, rows, Origin.DECLARED))
    return Section("levels", "What this twin is", "What is each column made from?", tuple(parts))


def _meaning(kind: str, level: int | None) -> str:
    if kind == "person":
        return "Names of people are made up."
    return "Cannot be said." if level is None else SHOWS[level]


def spent(declaration: Declaration, provenance: Provenance, price: Price) -> Section:
    """The noise, the error that it makes, and where the price stands."""
    if not provenance.counts:
        text = (
            "No counts were released for it: the twin cost no privacy budget, and was made without the data."
        )
        if provenance.made_again is not True:
            text = "No counts were handed to this report, so what the twin cost is not known here."
        return Section("budget", "Budget", "What did the twin cost?", (Text(text, Origin.DECLARED),))
    rows = []
    for path, counts in provenance.counts.items():
        noisy = counts.counts
        predicted = predicted_error(counts)
        pairs = f"{float(noisy.pair_scale):.1f}" if noisy.pair_scale is not None else "none"
        rows.append(
            (
                path,
                str(counts.level),
                str(len(counts.columns)),
                str(len(noisy.pairs)),
                str(noisy.people),
                f"{float(noisy.one_scale):.1f}",
                pairs,
                three(predicted),
            )
        )
    names = ("table", "level", "columns counted", "pairs counted", "rows (noisy)", "noise of a count",
             "noise of a pair's count", "predicted error of a column")  # fmt: skip
    promised = class_of(provenance.counts)
    words = (
        f"Noise is {LAWS[promised]}, in rows. The predicted error is the expected total "
        "variation of a column that this noise makes: 0 is equal, 1 has nothing in common. What the counts "
        f"cost stands in their certificate, with the class {promised}. Twins drawn from them cost nothing "
        f"more. The counts are {price.source}."
    )
    parts: list[Part] = [NumberTable("Counts with noise", names, rows, price.origin(promised), words)]
    if price.cost:
        parts.insert(0, Text(_cost(declaration, price, promised), price.origin(promised)))
    question = "What did the twin cost, and what is it worth?"
    return Section("budget", "Budget and predicted error", question, tuple(parts))


def _cost(declaration: Declaration, price: Price, promised: GuaranteeClass) -> str:
    """What the counts cost. Under zCDP the budget is no sum of epsilons, so that no share of it is named."""
    share = ""
    if declaration.accounting is Accounting.PURE_SUM and "epsilon" in price.cost:
        part = percent(float(Decimal(price.cost["epsilon"]) / Decimal(declaration.budget_epsilon)))
        share = f", {part} of the data set's budget of epsilon {declaration.budget_epsilon}"
    return (
        f"The counts cost {price.amount} ({promised}){share}; this price is {price.source}. Whatever is "
        "asked of the same people adds to it."
    )


def predicted_error(counts: TableCounts) -> float:
    """Mean over columns of cells times the noise's mean magnitude over twice the rows: what noise alone does
    to one-way counts."""
    noisy = counts.counts
    magnitude = MEAN_MAGNITUDES[noisy.noise] * float(noisy.one_scale)
    mean_cells = sum(noisy.cells) / len(noisy.cells)
    return min(1.0, mean_cells * magnitude / (2 * max(1, noisy.people)))


def _table_section(
    declaration: Declaration, table: Table, sheet: Sheet, counts: TableCounts | None, origin: Origin
) -> Section:
    counted = count_cells(sheet, declaration.nominal_size)
    parts: list[Part] = []
    if counts is not None:
        parts += _against_counts(declaration, table, counted, counts, origin)
    else:
        parts.append(
            Text("No counts of this table were released: its columns are what was declared.", Origin.DECLARED)
        )
    if len(counted.names) > 1:
        title = "Associations between the twin's columns"
        words = f"Cramer's V, 0 to 1, of the first {MOST}. {key_of(counted.names)}"
        picture = draw_matrix(associations(counted), counted.names, name="Cramer's V in the twin")
        parts.append(Figures(title, [("twin", picture)], Origin.TWIN, words, is_dense=True))
    slug = f"table-{declaration.tables.index(table) + 1}"
    return Section(
        slug, f"The table {table.path}", "How near does the twin come to the counts?", tuple(parts)
    )


def key_of(names: tuple[str, ...]) -> str:
    """Which number stands for which column."""
    return "; ".join(f"{place} {name}" for place, name in enumerate(names[:MOST], start=1))


def noisy_shares(counts: TableCounts, name: str) -> tuple[Floats, float]:
    """Of one column: its counts over their sum, negative ones as 0; and the reach of one share's noise."""
    noisy = counts.counts
    place = counts.columns.index(name)
    found = np.maximum(np.array(noisy.ones[place], np.float64), 0.0)
    total = max(1.0, float(found.sum()))
    return found / total, BANDS[noisy.noise] * float(noisy.one_scale) / max(1, noisy.people)


def _against_counts(
    declaration: Declaration, table: Table, twin: Counted, counts: TableCounts, origin: Origin
) -> list[Part]:
    drawings, rows = [], []
    for name in counts.columns:
        place = twin.names.index(name)
        noisy, band = noisy_shares(counts, name)
        own = twin.shares(place)
        rows.append(
            (name, str(len(noisy)), three(float(np.abs(noisy - own).sum() / 2)), f"{100 * band:.2f} %")
        )
        grid = cell_grid(next(c for c in table.columns if c.name == name), declaration.nominal_size)
        bars = Bars(name, grid.names, noisy.tolist(), own.tolist(), band, are_words=grid.bins == 0)
        drawings.append((name, draw_bars(bars)))
    legend = [("real", "noisy count"), ("twin", "twin"), ("band", "95 % of the noise")]
    words = "Each bar is the share of rows in a cell."
    return [
        Figures("Columns", drawings[:MOST_FIGURES], origin, words, legend, is_dense=True),
        NumberTable(
            "Distance of each column to its counts",
            ("column", "cells", "total variation to the noisy counts", "noise of a share (95 %)"),
            rows,
            origin,
            "A twin follows all counts at once, so it keeps a little off each column's noisy ones.",
        ),
    ]


def not_protected(declaration: Declaration, provenance: Provenance) -> Section:
    """What the promise does not cover."""
    unit = declaration.privacy_unit.name
    sentences = [
        "What the declaration says is public: names of columns, bounds, categories, missing rates, the "
        "number of people.",
        "What is true of many people shows, and is meant to: a twin with patterns lets one guess about a "
        f"{unit} what is usual for others like them, whether or not they were in the data.",
    ]
    if provenance.counts:
        sentences += [
            f"The promise ({class_of(provenance.counts)}) is about adding or removing one {unit}. It adds up "
            "with every other release on the same people; the budget counts those of its cohort.",
            "A drawn row can equal somebody's by chance, as a guess can. It says nothing about them.",
            "Results on the twin are not results: they carry the noise, and patterns that were not counted "
            "are absent.",
        ]
    if provenance.made_again is not True:
        sentences.insert(
            0, "No promise is known for this twin: it could not be made again from what is public."
        )
    parts = tuple(Text(sentence) for sentence in sentences)
    return Section("not-protected", "What is not protected", "What may nobody rely on?", parts)
