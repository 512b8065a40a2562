"""What needs whole rows: who they are of, who stands alone, which column settles another.

The first pass proposes, from counts and a sample; the second holds it against every row, in bounded memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from twins.profile.found import Dependency, FoundColumn, People, Together
from twins.profile.sketch import Distinct, Groups, hash_of

_GROUPS, _PEOPLE, _OTHER_PEOPLE = 150_000, 100_000, 40_000
_MOST_PEOPLE = 6
_MOST_QUASI, _MOST_TRIED, _MOST_DEPENDENCIES = 30, 60, 60
_LARGEST_KEY = 2_000
_EXCEPTIONS = 0.001
_PERSON = re.compile(
    r"(?:^|_)(?:participant|subject|patient|person|individual|respondent|proband|teilnehmer|deelnemer|sujet|"
    r"paziente|paciente|pat|subj|sub|user|member|client|student|employee|record)(?:_?(?:id|nr|no|num|number|code|key))?$"
    r"|^(?:id|identifier|pid|ptid|mrn|src_subject_id|subjectkey)$"
)
_SHARES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


@dataclass(frozen=True)
class Wanted:
    """What the rights holder said beforehand: the column of people, where the guess would be another."""

    person: str | None = None


@dataclass(frozen=True)
class Chosen:
    """What the second pass looks at."""

    people: tuple[str, ...] = ()
    quasi: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    candidate_ids: tuple[str, ...] = ()

    @property
    def is_anything(self) -> bool:
        return bool(self.people or self.quasi or self.pairs)


def choose(
    columns: Sequence[FoundColumn],
    sample: Sequence[Sequence[str]],
    counted: Mapping[str, int],
    wanted: Wanted,
) -> Chosen:
    """`counted` has the number of different values of each column whose values were all counted."""
    ids = tuple(column.name for column in columns if _may_be_id(column))
    people = (wanted.person,) if wanted.person is not None else tuple(_people(columns, ids))
    person = people[0] if people else None
    quasi = tuple(
        column.name
        for column in columns
        if column.identifying.classification == "quasi" and column.name != person and column.present
    )
    return Chosen(people, quasi[:_MOST_QUASI], tuple(_pairs(columns, sample, counted, person)), ids)


def _may_be_id(column: FoundColumn) -> bool:
    """Different in every row, or nearly, as an estimate can say; and no measured number."""
    if column.rows < 2 or column.present < column.rows or column.kinds.get("decimal"):
        return False
    short = column.longest <= 64 and column.words <= 2
    return short and column.distinct >= column.rows * (1 if column.distinct_is_exact else 0.85)


def _people(columns: Sequence[FoundColumn], ids: Sequence[str]) -> list[str]:
    """Columns that may name people: by name, those that are unique before others; else a unique text."""
    usual = ("participant_id", "subject_id", "person_id", "patient_id")
    named = [column.name for column in columns if column.present and _PERSON.search(_words(column.name))]
    named.sort(key=lambda name: (name.casefold() not in usual, name not in ids))
    texts = [column.name for column in columns if column.name in ids and column.numbers is None]
    return list(dict.fromkeys([*named, *([] if named else texts[:1])]))[:_MOST_PEOPLE]


def _words(name: str) -> str:
    """`patientID` and `Patient-Id` as patient_id."""
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip())
    return re.sub(r"[\s.-]+", "_", split).casefold()


def _pairs(
    columns: Sequence[FoundColumn],
    sample: Sequence[Sequence[str]],
    counted: Mapping[str, int],
    person: str | None,
) -> Iterator[tuple[str, str]]:
    """Pairs that hold in the sample, those with few values first; work is bounded by numbers of columns."""
    usable = [
        (counted[column.name], position, column.name)
        for position, column in enumerate(columns)
        if 2 <= counted.get(column.name, 0) <= min(_LARGEST_KEY, max(column.rows // 2, 2))
        and column.name != person
    ]
    usable = sorted(usable)[:_MOST_TRIED]
    found = 0
    for many, at, name in usable:
        for few, other, follows in usable:
            if at == other or few > many or found >= _MOST_DEPENDENCIES:
                continue
            if _holds(sample, at, other):
                found += 1
                yield name, follows


def _holds(sample: Sequence[Sequence[str]], at: int, other: int) -> bool:
    belongs: dict[str, str] = {}
    allowed = int(len(sample) * _EXCEPTIONS)
    for row in sample:
        if belongs.setdefault(row[at], row[other]) != row[other]:
            allowed -= 1
            if allowed < 0:
                return False
    return len(belongs) < len(sample)


class Keys:
    """The second pass."""

    def __init__(self, header: Sequence[str], chosen: Chosen) -> None:
        at = {name: position for position, name in enumerate(header)}
        self._chosen = chosen
        self._rows = 0
        self._people = [
            _Column(name, at[name], _OTHER_PEOPLE if number else _PEOPLE)
            for number, name in enumerate(chosen.people)
        ]
        self._quasi = [at[name] for name in chosen.quasi]
        self._together = Groups(_GROUPS)
        self._pairs = [_Pair(at[name], at[follows]) for name, follows in chosen.pairs]

    def add(self, row: Sequence[str]) -> None:
        self._rows += 1
        for column in self._people:
            column.add(row)
        if self._quasi:
            self._together.add(hash_of("\0".join(row[at].strip() for at in self._quasi)))
        for pair in self._pairs:
            pair.add(row)

    @property
    def people(self) -> tuple[People, ...]:
        """For each column that may name them; the likeliest first."""
        return tuple(column.found for column in self._people)

    @property
    def together(self) -> Together | None:
        if not self._quasi:
            return None
        sizes = self._together.sizes
        return Together(
            columns=self._chosen.quasi,
            rows=self._rows,
            k=sizes[0] if sizes else 0,
            unique=self._together.alone,
            groups=self._together.number,
            is_exact=self._together.is_exact,
        )

    @property
    def dependencies(self) -> tuple[Dependency, ...]:
        allowed = self._rows * _EXCEPTIONS
        return tuple(
            Dependency(determines=name, follows=follows, exceptions=pair.exceptions)
            for (name, follows), pair in zip(self._chosen.pairs, self._pairs, strict=True)
            if pair.exceptions <= allowed
        )


class _Column:
    """One column that may name people."""

    def __init__(self, name: str, at: int, most: int) -> None:
        self._name, self._at = name, at
        self._groups, self._hashes = Groups(most), Distinct(256)
        self._unnamed = 0

    def add(self, row: Sequence[str]) -> None:
        name = row[self._at].strip()
        if not name:
            self._unnamed += 1
            return
        self._groups.add(hash_of(name))
        self._hashes.add((name,))

    @property
    def found(self) -> People:
        sizes = self._groups.sizes
        shares = [sizes[int(share * (len(sizes) - 1))] for share in _SHARES] + sizes[-1:] if sizes else []
        return People(
            column=self._name,
            people=self._groups.number,
            people_is_exact=self._groups.is_exact,
            rows_per_person=tuple(shares),
            unnamed=self._unnamed,
            hashes=tuple(self._hashes.hashes),
        )


@dataclass
class _Pair:
    at: int
    follows: int
    exceptions: int = 0
    _belongs: dict[str, str] = field(default_factory=dict)

    def add(self, row: Sequence[str]) -> None:
        if self._belongs.setdefault(row[self.at], row[self.follows]) != row[self.follows]:
            self.exceptions += 1
