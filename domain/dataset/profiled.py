"""Decisions about identifying columns, held against each other and against the profile that asked for them.

The profile itself stays with the rights holder. The declaration that is registered carries a random id of it
and the names of the columns that it flagged, so that none of them is registered without a decision. What it
flagged was found in cells, so it is looked at once and kept nowhere. Never a digest: equal data give an equal
one, and whoever sees it can try out guesses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import Field, StringConstraints, model_validator

from domain.dataset.column import Column, ColumnName
from domain.dataset.table import Table
from domain.model import InsidePath, Model


class FlaggedColumn(Model):
    """A column that the profile takes for one that identifies people."""

    table: InsidePath
    """The table's path."""
    column: ColumnName
    """As in the header."""


class Profiled(Model):
    """Which profile a declaration rests on: for the check at a registration, and no part of what is kept."""

    # random, made with the profile: it tells nothing, and stands in the audit trail of its owner
    id: Annotated[str | None, StringConstraints(pattern=r"^[A-Za-z0-9_-]{8,64}$")] = None
    """Of `profile.json`, which stays with the rights holder. Random; the audit trail names it with the
    registration."""
    flagged: Annotated[tuple[FlaggedColumn, ...], Field(max_length=100_000)] = ()
    """Columns that it takes for identifying. Each needs `pii`, or is in `dropped`."""

    @model_validator(mode="before")
    @classmethod
    def _no_digest(cls, given: Any) -> Any:
        if isinstance(given, dict) and "digest" in given:
            raise ValueError(
                "the digest of a profile tells of the data: whoever sees it can try out guesses. Remove the "
                "line digest and leave flagged; nothing takes its place"
            )
        return given


def check_decided(profile: Profiled, tables: Sequence[Table]) -> None:
    """Raises ValueError for a flagged column of a declared table that nobody decided on."""
    decided = {
        (table.path, name)
        for table in tables
        for name in (
            *(column.name for column in table.columns if column.pii is not None),
            *(column.name for column in table.dropped),
        )
    }
    declared = {table.path for table in tables}
    for flagged in profile.flagged:
        if flagged.table in declared and (flagged.table, flagged.column) not in decided:
            raise ValueError(
                f"column {flagged.column} of {flagged.table} may identify people and nobody decided on it; "
                f"run dpgate twin decide dataset.yaml --column {flagged.column!r}, or declare pii or dropped"
            )


def check_decisions(tables: Sequence[Table], *, layout: str) -> None:
    """Raises ValueError for a decision that an import could not carry out."""
    for table in tables:
        for column in table.columns:
            for problem in _problems(column, layout):
                raise ValueError(f"column {column.name} of {table.path}: {problem}")
    given = {table.path: _is_pseudonymised(table.person_column) for table in tables}
    if len(set(given.values())) > 1:
        left = next(path for path, is_done in given.items() if not is_done)
        raise ValueError(
            f"the people of {left} keep their names while another table's get pseudonyms; decide "
            "pseudonymise for the person column of every table, or they would not be the same people"
        )


def _is_pseudonymised(column: Column) -> bool:
    return column.pii is not None and column.pii.decision == "pseudonymise"


def _problems(column: Column, layout: str) -> Iterator[str]:
    decision = column.pii.decision if column.pii else "keep"
    if decision == "keep":
        return
    if column.kind == "person":
        if decision != "pseudonymise":
            yield f"people cannot be told apart after {decision}; pseudonymise them, or keep their names"
        elif layout == "bids":
            yield (
                "names of people are in paths and files of a BIDS tree; give them other names before the "
                "delivery, or keep these"
            )
    elif decision == "pseudonymise" and column.kind != "text":
        yield f"a pseudonym is text, the column is of kind {column.kind}; declare kind text"
    elif decision == "mask" and (column.with_time or column.kind not in ("text", "date")):
        yield f"what a mask writes is text or a date, the column is of kind {column.kind}; declare kind text"
    elif decision == "generalise":
        yield from _ungeneralised(column)


def _ungeneralised(column: Column) -> Iterator[str]:
    if column.kind == "categorical":
        if not column.coarsen:
            yield "generalise needs coarsen: which coarser category stands for each"
        elif new := [coarse for coarse in column.coarsen.values() if column.coarsen.get(coarse) != coarse]:
            # what the import writes must be a category, or every later reader would take it for missing
            yield (
                f"coarsen leads to {new[0]!r}, which is no category of its own; add it to categories, "
                "and let it stand for itself"
            )
    elif column.kind in ("integer", "number", "date"):
        if column.bins is None:
            yield "generalise needs bins: how many steps from lower to upper are left"
    else:
        yield f"a column of kind {column.kind} cannot be generalised; declare categories, or drop it"
