"""The six steps of the report: columns to drop, encoding, binning, transform, generation, evaluation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from domain.twin.levels import CUSTODIAN_LABELS
from dpgate.profile.pieces import cell, digits, marked, name_cell, number_cell, paragraph, shown, table
from privacy.loss import MICRO
from privacy.twin import suggested_level
from twins.profile import FoundTable
from twins.profile.power import HIGHEST, LOWEST
from twins.profile.proposals import CATEGORIES_AT_MOST, Proposal

Looked = tuple[str, FoundTable, Sequence[Proposal]]
_EPSILONS = (1, 10)
_MOST_COLUMNS = 5000


def six_steps(looked: Sequence[Looked]) -> Iterator[str]:
    """In the order in which a twin is made by hand."""
    yield '<h2 id="drop">1 Columns to drop</h2>'
    yield from _drop(looked)
    yield '<h2 id="encoding">2 Categorical encoding</h2>'
    yield from _encoding(looked)
    yield '<h2 id="binning">3 Binning</h2>'
    yield from _binning(looked)
    yield '<h2 id="transform">4 Power transform</h2>'
    yield from _transform(looked)
    yield '<h2 id="generation">5 Generation</h2>'
    yield from _generation(looked)
    yield '<h2 id="evaluation">6 Evaluation</h2>'
    yield from _evaluation(looked)


def _drop(looked: Sequence[Looked]) -> Iterator[str]:
    yield paragraph(
        "Columns that the draft leaves out because they say nothing, and columns that identify people "
        "directly: drop what nobody needs. Dropping columns does not make a table anonymous: see how many "
        "rows are alone, above."
    )
    rows = []
    for path, found, proposals in looked:
        for each in proposals:
            is_direct = found.column(each.column).identifying.classification == "direct"
            if each.role == "person" or (each.is_declared and not (each.is_flagged and is_direct)):
                continue
            what = each.decision if each.is_declared else "left out"
            why = " ".join(each.reasons)
            rows.append([name_cell(path), name_cell(each.column or "(no name)"), cell(what), cell(why)])
    yield table(("table", "column", "proposed", "why"), rows)


def _encoding(looked: Sequence[Looked]) -> Iterator[str]:
    yield paragraph(
        "Categories and the codes that a model would get. The draft asks for them: a category that only the "
        "data know tells that somebody has it. Take them from a codebook."
    )
    rows = []
    for path, found, proposals in looked:
        for each in proposals:
            if each.role != "categorical":
                continue
            codes = ", ".join(f"{code} = {value}" for code, value in enumerate(each.encoding[:30]))
            more = " ..." if len(each.encoding) > 30 else ""
            source = "its dictionary" if each.dictionary.levels else "sorted, as seen in the data"
            advice = "" if found.column(each.column).distinct <= CATEGORIES_AT_MOST else "too many: coarsen"
            is_masked = found.column(each.column).identifying.is_flagged
            said = codes + more or ("not shown: it may identify people" if is_masked else "too many to list")
            rows.append([name_cell(path), name_cell(each.column), cell(said), cell(source), cell(advice)])
    yield table(("table", "column", "codes", "order", ""), rows)


def _binning(looked: Sequence[Looked]) -> Iterator[str]:
    yield paragraph(
        "Numbers are counted in equal steps between the declared bounds, never between the smallest and the "
        "largest value found. Values that many rows share get a cell of their own, and long tails log steps."
    )
    rows = []
    for path, found, proposals in looked:
        for each in proposals:
            column = found.column(each.column)
            if each.bins is None:
                continue
            spikes = ", ".join(digits(value) for value in each.special_values)
            scale = each.instrument
            hint = (
                f"{scale.name}: {scale.lower:g} to {scale.upper:g} {scale.unit}"
                if scale
                else "no scale known"
            )
            seen = (
                f"{digits(column.numbers.lower)} to {digits(column.numbers.upper)}" if column.numbers else ""
            )
            if column.days:
                seen = f"{column.days.first} to {column.days.last}"
            rows.append(
                [
                    name_cell(path),
                    name_cell(each.column),
                    marked(f"Which bounds? Suggested from outside: {shown(hint)}"),
                    cell(seen),
                    number_cell(each.bins),
                    cell("log" if each.is_log else "linear"),
                    cell(spikes),
                ]
            )
    yield table(
        ("table", "column", "question", "in the data (not for the draft)", "bins", "scale", "special values"),
        rows,
    )


def _transform(looked: Sequence[Looked]) -> Iterator[str]:
    yield paragraph(
        "The power of Yeo and Johnson that makes a skewed column most like a bell, of the sample divided by "
        "its standard deviation. The twin does not need it, for it counts bins; a model that is trained on "
        "the twin may. Fit it again on the twin: a power fitted here is a figure of the original data."
    )
    rows = []
    for path, found, proposals in looked:
        for each in proposals:
            numbers = found.column(each.column).numbers
            if each.power is None or numbers is None:
                continue
            rows.append(
                [
                    name_cell(path),
                    name_cell(each.column),
                    number_cell(f"{numbers.skew:.2f}"),
                    number_cell(f"{each.power:.2f}{' (end of what is tried)' * _is_at_an_end(each.power)}"),
                    number_cell(f"{numbers.skew_after:.2f}" if numbers.skew_after is not None else "-"),
                ]
            )
    yield table(("table", "column", "skew", "power", "skew behind it"), rows, empty="No column is skewed.")


def _is_at_an_end(power: float) -> bool:
    return not LOWEST + 0.01 < power < HIGHEST - 0.01


def _generation(looked: Sequence[Looked]) -> Iterator[str]:
    yield paragraph(
        "A twin at level 0 is made from the declaration alone and costs nothing. Levels 1 and 2 are drawn "
        "from noisy counts (guarantee class pure_dp) and cost budget once. Which level pays depends on rows "
        "times epsilon and on the number of cells; this is the rule of `dpgate twin plan NAME`, with the "
        "rows found here."
    )
    rows = []
    for path, found, proposals in looked:
        cells = [_cells(each, found) for each in proposals]
        cells = [count for count in cells if count]
        if not cells or not found.rows or len(cells) > _MOST_COLUMNS:
            continue
        for epsilon in _EPSILONS:
            level = suggested_level(cells, nominal_size=found.rows, micro_epsilon=epsilon * MICRO)
            rows.append(
                [
                    name_cell(path),
                    number_cell(len(cells)),
                    number_cell(epsilon),
                    cell(f"level {level.level}: {CUSTODIAN_LABELS[level.level]}"),
                    cell(level.why),
                ]
            )
    yield table(("table", "columns", "epsilon", "worth it", "why"), rows)


def _cells(each: Proposal, found: FoundTable) -> int:
    """About how many the column would be counted in; 0 where it never is."""
    if each.role not in ("integer", "number", "date", "categorical") or each.decision in ("drop", "mask"):
        return 0
    column = found.column(each.column)
    values = each.bins or min(max(column.distinct, 2), 200)
    return values + len(each.special_values) + bool(column.missing)


def _evaluation(looked: Sequence[Looked]) -> Iterator[str]:
    yield paragraph(
        "What the report of a twin will compare, for you alone: log mean and log standard deviation of each "
        "number, shares of each category, pairs and triples, a model trained on the twin and tested on the "
        "original, and attacks. These are the original's figures that a twin would be held against."
    )
    rows = []
    for path, found, proposals in looked:
        for each in proposals:
            numbers = found.column(each.column).numbers
            if each.role in ("integer", "number") and numbers is not None:
                rows.append(
                    [
                        name_cell(path),
                        name_cell(each.column),
                        number_cell(_log(abs(numbers.mean))),
                        number_cell(_log(numbers.sd)),
                    ]
                )
    yield table(("table", "column", "log of |mean|", "log of sd"), rows)


def _log(value: float) -> str:
    return f"{math.log(value):.3f}" if value > 0 else "-"
