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
        problems = tuple(
            Problem(
                p["field"],
                p["problem"],
                _typed(p["fix"], login),
                p.get("code", ""),
                _typed(p.get("sentence", ""), login),
            )
            for p in body["problems"]
        )
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


def _typed(text: str, login: Login | None) -> str:
    """A next step with the address in it, so that it can be typed as it stands."""
    if login is None:
        return text
    option = "" if login.profile == DEFAULT else f" --profile {login.profile}"
    return text.replace(f"--url {ADDRESS}", f"--url {login.url}{option}")
