"""The noisy counts of one table, as a release holds them: what any number of twins is drawn from for free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from domain.dataset import Table
from domain.twin.cells import cell_grid
from privacy.twin import NoisyCounts

_FIELDS = {"columns", "level", "counts"}


@dataclass(frozen=True)
class TableCounts:
    """`counts` have one entry for each of `columns`, in their order."""

    columns: tuple[str, ...]
    counts: NoisyCounts
    level: Literal[1, 2]

    def __post_init__(self) -> None:
        if len(set(self.columns)) != len(self.columns) or len(self.columns) != len(self.counts.cells):
            raise ValueError(
                f"counts of {len(self.counts.cells)} columns stand beside {len(self.columns)} names; "
                "name each counted column once"
            )

    def check(self, table: Table, nominal_size: int) -> None:
        """Raises ValueError unless these are counts of the cells that this table declares."""
        by_name = {column.name: column for column in table.columns}
        for name, cells in zip(self.columns, self.counts.cells, strict=True):
            if name not in by_name:
                raise ValueError(f"the counts are of column {name}, which {table.path} does not declare")
            declared = cell_grid(by_name[name], nominal_size).count
            if declared != cells:
                raise ValueError(
                    f"column {name} of {table.path} declares {declared} cells and the counts have {cells}; "
                    "they are counts of another version"
                )

    def document(self) -> dict[str, Any]:
        """The same as values of JSON."""
        return {
            "columns": list(self.columns),
            "level": self.level,
            "counts": dict(self.counts.document()),
        }

    @classmethod
    def parse(cls, document: object) -> TableCounts:
        """From values of JSON. Raises ValueError for anything else than what `document` gives."""
        if not isinstance(document, Mapping) or set(document) != _FIELDS:
            raise ValueError(f"counts of a table have the fields {', '.join(sorted(_FIELDS))}")
        columns, level = document["columns"], document["level"]
        if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
            raise ValueError("columns of counts must be a list of names")
        if isinstance(level, bool) or level not in (1, 2):
            raise ValueError("the level of counts must be 1 or 2")
        return cls(tuple(columns), NoisyCounts.parse(document["counts"]), level)
