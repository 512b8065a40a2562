"""Can the twin be made again from the declaration and the released counts alone?

If it can, byte for byte, then nothing else went into it: whatever the declaration and the counts do not say
about people, the twin does not say either. A scrambled original cannot be made again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from companions.twin_report.reading import read_sheet
from domain.dataset import Declaration
from domain.twin import TableCounts
from domain.twin.levels import CUSTODIAN_LABELS
from twins.drawn import MAX_BYTES, make_twin, size_of_twin


@dataclass(frozen=True)
class Provenance:
    """`made_again` is None where that was not tried; `digests` are the sha256 of the twin's tables."""

    made_again: bool | None
    seed: int
    people: int
    digests: Mapping[str, str]
    counts: Mapping[str, TableCounts]

    def level_of(self, path: str, column: str) -> int | None:
        """0 to 2; None for a twin that is not known to be made from what it should be made from."""
        if self.made_again is not True:
            return None
        counts = self.counts.get(path)
        return counts.level if counts is not None and column in counts.columns else 0

    @property
    def label(self) -> str:
        """Of the whole twin: that of its best table."""
        if self.made_again is not True:
            return UNKNOWN
        best = max((counts.level for counts in self.counts.values()), default=0)
        return CUSTODIAN_LABELS[best]

    @property
    def sentence(self) -> str:
        """What was found."""
        source = "the declaration and the counts" if self.counts else "the declaration alone"
        if self.made_again is None:
            return f"The twin is too large to be made again here from {source}: its origin was not checked."
        if self.made_again:
            return (
                f"The tables were made again from {source}, with seed {self.seed}, and are equal byte for "
                "byte: nothing else went into them."
            )
        return (
            f"The tables could not be made again from {source} with seed {self.seed}. If the twin has "
            "another seed, name it with --twin-seed; else something else went into it, such as real values."
        )


UNKNOWN = "Origin unknown: until it is known, treat this twin as personal data"


def find_provenance(
    declaration: Declaration, twin: Path, counts: Mapping[str, TableCounts], seed: int
) -> Provenance:
    """Make the twin again, with as many people as it has. Raises DpgateError where a table lacks."""
    contents = {table.path: (twin / table.path).read_bytes() for table in declaration.tables}
    digests = {path: hashlib.sha256(content).hexdigest() for path, content in contents.items()}
    unit = next(table for table in declaration.tables if table.path == declaration.privacy_unit.table)
    people = len(set(read_sheet(twin, unit).people))
    made: bool | None = None
    if people and size_of_twin(declaration, people) <= MAX_BYTES:
        again = make_twin(
            declaration,
            counts=counts,
            seed=seed,
            people=None if people == declaration.nominal_size else people,
        )
        made = all(again[path] == content for path, content in contents.items())
    return Provenance(made if people else False, seed, people, digests, counts)
