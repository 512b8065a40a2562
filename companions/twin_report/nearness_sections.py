"""How near the twin comes to the original, drawn: for the rights holder alone."""

from __future__ import annotations

import numpy as np

from companions.twin_report.fidelity import Distances, Fidelity
from companions.twin_report.figures.bars import Bars, draw_bars
from companions.twin_report.figures.lines import Dot, Line, draw_lines, draw_scatter
from companions.twin_report.figures.matrix import draw_matrix
from companions.twin_report.figures.rates import Rate, draw_rates
from companions.twin_report.learning import MODELS, Learned
from companions.twin_report.parts import Figures, NumberTable, Origin, Part, Section, Text, three
from companions.twin_report.public import MOST_FIGURES, key_of, noisy_shares
from domain.twin import TableCounts
from twins.evaluation.sheet import Floats

REAL_AND_TWIN = [("real", "original"), ("twin", "twin")]


def columns_section(slug: str, title: str, found: Fidelity, counts: TableCounts | None) -> Section:
    """Distances in numbers, then every column in bars."""
    rows = [_row("the twin", found.distances), *(_row(name, one) for name, one in found.baselines)]
    names = ("compared with the original", "columns", "pairs", "worst pair", "triples", "associations")
    words = (
        "Mean total variation on one, two and three columns together (0 is equal, 1 has nothing in common), "
        "and mean difference of Cramer's V."
    )
    order = np.argsort(-found.columns, kind="stable")
    table = [
        (found.first.names[place], str(found.first.cells[place]), three(float(found.columns[place])))
        for place in order.tolist()
    ]
    legend = [*REAL_AND_TWIN, *([("band", "95 % of the noise of the counts")] if counts else [])]
    drawings = [_bars(found, place, counts) for place in range(min(MOST_FIGURES, len(found.first.names)))]
    parts: tuple[Part, ...] = (
        NumberTable("Distances", names, rows, Origin.ORIGINAL, words),
        NumberTable(
            "Each column, the worst first", ("column", "cells", "total variation"), table, Origin.ORIGINAL
        ),
        Figures("Distributions side by side", drawings, Origin.ORIGINAL, "", legend, is_dense=True),
    )
    return Section(slug, title, "Do columns, pairs and triples look as in the original?", parts)


def _bars(found: Fidelity, place: int, counts: TableCounts | None) -> tuple[str, str]:
    grid = found.first.grids[place]
    name = grid.column.name
    band = noisy_shares(counts, name)[1] if counts is not None and name in counts.columns else 0.0
    first, twin = (counted.shares(place).tolist() for counted in (found.first, found.twin))
    return name, draw_bars(Bars(name, grid.names, first, twin, band, are_words=grid.bins == 0))


def _row(name: str, one: Distances) -> tuple[str, ...]:
    return (name, *map(three, (one.one, one.two, one.two_most, one.three, one.cramer)))


def association_section(slug: str, title: str, found: Fidelity) -> Section:
    """Three matrices side by side: the picture that shows invented and lost correlations."""
    names, (first, twin) = found.first.names, found.cramer
    drawings = [
        ("original", draw_matrix(first, names, name="Cramer's V in the original")),
        ("twin", draw_matrix(twin, names, name="Cramer's V in the twin")),
        ("twin less original", draw_matrix(twin - first, names, name="Difference", signed=True)),
    ]
    legend = [("twin", "strong"), ("plus", "stronger in the twin: invented"), ("minus", "weaker: lost")]
    words = f"Cramer's V between any two columns. {key_of(names)}"
    mean = f"Mean difference of Cramer's V: {three(found.distances.cramer)}."
    if found.correlation is not None:
        mean += f" Of Pearson's correlation between columns of numbers: {three(found.correlation)}."
    parts = (Figures("Associations", drawings, Origin.ORIGINAL, words, legend), Text(mean, Origin.ORIGINAL))
    return Section(slug, title, "Do columns belong together as in the original?", parts)


def moments_section(slug: str, title: str, found: Fidelity) -> Section:
    """Log means and log standard deviations, and cumulative sums."""
    means = [Dot(one.name, *one.means) for one in found.moments]
    deviations = [Dot(one.name, *one.deviations) for one in found.moments]
    scatter = [
        ("log mean", draw_scatter(means, name="Logarithm of the mean")),
        ("log standard deviation", draw_scatter(deviations, name="Logarithm of the standard deviation")),
    ]
    curves = []
    for one in found.cumulatives[:MOST_FIGURES]:
        lines = [
            Line("original", "real", _points(one.at, one.first)),
            Line("twin", "twin", _points(one.at, one.second)),
        ]
        said = f"Largest distance {three(one.largest)}."
        curves.append((f"{one.name}: {said.lower()}", draw_lines(lines, name=one.name, sentence=said)))
    words = (
        "A point for each column of numbers: the original to the right, the twin upwards. On the line both "
        "are equal."
    )
    parts = (
        Figures("Absolute log means and standard deviations", scatter, Origin.ORIGINAL, words),
        Figures(
            "Cumulative sums",
            curves,
            Origin.ORIGINAL,
            "The share of rows up to each value.",
            REAL_AND_TWIN,
            is_dense=True,
        ),
    )
    return Section(slug, title, "Do the numbers have the same size and spread?", parts)


def _points(at: Floats, shares: Floats) -> list[tuple[float, float]]:
    return list(zip(at.tolist(), shares.tolist(), strict=True))


def learning_section(slug: str, title: str, found: Learned | None, target: str) -> Section:
    """AUC of models trained on original, twin and blind copy."""
    question = "Does what one learns on the twin hold for people?"
    if found is None:
        words = (
            f"Nothing was learnt: {target} has fewer than two classes, too many, or there are too few rows."
        )
        return Section(slug, title, question, (Text(words, Origin.ORIGINAL),))
    trained = [
        ("original", "real", found.real),
        ("twin", "twin", found.twin),
        ("columns only", "blind", found.blind),
    ]
    groups = [
        (
            model,
            [
                Rate(f"trained on {name}", kind, each[place], each[place], each[place])
                for name, kind, each in trained
            ],
        )
        for place, model in enumerate(MODELS)
    ]
    tested = "held-out people" if found.is_held_out else "a third of the original, which the twin has seen"
    words = (
        f"Area under the ROC curve for {found.target}, tested on {found.tested} rows: {tested}. 50 % is "
        "guessing. Trained on columns only: the twin's columns dealt out to other rows."
    )
    rows = [(name, *(three(value) for value in each)) for name, _, each in trained]
    parts = (
        Figures(
            "Train on the twin, test on the original",
            [("", draw_rates(groups, name="AUC"))],
            Origin.ORIGINAL,
            words,
        ),
        NumberTable("AUC", ("trained on", *MODELS), rows, Origin.ORIGINAL),
    )
    return Section(slug, title, question, parts)
