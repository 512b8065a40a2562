"""The form of a refusal, and how it becomes an error."""

from __future__ import annotations

from dataclasses import dataclass

from domain.errors import FieldProblem, RequestError


@dataclass(frozen=True)
class Refusal:
    """One refusal. Its code stays as it is: programs go by it. Words in braces are told when it is raised."""

    code: str
    error: type[RequestError]
    field: str
    problem: str
    fix: str
    # one word for logs and counts, where logins are told apart
    reason: str = ""

    def __call__(self, *, at: str = "", **words: object) -> RequestError:
        """The error to raise; `at`: the field, where it is not always the same."""
        one = self.about(at or self.field, **words)
        return self.error(one.field, one.problem, one.fix, code=one.code, reason=self.reason)

    def about(self, field: str, **words: object) -> FieldProblem:
        """The same of one of several fields that are wrong together."""
        problem, fix = self.problem.format_map(words), self.fix.format_map(words)
        return FieldProblem(field, problem, fix.strip(), self.code)
