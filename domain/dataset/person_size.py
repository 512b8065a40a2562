"""How much one person can bring to a run: public numbers of the rights holder, never a look at the data.

The time of a padded release rests on them. An import cuts everybody down to them, by a rule that looks at one
person alone; where they are not stated, nothing is promised of the time, and every surface says so.
"""

from __future__ import annotations

from collections.abc import Iterator

from domain.dataset.declaration import Declaration
from domain.dataset.table import MOST_ROWS, Table
from domain.errors import FieldProblem, InvalidRequest
from domain.policy import Policy

ROW_BYTES, COLUMN_BYTES = 256, 32
"""A row of more bytes than the first, and than the second for each of its columns, counts as several."""

_RUNGS = tuple(digit * 10**zeros for zeros in range(8) for digit in (1, 2, 5))

FILE_BYTES = 65_536
"""What each file counts beside its own bytes: opening it takes as long as reading so much."""


def row_unit(table: Table) -> int:
    """The bytes that one row may have and still count as one."""
    return max(ROW_BYTES, COLUMN_BYTES * len(table.columns))


def counted_rows(size: int, unit: int) -> int:
    """As how many rows one of so many bytes counts."""
    return max(1, -(-size // unit))


def person_bytes(declaration: Declaration) -> int:
    """The most that one person brings, of all that is stated."""
    rows = sum((table.most_rows or 1) * row_unit(table) for table in declaration.tables)
    return rows + (declaration.most_bytes or 0)


def proposed_rows(three_quarters: int) -> int:
    """A most for a table of whose people three quarters have so many rows: four times as many, rounded up to
    1, 2 or 5 and zeros. From five people on, the heaviest has no part in it; of fewer it may
    be theirs."""
    return next((rung for rung in _RUNGS if rung >= 4 * three_quarters), MOST_ROWS)


def unstated(declaration: Declaration) -> tuple[str, ...]:
    """Where a person may have as much as they like: paths of tables, and `files`."""
    return tuple(_unstated(declaration))


def _unstated(declaration: Declaration) -> Iterator[str]:
    for table in declaration.tables:
        if _is_open_ended(table):
            yield table.path
    if declaration.layout == "bids" and declaration.most_bytes is None:
        yield "files"


def check_most_rows(declaration: Declaration) -> None:
    """Raises InvalidRequest where a padded release could be late by the rows of one person, by nobody's word.
    What was registered before is read as it was."""
    if declaration.policy.timing.mode != "padded":
        return
    if missing := [
        FieldProblem(
            f"tables.{at}.most_rows",
            "is missing: in a table with many rows of a person, one who has very many could make a padded "
            "release late.",
            "State a public, round number that has room for everybody; the report of dpgate twin profile "
            "proposes one.",
        )
        for at, table in enumerate(declaration.tables)
        if _is_open_ended(table)
    ]:
        first, *more = missing
        raise InvalidRequest(first.field, first.problem, first.fix, more=tuple(more))


def check_becomes_padded(declaration: Declaration, policy: Policy) -> None:
    """Raises InvalidRequest where coarse timing would become padded, and no most of a person is stated.
    What was padded before may be changed in other ways."""
    if policy.timing.mode != "padded" or declaration.policy.timing.mode == "padded":
        return
    if places := ", ".join(table.path for table in declaration.tables if _is_open_ended(table)):
        raise InvalidRequest(
            "timing.mode",
            f"cannot be padded: one person who has very many rows in {places} could make a release late.",
            "Register a version that states most_rows there.",
        )


def _is_open_ended(table: Table) -> bool:
    return table.rows_per_person == "many" and table.most_rows is None


def size_sentence(declaration: Declaration) -> str:
    """What the time of a padded release may still tell of one person's amount of data."""
    missing = unstated(declaration)
    if not missing:
        return (
            "Room is kept for the most rows and bytes of a person that the declaration states, and no import "
            "keeps more of anybody: as long as the host keeps up with that, how many rows and files a person "
            "has does not move the time of release. The length of a row is not counted in tables with one "
            "for each person, nor that of text in Parquet: very long ones can make a release late."
        )
    places = ", ".join("people's files" if place == "files" else place for place in missing)
    return (
        f"The declaration states no most of a person for {places}: one person who has very much there can "
        "make a release late, and nothing is promised against that."
    )


def timing_sentence(declaration: Declaration) -> str:
    """What the time of a release tells: by the policy, and by how much of a person there can be."""
    timing = declaration.policy.timing
    return f"{timing.sentence} {size_sentence(declaration)}" if timing.mode == "padded" else timing.sentence
