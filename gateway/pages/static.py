"""The few files that every page loads: one style sheet, one script, one picture."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

from fastapi import APIRouter, Response

from domain.errors import NotFound

router = APIRouter(include_in_schema=False)
MEDIA_TYPES = {
    "console.css": "text/css; charset=utf-8",
    "chart.css": "text/css; charset=utf-8",
    "submit.css": "text/css; charset=utf-8",
    "policy.css": "text/css; charset=utf-8",
    "register.css": "text/css; charset=utf-8",
    "review.css": "text/css; charset=utf-8",
    "facts.css": "text/css; charset=utf-8",
    "operation.css": "text/css; charset=utf-8",
    "htmx.min.js": "text/javascript; charset=utf-8",
    "htmx-LICENSE.txt": "text/plain; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
PATH = "/static"


@router.get(f"{PATH}/{{name}}")
def get_static(name: str) -> Response:
    """A file of the fixed list. Whoever may see it need not be anybody."""
    if name not in MEDIA_TYPES:
        raise NotFound("name", "there is no such file.")
    return Response(_content(name), media_type=MEDIA_TYPES[name])


def address_of(name: str) -> str:
    """Where a page loads it from: another content has another address, so no cache serves an old one."""
    return f"{PATH}/{name}?{hashlib.sha256(_content(name)).hexdigest()[:12]}"


@cache
def _content(name: str) -> bytes:
    return files("gateway.pages").joinpath("static", name).read_bytes()
