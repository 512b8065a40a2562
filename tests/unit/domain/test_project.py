"""What may be said of a project and a grant, and when each is over."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from factories import NOW, make_user

from domain.errors import InvalidRequest, NotAllowed
from domain.loss import Currency
from domain.model import parse
from domain.project import (
    Ask,
    Grant,
    GrantState,
    NewProject,
    Project,
    ProjectState,
    Reason,
    Terms,
    check_end,
    check_leads,
)

LAST = date(2026, 6, 30)
OVER = datetime(2026, 7, 1, tzinfo=UTC)


def project_of(**fields: Any) -> Project:
    known = {
        "name": "sleep", "title": "Sleep", "purpose": "Why.", "lead": "ada", "made_by": "ada", "made_at": NOW,
        "members": ("ada",), "ends_on": LAST, "is_closed": False,
    }  # fmt: skip
    return Project(**known | fields)


def grant_of(**fields: Any) -> Grant:
    known = {
        "number": 1, "project": "sleep", "dataset": "heights", "state": GrantState.GRANTED, "why": "x",
        "asked_by": "ada", "asked_at": NOW, "decided_by": "holder", "decided_at": NOW, "reason": "",
        "ends_on": LAST,
    }  # fmt: skip
    return Grant(**known | fields)


@pytest.mark.parametrize(
    ("now", "state"),
    [
        (NOW, ProjectState.OPEN),
        (OVER - timedelta(microseconds=1), ProjectState.OPEN),
        (OVER, ProjectState.ENDED),
        # midnight is the same everywhere
        (OVER.astimezone(timezone(timedelta(hours=-11))), ProjectState.ENDED),
        ((OVER - timedelta(seconds=1)).astimezone(timezone(timedelta(hours=14))), ProjectState.OPEN),
    ],
)
def test_a_last_day_ends_at_midnight_utc(now: datetime, state: ProjectState):
    assert project_of().state(now) is state
    assert project_of().is_living(now) is (state is ProjectState.OPEN)
    over = state is ProjectState.ENDED
    assert grant_of().state_at(now) is (GrantState.ENDED if over else GrantState.GRANTED)
    assert project_of(is_closed=True).state(now) is ProjectState.CLOSED


@pytest.mark.parametrize("state", [state for state in GrantState if state is not GrantState.GRANTED])
def test_only_what_was_granted_ends_by_its_day(state: GrantState):
    assert grant_of(state=state).state_at(OVER) is state


def test_without_a_last_day_nothing_is_over():
    assert project_of(ends_on=None).is_living(OVER + timedelta(days=36_500))
    assert grant_of(ends_on=None).state_at(OVER + timedelta(days=36_500)) is GrantState.GRANTED


@pytest.mark.parametrize(
    ("day", "latest", "words"),
    [
        (date(2026, 3, 1), None, "2026-03-01 is over"),
        (LAST + timedelta(days=1), LAST, "is after the project's last day, 2026-06-30"),
        (date(2036, 3, 10), None, "more than 10 years away"),
    ],
)
def test_a_last_day_lies_ahead_and_within_the_project(day: date, latest: date | None, words: str):
    check_end(NOW.date(), NOW, latest=NOW.date())
    with pytest.raises(InvalidRequest, match=words):
        check_end(day, NOW, latest=latest)


A_DAY_IS_WRITTEN_AS_A_DAY = (1_900_000_000, "1900000000", 20270131, "2027-1-1", "20270131", None, True,
                                 "2027-02-30", "2027-W05", datetime(2027, 1, 1), "²027-01-01",
)  # fmt: skip


def test_a_day_is_written_as_a_day(subtests: pytest.Subtests):
    for day in A_DAY_IS_WRITTEN_AS_A_DAY:
        with subtests.test(day=day):
            fields = {"name": "sleep", "title": "Sleep", "purpose": "Why.", "ends_on": day}
            with pytest.raises(InvalidRequest, match="ends_on: must be a day such as 2027-01-31"):
                parse(NewProject, fields)


TEXTS_ARE_ONES_THAT_PEOPLE_CAN_READ = ("", "  \n", "a\x00b", "\u202etxt", "bell\x07", "x" * 1001, 7, None)


def test_texts_are_ones_that_people_can_read(subtests: pytest.Subtests):
    for text in TEXTS_ARE_ONES_THAT_PEOPLE_CAN_READ:
        with subtests.test(text=text):
            for model, field in ((Ask, "why"), (Reason, "reason")):
                with pytest.raises(InvalidRequest, match=rf"^{field}: "):
                    parse(model, {field: text})


def test_a_text_is_kept_as_it_was_meant():
    assert parse(Ask, {"why": "  One.\r\nTwo.\t\u00e9 "}).why == "One.\nTwo.\t\u00e9"


def test_amounts_are_exact_and_of_known_currencies():
    terms = parse(Terms, {"amounts": {"epsilon": 0.50, "delta": "1e-6", "releases": 2}, "reason": None})
    assert terms.amounts == {"epsilon": "0.5", "delta": "0.000001", "releases": "2"}
    assert terms.caps[Currency.EPSILON] == 500_000
    assert (terms.reason, terms.ends_on) == ("", None)


NO_OTHER_AMOUNTS = (
    [],
    "1",
    {"euro": "1"},
    {"epsilon": "0"},
    {"epsilon": "-1"},
    {"epsilon": True},
    {"delta": "nan"},
    {"epsilon": "1e999999999"},
    {"releases": "0.5"},
    {"epsilon": ["1"]},
    {"epsilon": None},
)


def test_no_other_amounts(subtests: pytest.Subtests):
    for amounts in NO_OTHER_AMOUNTS:
        with subtests.test(amounts=amounts), pytest.raises(InvalidRequest, match=r"^amounts: "):
            parse(Terms, {"amounts": amounts})


def test_who_leads():
    check_leads(make_user("ada"), project_of())
    for user, project in ((make_user("bob"), project_of()), (make_user("ada"), project_of(lead=None))):
        with pytest.raises(NotAllowed, match="only ada may do this"):
            check_leads(user, project)
