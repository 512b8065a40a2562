"""What a profile suggests for each column: its kind, what to leave out, how to count it. Proposals, no more.

The six steps of the usual hand-made route to synthetic data are all here as questions to the rights holder:
columns to drop, categorical encoding, binning, power transform, generation (the level of the twin) and
evaluation. None of them is taken over by itself: whatever rests on the data would disclose something of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from domain.dataset.column import LONGEST_CATEGORY, ONE_LINE
from domain.instruments import Instrument
from twins.profile.found import FoundColumn, FoundTable
from twins.profile.scale import instrument_for

Role = Literal["person", "drop", "leave", "integer", "number", "categorical", "date", "text"]

CATEGORIES_AT_MOST = 50
_CODES_AT_MOST = 10
_STRAY = 0.05
# different values for each row that has one: places and postcodes are categories to be coarsened
_REPEATED, _REPEATED_QUASI = 0.2, 0.5
_SPIKE = 0.05
_MANY = 20
_USUAL_MISSING = ("-9999", "-999", "-99", "-98", "-97", "-9", "-8", "-7", "99", "999", "9999")


@dataclass(frozen=True)
class DictionaryEntry:
    """What a data dictionary (a BIDS sidecar) says of a column."""

    description: str = ""
    levels: tuple[str, ...] = ()
    units: str = ""


@dataclass(frozen=True)
class Proposal:
    """For one column. `reasons` may speak of the data; `public` holds what a declaration may say."""

    column: str
    role: Role
    reasons: tuple[str, ...] = ()
    is_flagged: bool = False
    decision: str = "keep"
    encoding: tuple[str, ...] = ()
    bins: int | None = None
    is_log: bool = False
    special_values: tuple[float, ...] = ()
    power: float | None = None
    missing: str | None = None
    with_time: bool = False
    instrument: Instrument | None = None
    dictionary: DictionaryEntry = field(default_factory=DictionaryEntry)

    @property
    def is_declared(self) -> bool:
        """Whether the draft has the column: what is left out is in no snapshot."""
        return self.role not in ("drop", "leave")


def propose(
    table: FoundTable,
    *,
    person: str | None,
    dictionary: Mapping[str, DictionaryEntry],
    is_bids: bool = False,
) -> tuple[Proposal, ...]:
    """One proposal for each column, in order."""
    return tuple(
        _of_person(column, table, is_bids=is_bids)
        if column.name == person
        else _of_column(column, table, dictionary.get(column.name, DictionaryEntry()))
        for column in table.columns
    )


def _of_person(column: FoundColumn, table: FoundTable, *, is_bids: bool) -> Proposal:
    reasons = _person_reasons(table, column.name)
    if is_bids:
        # names are in paths and in files, which no import rewrites
        reasons = (*reasons, "In a BIDS tree names are in paths: use labels that mean nothing elsewhere.")
    decision = "keep" if is_bids else "pseudonymise"
    return Proposal(column.name, "person", reasons, column.identifying.is_flagged, decision)


def _of_column(column: FoundColumn, table: FoundTable, entry: DictionaryEntry) -> Proposal:
    missing = max(column.missing, key=lambda code: (column.missing[code], code), default=None)
    role, reasons = _role(column, table, entry)
    flagged = column.identifying.is_flagged and role != "leave"
    if flagged:
        reasons = (*reasons, column.identifying.why)
    is_number = role in ("integer", "number")
    numbers = column.numbers if is_number else None
    special = _special(column) if numbers else ()
    return Proposal(
        column=column.name,
        role=role,
        reasons=(*reasons, *_advice(column, table, role)),
        is_flagged=flagged,
        decision=_decision(column, role) if flagged else "keep",
        encoding=_encoding(column, entry) if role == "categorical" else (),
        bins=(10 if table.rows < 500 else 20) if is_number or role == "date" else None,
        is_log=bool(numbers and numbers.lower >= 0 and numbers.skew > 2),
        special_values=special,
        power=numbers.power if numbers else None,
        missing=missing,
        with_time=role == "date" and bool(column.kinds.get("datetime")),
        instrument=instrument_for(column.name) if is_number else None,
        dictionary=entry,
    )


def _role(column: FoundColumn, table: FoundTable, entry: DictionaryEntry) -> tuple[Role, tuple[str, ...]]:
    """Kind of the column, and why."""
    if not column.name.strip():
        return "leave", ("It has no name, so it cannot be declared.",)
    if not re.match(ONE_LINE, column.name):
        return "leave", ("Its name holds a tab or a line end, so it cannot be declared; rename it.",)
    if table.rows and not column.present:
        return "leave", ("Every cell is missing.",)
    if not table.rows:
        return ("categorical" if entry.levels else "text"), ("There is no row to tell its kind from.",)
    if _is_constant(column, table) and not entry.levels:
        return "categorical", ("It has one value in every row. It stays: a pipeline may read it.",)
    if any(len(level) > LONGEST_CATEGORY or not re.match(ONE_LINE, level) for level in entry.levels):
        return "leave", ("Its dictionary lists a level that no category can be: too long, or in lines.",)
    if entry.levels:
        return "categorical", ("Its dictionary lists its levels.",)
    return _kind(column, is_read=column.name not in table.unread)


def _is_constant(column: FoundColumn, table: FoundTable) -> bool:
    is_short = column.longest <= LONGEST_CATEGORY
    is_plain = is_short and not column.missing and not column.identifying.is_flagged
    return column.distinct == 1 and table.rows > 1 and is_plain


def _decision(column: FoundColumn, role: Role) -> str:
    """Text has nothing coarser to become, so it cannot be generalised."""
    proposed = column.identifying.proposed
    return "drop" if role == "text" and proposed == "generalise" else proposed


def _kind(column: FoundColumn, *, is_read: bool) -> tuple[Role, tuple[str, ...]]:
    if not is_read:
        why = (
            "Some of its cells are numbers or days in another spelling; write them alike, then profile again."
        )
        return _words(column, (why, *_mixed(column)))
    kinds, present = column.kinds, column.present
    numeric = kinds.get("whole", 0) + kinds.get("decimal", 0)
    dates, moments = kinds.get("date", 0), kinds.get("datetime", 0)
    if numeric >= (1 - _STRAY) * present:
        stray = present - numeric
        reasons = (f"{stray} cells are no numbers; they count as missing.",) if stray else ()
        if kinds.get("decimal", 0):
            return "number", reasons
        if not stray and _looks_coded(column):
            codes = "It has few whole numbers: codes of categories, or counts? Kind integer is for counts."
            return "categorical", (codes,)
        return "integer", reasons
    if not (dates and moments) and dates + moments >= (1 - _STRAY) * present:
        stray = present - dates - moments
        return "date", (f"{stray} cells are no dates; they count as missing.",) * (stray > 0)
    return _words(column, _mixed(column))


def _words(column: FoundColumn, mixed: tuple[str, ...]) -> tuple[Role, tuple[str, ...]]:
    """Of what is no number and no day."""
    if column.longest > LONGEST_CATEGORY:
        return "text", (*mixed, f"A cell has {column.longest} characters, more than a category can have.")
    if column.distinct_is_exact and column.distinct <= max(CATEGORIES_AT_MOST, 1):
        return "categorical", mixed
    is_quasi = column.identifying.classification == "quasi"
    share = _REPEATED_QUASI if is_quasi else _REPEATED
    is_repeated = column.distinct <= share * column.present and column.distinct <= 2000 and column.words < 4
    return ("categorical" if is_repeated else "text"), mixed


def _looks_coded(column: FoundColumn) -> bool:
    """Few small whole numbers that no known scale explains."""
    numbers = column.numbers
    is_small = numbers is not None and numbers.lower >= -10 and numbers.upper <= 2 * _CODES_AT_MOST
    is_few = column.distinct_is_exact and column.distinct <= _CODES_AT_MOST
    return is_small and is_few and column.identifying.kind != "AGE" and instrument_for(column.name) is None


def _mixed(column: FoundColumn) -> tuple[str, ...]:
    reasons = []
    if len(column.kinds) > 1:
        parts = ", ".join(f"{count} {_CALLED.get(kind, kind)}" for kind, count in column.kinds.items())
        reasons.append(f"Its cells are of mixed kinds: {parts}.")
    if column.kinds.get("date_other"):
        reasons.append("No dialect reads all of its dates alike; write them alike to keep them as dates.")
    if column.kinds.get("zoned"):
        reasons.append("Its times have a zone; write them in one, without it, to keep them as dates.")
    if column.kinds.get("padded"):
        reasons.append("Digits with zeros in front, or too many for a number, are codes: they stay text.")
    return tuple(reasons)


_CALLED = {
    "whole": "whole numbers",
    "decimal": "decimal numbers",
    "comma": "numbers with a comma",
    "padded": "codes of digits",
    "date": "dates",
    "date_other": "dates in another form",
    "datetime": "days with a time",
    "datetime_other": "days with a time in another form",
    "zoned": "times of a zone",
    "formula": "formulas",
    "text": "texts",
}


def _advice(column: FoundColumn, table: FoundTable, role: Role) -> tuple[str, ...]:
    found = []
    if column.kinds.get("formula"):
        found.append(
            f"{column.kinds['formula']} cells begin like a formula of a spreadsheet. They are text here; "
            "a spreadsheet that opens a result would run them."
        )
    if role == "categorical" and column.distinct > CATEGORIES_AT_MOST:
        found.append(
            f"It has {column.distinct} values: each takes its share of the noise. Give a public map to "
            "coarser ones (coarsen), or leave it blank in the twin."
        )
    if codes := _suspected_codes(column):
        found.append(f"The value {' and '.join(codes)} may stand for missing: it lies far from all others.")
    if column.days and column.days.impossible:
        found.append(f"{column.days.impossible} cells name days that no calendar has.")
    if column.days and column.days.first < "1800" and column.days.first:
        found.append(f"The first date is {column.days.first}: a stand-in for missing, or a mistake?")
    if column.longest > 1000:
        found.append(f"Its longest cell has {column.longest} characters.")
    if column.missing_share > 0.5 and table.rows:
        found.append("More than half of its cells are missing.")
    return tuple(found)


def _suspected_codes(column: FoundColumn) -> list[str]:
    """Whole numbers that people use for missing, at an end of the range and apart from nearly all others."""
    numbers = column.numbers
    if numbers is None or len(numbers.quantiles) < 7:
        return []
    low, high = numbers.quantiles[2], numbers.quantiles[4]
    apart = 3 * max(high - low, 1e-9)
    # a flagged column shows no values: there the ends of its range must do
    values = {value for value, _ in column.frequent}
    return [
        code
        for code in _USUAL_MISSING
        if (code in values or column.identifying.is_flagged)
        and (float(code) in (numbers.lower, numbers.upper))
        and not low - apart <= float(code) <= high + apart
    ]


def _special(column: FoundColumn) -> tuple[float, ...]:
    """Numbers that stand out of many others: a spike at zero, say."""
    if column.distinct < _MANY or not column.present:
        return ()
    spikes = [
        float(value)
        for value, count in column.frequent
        if count > _SPIKE * column.present
        and count > 10 * column.present / column.distinct
        and re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?", value)
    ]
    return tuple(dict.fromkeys(spikes))[:20]


def _encoding(column: FoundColumn, entry: DictionaryEntry) -> tuple[str, ...]:
    """Categories in the order of their codes: as the dictionary has them, or sorted, as pandas would."""
    if entry.levels:
        return entry.levels
    if column.short_by or len(column.frequent) < column.distinct:
        return ()
    return tuple(sorted(value for value, _ in column.frequent))


def _person_reasons(table: FoundTable, person: str) -> tuple[str, ...]:
    people = table.people_of(person)
    if people is None or not people.rows_per_person:
        return ("It names whom a row is about.",)
    about = "" if people.people_is_exact else "about "
    most = people.rows_per_person[-1]
    rows = (
        "one row for each"
        if most == 1
        else f"up to {most} rows for one, {people.rows_per_person[2]} in the middle"
    )
    return (f"It names whom a row is about: {about}{people.people} people, {rows}.",)
