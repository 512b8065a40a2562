"""Who is in a data set, which of them a command means, and where a name or a text speaks of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from companions.siesta.tables import read_table
from companions.siesta.tree import Tree
from domain.people_in_paths import PERSON, label_of, mentions, owners
from dpgate.errors import DpgateError

__all__ = ["ROSTER", "Choice", "by_name", "choose", "everybody", "owners"]

ROSTER = "participants.tsv"

_WORD = re.compile(r"(-?)([A-Za-z0-9+]+)")


@dataclass(frozen=True)
class Choice:
    """Labels of the people who stay, of all who were there. Nothing may speak of those who are gone."""

    everybody: tuple[str, ...]
    kept: frozenset[str]

    @cached_property
    def gone(self) -> frozenset[str]:
        return frozenset(self.everybody) - self.kept

    @cached_property
    def _gone_in_any_case(self) -> frozenset[str]:
        return frozenset(label.casefold() for label in self.gone)

    def keeps(self, owners: Set[str], place: str) -> bool:
        """Whether something of these people stays. Raises DpgateError if only some do, or are known."""
        strangers = owners - set(self.everybody)
        if strangers:
            raise DpgateError(
                f"{place} names {min(strangers)!r}, who is not in {ROSTER}; correct it, or --exclude the file"
            )
        if owners & self.kept and owners & self.gone:
            raise DpgateError(f"{place} belongs to several people, of whom one is to go; --exclude the file")
        return not owners & self.gone

    def find_mention(self, text: str) -> str | None:
        """The first person who is gone and of whom a text still speaks, as `sub-XX` in any case."""
        gone = self._gone_in_any_case
        return next((f"sub-{label}" for label in mentions(text) if label.casefold() in gone), None)

    def find_bare(self, text: str, *, digits: bool) -> str | None:
        """The same for the label alone, as a word. All-digit labels count only with `digits`, and never as
        the value of a pair such as `run-01`."""
        for dash, word in _WORD.findall(text):
            if word.casefold() in self._gone_in_any_case and (not word.isdigit() or (digits and not dash)):
                return str(word)
        return None


def everybody(tree: Tree) -> tuple[str, ...]:
    """All labels, in the order of participants.tsv; without one, the names of the `sub-` folders."""
    found = _listed(tree) if ROSTER in tree.files else by_name(tree)
    if not found:
        raise DpgateError(f"{tree.root} is no BIDS data set: it has neither a {ROSTER} nor a sub-XX folder")
    return tuple(found)


def by_name(tree: Tree) -> list[str]:
    """Labels of the `sub-` folders at the root, in the order of their names."""
    return sorted(match.group(1) for path in tree.folders if (match := PERSON.fullmatch(path)) is not None)


def choose(text: str, labels: tuple[str, ...], *, folders: Sequence[str] = ()) -> str:
    """The label that PARTICIPANT means: `sub-XX`, or its number in participants.tsv, from 1.

    Raises DpgateError for nobody, for a number that is another person's label, and for one that is another
    person's place among the folders: in what a pipeline wrote, where no table is, that is whom it means.
    """
    if PERSON.fullmatch(text):
        if label_of(text) not in labels:
            raise DpgateError(
                f"there is no participant {text}; say sub-{labels[0]} or a number, for instance"
            )
        return label_of(text)
    if not re.fullmatch(r"[0-9]{1,9}", text, re.ASCII) or not 1 <= int(text) <= len(labels):
        raise DpgateError(
            f"PARTICIPANT {text!r} is nobody: say sub-{labels[0]}, or a number from 1 to {len(labels)}"
        )
    found = labels[int(text) - 1]
    if text in labels and found != text:
        raise DpgateError(
            f"PARTICIPANT {text} can be sub-{text} or sub-{found}, who is number {int(text)} of {ROSTER}: "
            "write the one you mean with sub-"
        )
    if folders and list(folders[int(text) - 1 : int(text)]) != [found]:
        raise DpgateError(
            f"PARTICIPANT {text} is sub-{found} by {ROSTER}, and somebody else by the names of the folders, "
            "which count where no table is: say sub- and the label"
        )
    return found


def _listed(tree: Tree) -> Iterable[str]:
    table = read_table(ROSTER, tree.files[ROSTER].read_bytes())
    if "participant_id" not in table.header.cells:
        raise DpgateError(f"{ROSTER} has no column participant_id")
    column = table.header.cells.index("participant_id")
    found: dict[str, int] = {}
    for row in table.rows:
        match = PERSON.fullmatch(row.cells[column])
        if match is None or match.group(1) in found:
            raise DpgateError(
                f"{ROSTER}, line {row.number}: participant_id must read sub-XX, once for each person"
            )
        found[match.group(1)] = row.number
    return found
