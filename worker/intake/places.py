"""Whose each file of a delivery is: one person's, everybody's by the rights holder's word, or refused.

In a BIDS tree a file is a person's if its path names them as `sub-XX`, wherever it lies. Whatever is nobody's
must be declared or excluded: only the rights holder can know what lies in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from domain.dataset import Declaration, ImportProblem
from domain.people_in_paths import PERSON, label_of, mentions, owners
from formats.checksums import LISTS, MANIFEST
from worker.intake.refusal import ImportRefused, refuse_all

Knows = Callable[[Sequence[str]], bool]


@dataclass(frozen=True)
class People:
    """The people of a data set: whether names are theirs, and in a BIDS tree the names themselves."""

    knows_all: Knows
    labels: frozenset[str] = frozenset()

    @staticmethod
    def of_tree(names: Sequence[str], knows_all: Knows) -> People:
        return People(knows_all, frozenset(label_of(name) for name in names))

    def mentioned(self, text: str, *, but: frozenset[str] = frozenset()) -> str | None:
        """The first person, other than these, of whom a text speaks as `sub-XX` in any case."""
        others = {label.casefold() for label in but}
        known = self._in_any_case
        found = (label.casefold() for label in mentions(text))
        return next((f"sub-{label}" for label in found if label in known and label not in others), None)

    @property
    def _in_any_case(self) -> frozenset[str]:
        if "folded" not in self.__dict__:
            self.__dict__["folded"] = frozenset(label.casefold() for label in self.labels)
        folded: frozenset[str] = self.__dict__["folded"]
        return folded


@dataclass(frozen=True)
class Places:
    """Where everything is: each person's paths, public paths that are taken as delivered, and all others."""

    of_person: Mapping[str, Sequence[str]] = field(repr=False)
    shared: tuple[str, ...] = ()
    nobodys: tuple[str, ...] = field(default=(), repr=False)


def sort_out(files: Sequence[str], declaration: Declaration, people: People) -> Places:
    """Raises ImportRefused for a path that names a stranger, two people, or a person where none may be named,
    and for one below a declared file.

    `nobodys` are left for the caller to refuse: their content says in which words.
    """
    declared = {table.path for table in declaration.tables} | {file.path for file in declaration.public_files}
    of_person: dict[str, list[str]] = {}
    nobodys = []
    for place in declared:
        if declaration.layout == "bids":
            _check_names_nobody(place, people)
    for place in files:
        if place in declared or place in (MANIFEST, *LISTS):
            continue
        if above := _declared_above(place, declared):
            detail = f"the declaration has a file {above}, in which nothing can lie"
            raise ImportRefused(ImportProblem.FILE_NAME, place=place, detail=detail)
        owner = owner_of(place, people) if declaration.layout == "bids" else None
        if owner is None:
            nobodys.append(place)
        else:
            of_person.setdefault(owner, []).append(place)
    shared = tuple(file.path for file in declaration.public_files if file.as_delivered)
    return Places(of_person, shared, tuple(nobodys))


def _declared_above(place: str, declared: set[str]) -> str | None:
    """A declared file that has the name of a folder of this path: no run could be given both."""
    steps = place.split("/")
    return next((above for n in range(1, len(steps)) if (above := "/".join(steps[:n])) in declared), None)


def owner_of(place: str, people: People) -> str | None:
    """The one person whom a path names, or None. Raises ImportRefused for strangers, and for two."""
    of = owners(place)
    strangers = of - people.labels
    if strangers:
        raise ImportRefused(ImportProblem.PEOPLE_MISSING, place=place, detail=f"sub-{min(strangers)}")
    if len(of) > 1:
        detail = f"it is of {' and '.join(f'sub-{label}' for label in sorted(of))}"
        raise ImportRefused(ImportProblem.PERSON_MENTIONED, place=place, detail=detail)
    if also := people.mentioned(place, but=of):
        raise ImportRefused(ImportProblem.PERSON_MENTIONED, place=place, detail=f"it names {also}")
    return f"sub-{next(iter(of))}" if of else None


def _check_names_nobody(place: str, people: People) -> None:
    if named := people.mentioned(place):
        detail = f"its path names {named}"
        raise ImportRefused(ImportProblem.PERSON_MENTIONED, place=place, detail=detail)


def check_folders(
    folders: Sequence[str], places: Places, declaration: Declaration, names: Sequence[str], people: People
) -> None:
    """Every `sub-` folder is of somebody who is listed, also an empty one; and everybody has one.

    Raises ImportRefused, naming all that are wrong.
    """
    for folder in folders:
        owner_of(folder, people)
    with_folder = {owner for owner, own in places.of_person.items() if _is_at_the_top(owner, own)}
    if declaration.folders == "some" or not (with_folder or declaration.person_files):
        return
    without = [name for name in names if name not in with_folder]
    refuse_all(ImportProblem.FOLDER_MISSING, without, detail=f"listed in {declaration.privacy_unit.table}")


def _is_at_the_top(owner: str, own: Sequence[str]) -> bool:
    return any(place.startswith(f"{owner}/") for place in own)


def check_names(names: Iterator[tuple[int, str]], place: str) -> list[str]:
    """The people of a BIDS tree's table, in its order. Raises ImportRefused unless all are `sub-XX`."""
    found = []
    for line, name in names:
        if PERSON.fullmatch(name) is None:
            raise ImportRefused(ImportProblem.PERSON_NAME, place=place, detail=f"line {line}: {name!r}")
        found.append(name)
    return found
