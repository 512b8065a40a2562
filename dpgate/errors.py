"""What can go wrong for a user of the SDK.

DpgateError
  NotLoggedIn           there is no login to use
  PlatformUnreachable   nothing answers at the address, or something that is not dpgate
  PlatformStopped       a part of an embedded platform did not start, or ended by itself
  RequestRefused        the platform refused: carries status, problems, field and fix
  Doubtful              the job would hardly be of use; what is against it, and `anyway` submits it
  PipelineFailed        the pipeline failed on the twin; the text is the twin's own
  NotFinished           a job takes longer than you wanted to wait
"""

from __future__ import annotations

from collections.abc import Sequence
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


class Doubtful(DpgateError):
    """The runs on the twin say that the answer will hardly be of use. Nothing was asked or charged."""

    def __init__(self, cautions: Sequence[str]) -> None:
        self.cautions = tuple(cautions)
        lines = [f"- {caution}" for caution in self.cautions]
        said = ["nothing was submitted; look at this first", *lines]
        super().__init__("\n".join([*said, "To submit it as it is: --anyway (in Python anyway=True)."]))


class NotFinished(DpgateError):
    """The job goes on; nothing is lost."""


@dataclass(frozen=True)
class Problem:
    """One wrong field and what to do about it."""

    field: str
    problem: str
    fix: str
    # which refusal of the platform's catalogue it is, and the whole of it for a person; not of older ones
    code: str = ""
    sentence: str = ""

    def __str__(self) -> str:
        return self.sentence or f"{self.field}: {self.problem} {self.fix}".strip()


class RequestRefused(DpgateError):
    """The platform refused. Nothing was changed and nothing charged by this request."""

    def __init__(self, *, status: int, kind: str, title: str, problems: tuple[Problem, ...]) -> None:
        self.status = status
        self.kind = kind
        self.title = title
        self.problems = problems
        super().__init__("\n".join(map(str, problems)) or title)

    @property
    def is_over_budget(self) -> bool:
        return self.kind == "BudgetExceeded"
