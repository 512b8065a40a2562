"""One column of an original and of its twin: what a pipeline would notice, and what to declare instead."""

from __future__ import annotations

from collections.abc import Iterator

from twins.drawn.table_facts import ColumnFacts

Finding = tuple[str, bool]  # a sentence, and whether it is on purpose


def compare_column(theirs: ColumnFacts, ours: ColumnFacts) -> Iterator[Finding]:
    """Facts of the original, then of the twin."""
    kind = theirs.column.kind
    if kind == "person":
        yield "names of people are made up.", True
        return
    if kind == "text":
        yield "text is a placeholder in the twin.", True
        return
    yield from _about_strange(theirs, ours)
    yield from _about_missing(theirs, ours)
    if kind in ("integer", "number"):
        yield from _about_form(theirs, ours)
    if theirs.outside:
        yield f"{theirs.outside} cells of the original are outside the bounds; the twin stays inside.", True
    if ours.outside:
        yield f"{ours.outside} cells of the twin are outside the bounds.", False
    if kind == "categorical":
        yield from _about_categories(theirs, ours)


def _about_strange(theirs: ColumnFacts, ours: ColumnFacts) -> Iterator[Finding]:
    column = theirs.column
    if ours.strange:
        yield f"{ours.strange} cells of the twin are none of the declared kind.", False
    if theirs.strange and column.kind == "categorical":
        yield (
            f"{theirs.strange} cells of the original are none of the declared categories ({theirs.unknown} "
            "others); the twin has declared ones only.",
            True,
        )
    elif theirs.strange:
        what = "date like 2020-01-31" if column.kind == "date" else "number"
        yield (
            f"{theirs.strange} cells of the original are no {what} and not the declared missing text "
            f"{column.missing!r}: declare what is written for missing, or another kind.",
            False,
        )


def _about_missing(theirs: ColumnFacts, ours: ColumnFacts) -> Iterator[Finding]:
    column = theirs.column
    if theirs.missing and not ours.missing:
        is_declared = column.missing_rate > 0 or column.count_missing
        mend = "by chance" if is_declared else "declare missing_rate"
        yield f"the original has missing values and the twin none: {mend}.", is_declared
    elif ours.missing and not theirs.missing:
        yield "the twin has missing values and the original none: as was declared.", True


def _about_form(theirs: ColumnFacts, ours: ColumnFacts) -> Iterator[Finding]:
    """25 stays 25: programs read a column with a point as another type."""
    if theirs.missing + theirs.strange == theirs.cells or ours.missing == ours.cells:
        return  # no number to compare
    if bool(theirs.decimals) is not bool(ours.decimals):
        have, lack = ("original", "twin") if theirs.decimals else ("twin", "original")
        mend = (
            "declare kind: number"
            if theirs.column.kind == "integer"
            else f"declare decimals: {theirs.decimals}"
        )
        yield f"numbers of the {have} have a point and those of the {lack} none: {mend}.", False
    elif theirs.decimals != ours.decimals:
        yield (
            f"numbers have up to {theirs.decimals} decimals in the original and {ours.decimals} in the twin.",
            True,
        )


def _about_categories(theirs: ColumnFacts, ours: ColumnFacts) -> Iterator[Finding]:
    if lacking := len(theirs.seen - ours.seen):
        yield f"{lacking} categories of the original do not occur in this twin: they are rare.", True
    if theirs.cells and not theirs.seen and theirs.missing < theirs.cells:
        yield "no cell of the original is a declared category: check their spelling.", False
