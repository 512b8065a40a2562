"""Who is to blame, by type. Every error that a person may read descends from one of three roots.

    RequestError            the request is wrong: names the field and the fix, may be shown as it is
      InvalidRequest          a field does not hold what it must (HTTP 422)
      Unauthenticated         no valid token (401)
      NotAllowed              a known user without the right (403)
      NotFound                nothing by that name that this user may see (404)
      Conflict                the thing exists and differs, or is in another state (409)
        Spoilt                  what is on record of it cannot be read (409)
      BudgetExceeded          the ledger refuses (409)
      Doubtful                it can be had, but is hardly of use: says why, and asks (409)
      TooLarge                more bytes than the limit (413)
      TooMany                 too often in too short a time; says when to come back (429)
      UnderMaintenance        nothing new is taken for a while; says when to come back (503)
      Unready                 a part that the platform works with is away (503)
    PipelineError           untrusted code did not do what it declared; on original data this is never shown
    PlatformError           our fault or the host's; its text never carries data
      NotReady                something that the platform needs is missing: the sentence says what to do

Text that has seen original data never becomes part of any of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from domain.places import place


@dataclass(frozen=True)
class FieldProblem:
    """One wrong field of a request, in words that a newcomer can act on."""

    field: str
    problem: str
    fix: str
    # which of the catalogue it is, for programs; none for what is not in it yet
    code: str = ""

    @property
    def place(self) -> str:
        """The field as a person calls it."""
        return place(self.field)

    def __str__(self) -> str:
        return f"{self.field}: {self.problem} {self.fix}".strip()

    @property
    def sentence(self) -> str:
        """The whole for a person."""
        said = f"{self.problem} {self.fix}".strip()
        return f"{self.place}: {said}" if self.place else said[:1].upper() + said[1:]


class RequestError(Exception):
    """The request cannot be taken as it is."""

    title = "The request cannot be taken"

    def __init__(
        self,
        field: str,
        problem: str,
        fix: str = "",
        *,
        more: tuple[FieldProblem, ...] = (),
        reason: str = "",
        code: str = "",
    ) -> None:
        self.problems = (FieldProblem(field, problem, fix, code), *more)
        # one word of a fixed list, for logs and counts
        self.reason = reason
        super().__init__("; ".join(str(problem) for problem in self.problems))

    @property
    def sentence(self) -> str:
        """The whole for a person: a line for each problem."""
        return "\n".join(problem.sentence for problem in self.problems)


class InvalidRequest(RequestError):
    """A field does not hold what it must."""

    title = "A field is not valid"


class Unauthenticated(RequestError):
    """No valid token came with the request."""

    title = "Log in first"


class NotAllowed(RequestError):
    """The user is known but may not do this."""

    title = "Not allowed"


class NotFound(RequestError):
    """Nothing by that name that this user may see."""

    title = "Not found"


class Conflict(RequestError):
    """The thing exists and differs, or is in a state that does not allow this."""

    title = "Conflict"


class Spoilt(Conflict, ValueError):
    """A row holds what no version of ours has written."""

    title = "The record cannot be read"

    @classmethod
    def of(cls, what: str, name: str) -> Spoilt:
        """`what` it is of, and the name or id of that."""
        return cls(
            what.replace(" ", "_"),
            f"what is on record of {what} {name} cannot be read: somebody wrote past the platform, or a "
            "part was lost. Nothing was changed or charged.",
            "Ask the operator: it has to come back from a backup.",
        )


class BudgetExceeded(RequestError):
    """The privacy budget does not cover the request. Depends on public ledger values only."""

    title = "The privacy budget does not cover this"


class Doubtful(RequestError):
    """It may be asked, but the answer will hardly be of use. Follows from public numbers and the twin."""

    title = "Look at this first"


class TooLarge(RequestError):
    """More bytes than the limit allows."""

    title = "Too large"


class TooMany(RequestError):
    """Too often in too short a time."""

    title = "Too many attempts"

    def __init__(self, field: str, problem: str, fix: str = "", *, retry_after_s: int) -> None:
        super().__init__(field, problem, fix)
        self.retry_after_s = retry_after_s


class UnderMaintenance(RequestError):
    """The operator works on the platform: reading goes on, nothing new is taken."""

    title = "Maintenance"

    def __init__(self, problem: str, fix: str = "", *, retry_after_s: int) -> None:
        super().__init__("maintenance", problem, fix)
        self.retry_after_s = retry_after_s


class Unready(RequestError):
    """A part that the platform works with is away, or has another form."""

    title = "Not ready"


class PipelineError(Exception):
    """Untrusted code did not do what it declared. Shown for twin runs only."""


class PlatformError(Exception):
    """Our fault or the host's. The text names what to do and never carries data."""


class NotReady(PlatformError):
    """Something that the platform needs is missing; the sentence says what to do."""
