"""A whole table in memory, column by column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from twins.pii.column import ColumnScan
from twins.pii.finding import Finding
from twins.pii.model import Model


def scan_table(table: Mapping[str, Sequence[str]], *, model: Model | None) -> tuple[Finding, ...]:
    """One finding for each column, in their order."""
    findings = []
    for name, values in table.items():
        scan = ColumnScan(name, model=model)
        scan.add(values)
        findings.append(scan.finish())
    return tuple(findings)
