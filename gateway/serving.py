"""A use case of the desk as a route: the right that it needs comes from the desk, the address from here."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, get_args, get_type_hints
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Response
from fastapi.responses import StreamingResponse

from desk.messages import Messages
from desk.rights import RIGHTS
from domain.permissions import User
from gateway.access import TheDatabase, TheQueue, requires

NEXT = '`<ADDRESS>; rel="next"`, where there are more'
NEXT_PART: dict[int | str, dict[str, Any]] = {
    200: {"headers": {"Link": {"description": NEXT, "schema": {"type": "string"}}}}
}


def link_next(response: Response, path: str, asked: Mapping[str, Any]) -> None:
    """The address of the next part, where something is left to ask for."""
    if asked:
        response.headers["Link"] = f'<{path}?{urlencode(asked, doseq=True)}>; rel="next"'


def allowed(use_case: Callable[..., Any]) -> Any:
    """A dependency: the user, who holds the right of the use case."""
    return Depends(requires(RIGHTS[use_case]))


def served(use_case: Callable[..., Any], **given: Any) -> Callable[..., Any]:
    """Its name is the operation's, its docstring what the document says of it. `given` are annotations in
    place of the desk's: where a parameter comes from, and what must hold of its text."""

    def route(database: Any, user: User, _response: Response, **rest: Any) -> Any:
        return use_case(database, user, **rest)

    return _shaped(route, use_case, given)


def put_once(
    router: APIRouter,
    path: str,
    use_case: Callable[..., Any],
    *,
    summary: str,
    what: str = "request",
    **given: Any,
) -> None:
    """A use case that makes something under an id of somebody's choice, and says whether it is new."""
    view = get_args(get_type_hints(use_case, include_extras=True)["return"])[0]

    def route(database: Any, user: User, response: Response, **rest: Any) -> Any:
        answer, is_new = use_case(database, user, **rest)
        response.status_code = 201 if is_new else 200
        return answer

    responses: dict[int | str, dict[str, Any]] = {
        200: {"description": f"This very {what} is on record"},
        201: {"model": view, "description": "New"},
    }
    router.put(path, summary=summary, responses=responses)(_shaped(route, use_case, given, view))


def _shaped(
    act: Callable[..., Any], use_case: Callable[..., Any], given: dict[str, Any], answer: Any = None
) -> Callable[..., Any]:
    """A function whose signature tells FastAPI where each argument of the use case comes from."""
    hints = get_type_hints(use_case, include_extras=True)
    signature = inspect.signature(use_case)
    database, user, *others = signature.parameters.values()
    kinds = {name: TheQueue if kind is Messages else kind for name, kind in hints.items()} | given
    kinds |= {database.name: TheDatabase, user.name: Annotated[User, allowed(use_case)]}

    def route(response: Response, **values: Any) -> Any:
        return act(values.pop(database.name), values.pop(user.name), response, **values)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [one.replace(annotation=kinds[one.name], kind=keyword) for one in (*others, user, database)]
    parameters.append(inspect.Parameter("response", keyword, annotation=Response))
    # what FastAPI reads; `functools.wraps` would lead it on to the use case
    route.__signature__ = inspect.Signature(parameters, return_annotation=answer or hints["return"])  # type: ignore[attr-defined]
    route.__name__, route.__doc__, route.__module__ = use_case.__name__, use_case.__doc__, use_case.__module__
    return route


def archive(name: str, size: int, parts: Iterator[bytes]) -> Response:
    """A zip file to keep, sent as it comes."""
    headers = {"Content-Length": str(size), "Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(parts, media_type="application/zip", headers=headers)
