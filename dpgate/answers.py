"""What a platform answered, as ours: content, models, or the refusal that it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from dpgate.credentials import ADDRESS, DEFAULT, Login
from dpgate.errors import Doubtful, DpgateError, PlatformUnreachable, Problem, RequestRefused

if TYPE_CHECKING:
    import httpx

ModelT = TypeVar("ModelT")
NOT_DPGATE = "something that is not dpgate; check the address of your login"


def content_of(answer: httpx.Response) -> Any:
    try:
        return answer.json()
    except (ValueError, RecursionError):  # the second of a million brackets
        raise PlatformUnreachable(f"an answer without JSON from {NOT_DPGATE}") from None


def as_model(build: Callable[[Any], ModelT], raw: Any) -> ModelT:
    """What was answered as one of our models."""
    try:
        return build(raw)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError):
        raise PlatformUnreachable(f"an answer without the expected fields from {NOT_DPGATE}") from None


def refusal(answer: httpx.Response, login: Login | None = None) -> DpgateError:
    """The error that was answered. Whoever has to log in anew is told where, and under which name."""
    try:
        body = answer.json()
        problems = tuple(_problem(p, login) for p in body["problems"])
        kind = str(body["type"]).rsplit(":", 1)[-1]
        if kind == Doubtful.__name__:
            return Doubtful([str(problem) for problem in problems if problem.code != "anyway"])
        return RequestRefused(
            status=answer.status_code,
            kind=kind,
            title=str(body["title"]),
            problems=problems,
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return PlatformUnreachable(f"HTTP {answer.status_code} from {NOT_DPGATE}")


def _problem(told: dict[str, Any], login: Login | None) -> Problem:
    """As it was answered, but of what nobody typed: what an older platform cannot read of the twin."""
    if told["field"].startswith("on_twin.") and told["problem"] == "is not a known field.":
        said = (
            "this platform is older than the dpgate here, and cannot read what that tells of the twin.",
            "Ask the operator to update the platform, or install the dpgate that it has and run the pipeline "
            "again.",
        )
        return Problem(told["field"], *said, told.get("code", ""), f"T{said[0][1:]} {said[1]}")
    return Problem(
        told["field"],
        told["problem"],
        _typed(told["fix"], login),
        told.get("code", ""),
        _typed(told.get("sentence", ""), login),
    )


def _typed(text: str, login: Login | None) -> str:
    """A next step with the address in it, so that it can be typed as it stands."""
    if login is None:
        return text
    option = "" if login.profile == DEFAULT else f" --profile {login.profile}"
    return text.replace(f"--url {ADDRESS}", f"--url {login.url}{option}")
