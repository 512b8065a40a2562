"""Which columns identify people: rules, check digits, and a small model; and made-up values to mask them.

    scan = ColumnScan("contact", model=Model.parse(content))
    scan.add(values)
    finding = scan.finish()

Everything is computed here, from the values given: no network, no file. Findings hold counts, never values.
The scan itself is imported from its own files, `column`, `table` and `model`: every declaration names kinds
of findings, and few programs look for any.
"""

from domain.identifier_kind import Kind
from twins.pii.finding import Action, Class, Finding
from twins.pii.mask import masks

__all__ = ["Action", "Class", "Finding", "Kind", "masks"]
