"""What the battery says of one attack."""

from dataclasses import dataclass
from enum import Enum


class Outcome(Enum):
    PASSED = "passed"
    RESIDUAL = "residual"  # it works, and the catalogue says why that is left
    FAILED = "failed"


@dataclass(frozen=True)
class ProbeResult:
    name: str
    category: str
    outcome: Outcome
    detail: str  # why it failed or is left; empty when it passed
