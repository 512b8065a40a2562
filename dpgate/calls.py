"""What the methods of both clients are made of: each is written once, and says what to ask and how the answer
is read. A driver of `dpgate.drivers` sends it, and either waits or is awaited.

Nothing here sends anything.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Generic, Literal, ParamSpec, TypeVar, overload

from dpgate.answers import as_model, content_of

if TYPE_CHECKING:
    import httpx

    # a part that names no driver is one of the client that waits
    from typing_extensions import TypeVar as TypeVarWithDefault

    from dpgate.drivers import Awaited, Waiting

    DriverT = TypeVarWithDefault("DriverT", default=Waiting)
else:
    DriverT = TypeVar("DriverT")

AnswerT = TypeVar("AnswerT")
Given = ParamSpec("Given")


class Call(Generic[AnswerT]):
    """One request, and how its answer is read: its `content`, `whole`, or the `octets` of a large one."""

    def __init__(
        self,
        read: Callable[[Any], AnswerT],
        method: str,
        path: str,
        *,
        takes: Literal["content", "whole", "octets"] = "content",
        **request: Any,
    ) -> None:
        self.method, self.path, self.request = method, path, request
        self.is_large = takes == "octets"
        self._read, self._takes = read, takes

    def result_of(self, answer: httpx.Response | bytes) -> AnswerT:
        """What the caller gets. Raises PlatformUnreachable for what no dpgate would answer."""
        if isinstance(answer, bytes):
            return self._read(answer)
        return as_model(self._read, answer if self._takes == "whole" else content_of(answer))


@dataclass(frozen=True)
class Pause:
    """Ask no more for so many seconds."""

    seconds: float


Steps = Generator["Call[Any] | Pause", Any, AnswerT]
Look = Generator["Call[Any] | Pause | Shown[AnswerT]", Any, None]


@dataclass(frozen=True)
class Shown(Generic[AnswerT]):
    """What whoever follows something is given between two requests."""

    what: AnswerT


class Part(Generic[DriverT]):
    """A client, or a part of one: what a driver sends for."""

    def __init__(self, driver: DriverT) -> None:
        self._driver = driver


class Asked(Generic[Given, AnswerT]):
    """A method: its answer at once where the driver waits, and to be awaited where it does not."""

    def __init__(self, made: Callable[..., Call[AnswerT] | Steps[AnswerT]]) -> None:
        # help and signatures are the method's
        self.made = self.__wrapped__ = made
        self.__doc__ = made.__doc__

    @overload
    def __get__(self, part: None, owner: Any) -> Asked[Given, AnswerT]: ...
    @overload
    def __get__(self, part: Part[Waiting], owner: Any) -> Callable[Given, AnswerT]: ...
    @overload
    def __get__(self, part: Part[Awaited], owner: Any) -> Callable[Given, Coroutine[Any, Any, AnswerT]]: ...
    def __get__(self, part: Any, owner: Any) -> Any:
        return self if part is None else _bound(self.made, part, "run")

    def __call__(self, part: Part[Any], *arguments: Given.args, **options: Given.kwargs) -> Any:
        """As a function of the part: `Client.jobs(client)`."""
        return _bound(self.made, part, "run")(*arguments, **options)


class Followed(Generic[Given, AnswerT]):
    """The same for a method that gives one thing after another: an iterator, or an asynchronous one."""

    def __init__(self, made: Callable[..., Any]) -> None:
        # help and signatures are the method's
        self.made = self.__wrapped__ = made
        self.__doc__ = made.__doc__

    @overload
    def __get__(self, part: None, owner: Any) -> Followed[Given, AnswerT]: ...
    @overload
    def __get__(self, part: Part[Waiting], owner: Any) -> Callable[Given, Iterator[AnswerT]]: ...
    @overload
    def __get__(self, part: Part[Awaited], owner: Any) -> Callable[Given, AsyncIterator[AnswerT]]: ...
    def __get__(self, part: Any, owner: Any) -> Any:
        return self if part is None else _bound(self.made, part, "follow")

    def __call__(self, part: Part[Any], *arguments: Given.args, **options: Given.kwargs) -> Any:
        """As a function of the part: `Job.follow(job)`."""
        return _bound(self.made, part, "follow")(*arguments, **options)


@overload
def asked(made: Callable[Concatenate[Any, Given], Call[AnswerT]]) -> Asked[Given, AnswerT]: ...
@overload
def asked(made: Callable[Concatenate[Any, Given], Steps[AnswerT]]) -> Asked[Given, AnswerT]: ...
def asked(made: Callable[..., Any]) -> Asked[..., Any]:
    """A method that says what to ask, as one that has it asked."""
    return Asked(made)


def followed(made: Callable[Concatenate[Any, Given], Look[AnswerT]]) -> Followed[Given, AnswerT]:
    """A method that says what to ask again and again, as one that has it asked."""
    return Followed(made)


def record(raw: Any) -> dict[str, Any]:
    """An object, as the interface gives it."""
    return dict(raw)


def records(raw: Any) -> list[dict[str, Any]]:
    """A list of objects, as the interface gives it."""
    return list(raw)


def nothing(_: Any) -> None:
    """An answer that says no more than that it was done."""


def _bound(made: Callable[..., Any], part: Any, driven: str) -> Callable[..., Any]:
    @wraps(made)
    def ask(*arguments: Any, **options: Any) -> Any:
        return getattr(part._driver, driven)(made(part, *arguments, **options))

    # for whoever asks for its signature: without the part
    ask.__wrapped__ = made.__get__(part)
    return ask
