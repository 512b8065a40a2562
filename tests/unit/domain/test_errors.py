"""Errors are one tree with three roots, and say field, problem and fix."""

from __future__ import annotations

from domain import errors
from domain.errors import FieldProblem, InvalidRequest, PipelineError, PlatformError, RequestError

ERRORS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]


def test_every_error_has_one_of_three_roots(subtests):
    for kind in ERRORS:
        with subtests.test(kind=kind):
            assert sum(issubclass(kind, root) for root in (RequestError, PipelineError, PlatformError)) == 1


def test_every_error_is_drawn_in_the_tree(subtests):
    for kind in ERRORS:
        with subtests.test(kind=kind):
            assert kind.__name__ in (errors.__doc__ or "")


def test_request_errors_have_titles_of_their_own():
    titles = [kind.title for kind in ERRORS if issubclass(kind, RequestError)]
    assert len(set(titles)) == len(titles)


def test_an_error_reads_as_a_sentence_per_field():
    error = InvalidRequest("a", "is missing.", "Add it.", more=(FieldProblem("b", "is odd.", ""),))
    assert str(error) == "a: is missing. Add it.; b: is odd."
