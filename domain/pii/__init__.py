"""Which columns identify people: rules, check digits, and a small model; and made-up values to mask them.

    scan = ColumnScan("contact", model=Model.parse(content))
    scan.add(values)
    finding = scan.finish()

Everything is computed here, from the values given: no network, no file. Findings hold counts, never values.
"""

from domain.pii.column import ColumnScan
from domain.pii.finding import Action, Class, Finding, Kind
from domain.pii.mask import masks
from domain.pii.model import Model
from domain.pii.table import scan_table

__all__ = ["Action", "Class", "ColumnScan", "Finding", "Kind", "Model", "masks", "scan_table"]
