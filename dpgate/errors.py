"""What can go wrong for a user of the SDK.

DpgateError
  NotLoggedIn           there is no login to use
  PlatformUnreachable   nothing answers at the address, or something that is not dpgate
  PlatformStopped       a part of an embedded platform did not start, or ended by itself
  RequestRefused        the platform refused: carries status, problems, field and fix
  PipelineFailed        the pipeline failed on the twin; the text is the twin's own
  NotFinished           a job takes longer than you wanted to wait
"""

from __future__ import annotations

from dataclasses import dataclass


class DpgateError(Exception):
    """The root of all errors of the SDK."""


class NotLoggedIn(DpgateError):
    """There is no login to use."""


class PlatformUnreachable(DpgateError):
    """Nothing answers at the platform's address, or something that is not dpgate."""


class PlatformStopped(DpgateError):
    """A part of an embedded platform did not start, or ended by itself."""


class PipelineFailed(DpgateError):
    """The pipeline did not do on the twin what its manifest declares."""


class NotFinished(DpgateError):
    """The job goes on; nothing is lost."""


@dataclass(frozen=True)
class Problem:
    """One wrong field and what to do about it."""

    field: str
    problem: str
    fix: str


class RequestRefused(DpgateError):
    """The platform refused. Nothing was changed and nothing charged by this request."""

    def __init__(self, *, status: int, kind: str, title: str, problems: tuple[Problem, ...]) -> None:
        self.status = status
        self.kind = kind
        self.title = title
        self.problems = problems
        lines = [f"{p.field}: {p.problem} {p.fix}".strip() for p in problems]
        super().__init__("\n".join(lines) or title)

    @property
    def is_over_budget(self) -> bool:
        return self.kind == "BudgetExceeded"
