"""What a scan says about one column: a class, counts, and what to do. Never a value of the column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from domain.identifier_kind import Kind


class Class(StrEnum):
    """How a column can identify somebody."""

    DIRECT = "direct"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    NONE = "none"


class Action(StrEnum):
    """What the rights holder is asked to decide on; the scan only proposes."""

    DROP = "drop"
    MASK = "mask"
    GENERALISE = "generalise"
    PSEUDONYMISE = "pseudonymise"
    KEEP = "keep"


@dataclass(frozen=True)
class Finding:
    """One column as the scan sees it. For the rights holder only: the counts follow from the data.

    `evidence` counts values by rule and holds no value; `masked_example` shows a shape, no letter or digit
    that a value has. `confidence` lies in 0..1 and is a rule of thumb, not a probability.
    """

    column: str
    kind: Kind
    classification: Class
    confidence: float
    proposed: Action
    why: str
    masked_example: str = ""
    evidence: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_flagged(self) -> bool:
        """Whether a person has to decide on this column."""
        return self.classification is not Class.NONE or self.proposed is not Action.KEEP

    def document(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {
            "column": self.column,
            "kind": str(self.kind),
            "classification": str(self.classification),
            "confidence": self.confidence,
            "proposed": str(self.proposed),
            "why": self.why,
            "masked_example": self.masked_example,
            "evidence": dict(self.evidence),
        }
