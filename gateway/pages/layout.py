"""How every page is made: one environment for templates, one frame, and who may go where from it.

Everything is escaped unless a template of ours made it; a name that a template misspells is an error.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from domain.channel_words import CHANNEL_WORDS
from domain.permissions import ROLE_NAMES, Role, User
from gateway.pages.session import csrf
from gateway.pages.static import address_of
from gateway.pages.words import WORDS
from store import waiting
from store.database import Database
from store.maintenance import announced


@dataclass(frozen=True)
class Place:
    """One entry of a menu; `counts` says how many decisions wait there."""

    path: str
    name: str
    counts: bool = False


# what each person comes for, the most wanted first
MENUS = {
    Role.DATA_USER: (
        Place("/jobs/new", "Ask"),
        Place("/", "Data"),
        Place("/jobs", "Results"),
        Place("/projects", "Projects"),
    ),
    Role.RIGHTS_HOLDER: (
        Place("/reviews", "Waiting for you", counts=True),
        Place("/", "Data"),
        Place("/budget", "Budget"),
        Place("/projects", "People"),
        Place("/jobs", "Jobs"),
        Place("/audit", "Audit trail"),
    ),
    Role.OPERATOR: (
        Place("/operation", "Health"),
        Place("/jobs", "Jobs"),
        Place("/audit", "Audit trail"),
    ),
}
# longer than the place that a page belongs to: the first that fits
BELONGS = (
    (re.compile(r"/datasets/[^/]+/(ask|train)"), "/jobs/new"),
    (re.compile(r"/jobs/new(/|$)"), "/jobs/new"),
    (re.compile(r"/datasets(/|$)"), "/"),
)


def page(
    request: Request, template: str, *, user: User | None = None, status: int = 200, **context: Any
) -> HTMLResponse:
    """A template of ours as an answer. It knows `user` (None before the login), `csrf` and `here`."""
    places = MENUS[user.role] if user is not None else ()
    here = _place_of(request.url.path, places)
    database = request.app.state.database
    frame = {
        "user": user,
        "role": ROLE_NAMES[user.role] if user is not None else "",
        "csrf": csrf(request),
        "here": request.url.path,
        "places": [(place, place is here, _waiting(database, user, place)) for place in places],
        "role_words": {str(role): words for role, words in ROLE_NAMES.items()},
        "maintenance": announced(database),
    }
    return HTMLResponse(_environment.get_template(template).render(frame | context), status)


def day(moment: datetime | None) -> str:
    """2 March 2026"""
    return "" if moment is None else f"{moment.day} {moment.astimezone(UTC):%B %Y}"


def instant(moment: datetime | None) -> str:
    """2 March 2026, 09:30 UTC. Pages have no other zone: people of one project sit in several."""
    return "" if moment is None else f"{day(moment)}, {moment.astimezone(UTC):%H:%M} UTC"


def number(value: float | None) -> str:
    """A number as people read it: no more digits than a reader needs, a real minus sign."""
    if value is None:
        return ""
    text = f"{value:.6g}" if abs(value) < 1e6 else f"{value:.10g}"
    return text.replace("-", "−") if "e" not in text else text


def counted(amount: int, one: str, many: str = "") -> str:
    """1 job, 2 jobs, 12,000 people"""
    return f"{amount:,} {one if amount == 1 else many or one + 's'}"


def size(octets: int) -> str:
    """Bytes in the largest unit that leaves a number above one."""
    amount = float(octets)
    for unit in ("bytes", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"


def _place_of(path: str, places: Sequence[Place]) -> Place | None:
    """The entry of a menu that a page belongs to."""
    known = {place.path: place for place in places}
    for pattern, place in BELONGS:
        if pattern.match(path) and place in known:
            return known[place]
    fitting = [place for place in places if path == place.path or path.startswith(f"{place.path}/")]
    return max(fitting, key=lambda place: len(place.path), default=None)


def _waiting(database: Database, user: User | None, place: Place) -> int:
    if user is None or not place.counts:
        return 0
    with database.reading() as connection:
        return waiting.count(connection, user)


_environment = Environment(
    loader=PackageLoader("gateway.pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_environment.filters |= {
    "counted": counted,
    "day": day,
    "instant": instant,
    "number": number,
    "size": size,
    "iso": lambda moment: moment.astimezone(UTC).isoformat(timespec="seconds"),
}
_environment.globals |= {"static": address_of, "words": WORDS, "channel_words": CHANNEL_WORDS}
