"""A data set's privacy budget: what is left, and who spent what. Depends on public ledger values only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from markupsafe import Markup

from desk.datasets import get_budget
from desk.spending import CourseView, EntryView, Wanted, get_spending, list_entries
from domain.errors import InvalidRequest
from domain.loss import Currency
from domain.model import Slug, parse
from domain.permissions import Permission, User
from domain.states import LedgerAction
from drawing.timeline import Standing, Timeline, draw_timeline
from formats.delimited_text import csv_text
from gateway.access import TheDatabase
from gateway.pages.budget_bar import bars, whole_or_why
from gateway.pages.downloads import attached
from gateway.pages.layout import counted, day, instant, page
from gateway.pages.session import page_requires
from store import datasets

router = APIRouter(include_in_schema=False)
ROWS = 100
FIELDS = ("account", "user", "project", "before")
ROOM = 0.06
"""Of the time between first and last entry, on both sides: both are seen as steps."""
ACTIONS = {
    LedgerAction.RESERVE: ("set aside", "warn", "clock"),
    LedgerAction.CHARGE: ("spent", "accent", "check"),
    LedgerAction.REFUND: ("given back", "plain", "cross"),
}
COLUMNS = ("at", "author", "project", "dataset", "job", "action", "amount", "currency")
Reader = Annotated[User, Depends(page_requires(Permission.BUDGET_READ))]


@dataclass(frozen=True)
class Row:
    """One entry as a line of the table."""

    entry: EntryView
    words: tuple[str, str, str]
    currency: str


@dataclass(frozen=True)
class Drawn:
    """One account over time."""

    currency: str
    cap: str
    spent: str
    svg: Markup


@router.get("/budget")
def list_budgets(request: Request, user: Reader, database: TheDatabase) -> Response:
    """What is left of each data set that this user may see."""
    with database.reading() as connection:
        visible = datasets.visible_to(connection, user)
    found = [(dataset, *whole_or_why(database, user, dataset.name)) for dataset in visible]
    return page(request, "budgets.html", user=user, found=found)


@router.get("/budget/{name}")
def show_budget(request: Request, name: Slug, user: Reader, database: TheDatabase) -> Response:
    """Data users see what is left, how it was spent and their own jobs; the rights holder everybody's."""
    budget = get_budget(database, user, name)
    with database.reading() as connection:
        dataset = datasets.newest(connection, name, user)
    is_owner = user.name == dataset.owner
    typed = {field: request.query_params.get(field, "").strip()[:80] for field in FIELDS}
    wrong = ""
    try:
        wanted = _wanted(typed, limit=ROWS)
    except InvalidRequest as error:
        wrong, wanted = str(error.problems[0]), Wanted(limit=ROWS)
    found = get_spending(database, user, name, wanted)
    older = wanted.after(found)
    return page(
        request,
        "budget.html",
        user=user,
        dataset=dataset,
        budget=budget,
        bars=bars(budget),
        is_owner=is_owner,
        rows=[] if wrong else [_row(entry) for entry in found.entries],
        total=found.total,
        older={name: str(value) for name, value in older.items() if name != "limit"},
        drawn=[] if wrong else drawings(found.courses),
        typed=typed,
        wrong=wrong,
        is_filtered=any(typed[field] for field in ("user", "project")),
        filters=wanted.model_dump(mode="json", exclude_defaults=True, exclude={"before", "limit"}),
        accounts=sorted({(a.kind, a.holder) for a in budget.accounts if a.kind != "cohort"}),
        users=found.users if is_owner else [],
        projects=found.projects,
    )


@router.get("/budget/{name}/entries.csv")
def download_entries(request: Request, name: Slug, user: Reader, database: TheDatabase) -> Response:
    """The entries that the page shows, for spreadsheets."""
    wanted = _wanted({field: request.query_params.get(field, "") for field in FIELDS[:3]})
    return attached(f"{name}-budget.csv", as_csv(list_entries(database, user, name, wanted)), "text/csv")


def as_csv(entries: list[EntryView]) -> str:
    """One row for each entry."""
    return csv_text(
        COLUMNS,
        (
            [str(value) if (value := getattr(entry, name)) is not None else None for name in COLUMNS]
            for entry in entries
        ),
    )


def drawings(courses: list[CourseView]) -> list[Drawn]:
    """Each account on which anything was ever set aside, all over the same time."""
    shown = [course for course in courses if course.standings]
    if not shown:
        return []
    first = min(course.standings[0].at for course in shown)
    last = max(course.standings[-1].at for course in shown)
    return [_drawn(course, first, last) for course in shown]


def _drawn(course: CourseView, first: datetime, last: datetime) -> Drawn:
    room = max((last - first).total_seconds() * ROOM, 1.0)
    is_one_day = first.date() == last.date()
    words = instant if is_one_day else day
    # the same date twice side by side is wider than a telephone
    until = instant(last).rpartition(", ")[2] if is_one_day else day(last)
    newest = course.standings[-1]
    timeline = Timeline(
        currency=str(course.currency),
        cap=float(course.cap),
        standings=tuple(
            Standing(standing.at.timestamp(), float(standing.spent), float(standing.reserved))
            for standing in course.standings
        ),
        start=(first.timestamp() - room, words(first)),
        end=(last.timestamp() + room, until),
        sentence=(
            f"{newest.spent} of {course.cap} {course.currency} were spent until {words(newest.at)}, "
            f"{newest.reserved} are set aside; {counted(course.entries, 'entry', 'entries')} since "
            f"{words(course.standings[0].at)}."
        ),
    )
    svg = Markup(draw_timeline(timeline))  # noqa: S704 - its texts are escaped
    return Drawn(str(course.currency), course.cap, newest.spent, svg)


def _wanted(typed: dict[str, str], **given: int) -> Wanted:
    """Raises InvalidRequest with the field that cannot be."""
    return parse(Wanted, {field: text for field, text in typed.items() if text} | given)


def _row(entry: EntryView) -> Row:
    one = entry.currency is Currency.RELEASES and entry.amount == "1"
    return Row(entry, ACTIONS[entry.action], "release" if one else str(entry.currency))
