"""How every page is made: one environment for templates, one frame, and who may go where from it.

Everything is escaped unless a template of ours made it; a name that a template misspells is an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from domain.permissions import Permission, Role, User, is_allowed
from gateway.pages.session import csrf
from gateway.pages.static import address_of
from gateway.pages.words import WORDS
from store.maintenance import announced

ROLES = {
    Role.DATA_USER: "researcher",
    Role.RIGHTS_HOLDER: "rights holder",
    Role.OPERATOR: "operator",
}


@dataclass(frozen=True)
class Place:
    """One entry of the menu, for those who hold the permission."""

    path: str
    name: str
    permission: Permission


PLACES = (
    Place("/", "Data sets", Permission.DATASET_READ),
    Place("/operation", "Operation", Permission.USER_READ),
    Place("/reviews", "Reviews", Permission.JOB_DECIDE),
    Place("/jobs", "Jobs", Permission.JOB_READ),
    Place("/projects", "Projects", Permission.PROJECT_READ),
    Place("/audit", "Audit trail", Permission.AUDIT_VERIFY),
)


def page(
    request: Request, template: str, *, user: User | None = None, status: int = 200, **context: Any
) -> HTMLResponse:
    """A template of ours as an answer. It knows `user` (None before the login), `csrf` and `here`."""
    places = [place for place in PLACES if user is not None and is_allowed(user, place.permission)]
    frame = {
        "user": user,
        "role": ROLES[user.role] if user is not None else "",
        "csrf": csrf(request),
        "here": request.url.path,
        "places": [(place, _is_here(place, request.url.path)) for place in places],
        "role_words": {str(role): words for role, words in ROLES.items()},
        "maintenance": announced(request.app.state.database),
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


def _is_here(place: Place, path: str) -> bool:
    if place.path == "/":
        return path == "/" or path.startswith(("/datasets", "/budget"))
    return path == place.path or path.startswith(f"{place.path}/")


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
_environment.globals |= {"static": address_of, "words": WORDS}
