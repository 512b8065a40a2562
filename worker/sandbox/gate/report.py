"""What the gate says: what moved, what is left, and whether that is all on the list."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class How(Enum):
    """Where the sender is, seen from the look."""

    SAME_SLOT = "before, in the same slot"
    OTHER_SEAT = "before, in another seat of the slot"
    OTHER_SLOT = "before, in another slot"
    BESIDE = "beside, in another slot"


@dataclass(frozen=True)
class Finding:
    """A value that is not on the list and moved. `how` is None: between quiet looks."""

    sender: str
    how: How | None
    key: str
    words: str

    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "how": self.how and self.how.value}


@dataclass(frozen=True)
class Experiment:
    """One sender in one place."""

    sender: str
    how: How
    rounds: int
    moved: tuple[str, ...]  # channels of listed values that moved with or without it
    stray: tuple[str, ...]  # unlisted, seen to differ once and never again
    findings: tuple[Finding, ...]

    def as_json(self) -> dict[str, Any]:
        told = [finding.as_json() for finding in self.findings]
        return {**vars(self), "how": self.how.value, "findings": told}


@dataclass(frozen=True)
class Residual:
    """A channel that is known to be left: how often a look guessed the sender, in fresh rounds."""

    channel: str
    how: How | None
    sender: str
    rule: str
    right: int
    asked: int
    bits: float | None  # of one bit a run; None: not measured
    why_not: str = ""

    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "how": self.how and self.how.value}


@dataclass(frozen=True)
class Report:
    """Of one way of running: warm or cold."""

    mode: str
    values: int  # that a look wrote down
    looks: int
    unclassified: tuple[str, ...]  # calls let through that nobody has said what they answer
    quiet: tuple[Finding, ...]
    experiments: Sequence[Experiment] = ()
    residuals: Sequence[Residual] = field(default=())

    @property
    def findings(self) -> tuple[Finding, ...]:
        return (*self.quiet, *(finding for each in self.experiments for finding in each.findings))

    @property
    def is_closed(self) -> bool:
        """Nothing moved that is not on the list."""
        return not self.findings and not self.unclassified

    def as_json(self) -> dict[str, Any]:
        return {
            "mode": self.mode,
            "is_closed": self.is_closed,
            "values": self.values,
            "looks": self.looks,
            "unclassified_calls": list(self.unclassified),
            "quiet": [finding.as_json() for finding in self.quiet],
            "experiments": [each.as_json() for each in self.experiments],
            "residuals": [each.as_json() for each in self.residuals],
        }


def failed(mode: str, why: str) -> Report:
    """Of a search that could not be made."""
    return Report(mode, 0, 0, (), (Finding("nobody", None, "the search itself", why),))
