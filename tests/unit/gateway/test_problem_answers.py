"""The one map from error to answer: total, bounded, and without an echo."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from domain import errors
from domain.errors import FieldProblem, InvalidRequest, RequestError
from gateway.problems import DOCUMENTED, MAX_PROBLEMS, MAX_TEXT, MEDIA_TYPE, STATUS, answer, fault


def kinds(kind: type[RequestError] = RequestError) -> Iterator[type[RequestError]]:
    for child in kind.__subclasses__():
        yield child
        yield from kinds(child)


def test_every_request_error_has_a_status_and_every_status_a_word():
    assert set(STATUS) == set(kinds())
    # 400 is what a standard wants of one route
    assert set(STATUS.values()) | {400, 500} == set(DOCUMENTED)
    later = {kind: status for kind, status in STATUS.items() if not 400 <= status < 500}
    assert later == {errors.UnderMaintenance: 503, errors.Unready: 503}


@pytest.mark.parametrize(
    "kind", sorted(set(STATUS) - {errors.UnderMaintenance}, key=lambda kind: kind.__name__)
)
def test_an_error_becomes_its_problem(kind: type[RequestError]):
    wait = {"retry_after_s": 7} if kind is errors.TooMany else {}
    found = answer(kind("field", "is wrong.", "Do this.", **wait))
    body = json.loads(found.body)
    assert (found.status_code, found.media_type) == (STATUS[kind], MEDIA_TYPE)
    assert body == {
        "type": f"urn:dpgate:problem:{kind.__name__}",
        "title": kind.title,
        "status": STATUS[kind],
        "detail": "field: is wrong. Do this.",
        "problems": [
            {
                "field": "field",
                "problem": "is wrong.",
                "fix": "Do this.",
                "code": "",
                "sentence": "field: is wrong. Do this.",
            }
        ],
    }
    assert ("www-authenticate" in found.headers) == (kind is errors.Unauthenticated)
    assert found.headers.get("retry-after") == ("7" if kind is errors.TooMany else None)


def test_maintenance_says_when_to_ask_again():
    found = answer(errors.UnderMaintenance("nothing new is taken.", "Try again later.", retry_after_s=7))
    assert (found.status_code, found.headers["retry-after"]) == (503, "7")
    assert json.loads(found.body)["type"] == "urn:dpgate:problem:UnderMaintenance"


def test_an_answer_stays_small():
    many = tuple(FieldProblem("x" * 100_000, "y" * 100_000, "z" * 100_000) for _ in range(1000))
    found = answer(InvalidRequest("x" * 100_000, "y", "z", more=many))
    body = json.loads(found.body)
    assert len(body["problems"]) == MAX_PROBLEMS
    assert body["detail"].endswith(f"and {1001 - MAX_PROBLEMS} more")
    assert all(len(text) <= MAX_TEXT + 3 for problem in body["problems"] for text in problem.values())


@pytest.mark.parametrize("text", ["\ud800", "\0", "a\nb", "\x1b[31m", "\u2028", "\u202e"])
def test_nothing_unprintable_is_written(text: str):
    body = json.loads(answer(InvalidRequest(text, text, text)).body)
    assert text not in json.dumps(body, ensure_ascii=False)
    assert "?" in body["problems"][0]["field"]


def test_a_fault_has_no_detail():
    body = json.loads(fault().body)
    assert (body["status"], body["problems"], body["type"]) == (500, [], "about:blank")
