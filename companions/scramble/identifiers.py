"""Columns that identify people by themselves, and what becomes of them: the platform's one detector decides.

A scramble keeps real values, so a number, name or address that is somebody's would be handed out as it is,
in whatever row. It gets another value or is left out, unless its column is kept by name. So is text of which
the detector cannot tell whether it does: short lists of names look like other categories.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from domain.identifier_kind import Kind
from domain.people_in_paths import MISSING
from twins.pii.column import ColumnScan
from twins.pii.finding import Action, Class, Finding
from worker.pii_model import load

Fate = Literal["renamed", "left out", "kept"]


@dataclass(frozen=True)
class Identifier:
    """One column that identifies people; `values` are its different ones, `reappear` how many of them the
    scrambled table shows."""

    name: str
    kind: str
    fate: Fate
    values: int
    reappear: int = 0

    @property
    def doing(self) -> str:
        """What a sentence about it says that it does."""
        return f"{'may identify' if self.kind == Kind.TEXT else 'identifies'} people ({self.kind})"


@dataclass(frozen=True)
class Identifiers:
    """Those of a table, as the scan finds them."""

    found: tuple[Identifier, ...] = ()

    def names(self, fate: Fate) -> frozenset[str]:
        return frozenset(each.name for each in self.found if each.fate == fate)


def find_identifiers(
    names: Sequence[str], columns: Sequence[Sequence[str]], *, but: Collection[str], keep: Collection[str]
) -> Identifiers:
    """Of all columns `but` those that are renamed or left out already. Every cell is looked at."""
    found = []
    for name, column in zip(names, columns, strict=True):
        if name in but:
            continue
        scan = ColumnScan(name, model=load())
        scan.add(column)
        finding = scan.finish()
        if _may_identify(finding):
            fate: Fate = "renamed" if finding.proposed is Action.PSEUDONYMISE else "left out"
            fate = "kept" if name in keep else fate
            found.append(Identifier(name, str(finding.kind), fate, len(real_values(column))))
    return Identifiers(tuple(found))


def _may_identify(finding: Finding) -> bool:
    """Also what is proposed to be dropped because nobody has said yet what it holds."""
    is_unknown = finding.kind is Kind.TEXT and finding.proposed is Action.DROP
    return finding.classification is Class.DIRECT or is_unknown


def real_values(column: Sequence[str]) -> frozenset[str]:
    """Without what stands for a missing one."""
    return frozenset(column) - frozenset(MISSING)
