"""Every step of a grant: asked for, given or refused, changed, ended. Each is an event on record."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.dataset import Dataset
from domain.errors import Conflict, InvalidRequest
from domain.model import Slug
from domain.notice import NoticeKind
from domain.permissions import User
from domain.project import (
    MAX_GRANTS,
    Grant,
    GrantState,
    Project,
    Terms,
    check_end,
    check_leads,
    subject_of_grant,
)
from store import allotments, audit, grants, ledger, notices, projects
from store.project_tables import grants as rows

# whose turn it is after a step, and what they are told
_TOLD = {
    "grant.ask": NoticeKind.GRANT_ASKED,
    "grant.give": NoticeKind.GRANT_DECIDED,
    "grant.refuse": NoticeKind.GRANT_DECIDED,
    "grant.change": NoticeKind.GRANT_DECIDED,
    "grant.end": NoticeKind.GRANT_DECIDED,
}


def ask(
    connection: sa.Connection, *, project: str, dataset: Slug, why: str, by: User, now: datetime
) -> Grant:
    """The lead asks for a data set. Nothing is said about whether there is one of that name."""
    found = projects.get_visible(connection, project, by, lock=True)
    check_leads(by, found)
    projects.check_living(found, now)
    values = {
        "state": GrantState.ASKED, "why": why, "asked_by": by.name, "asked_at": now,
        "decided_by": None, "decided_at": None, "reason": "", "ends_on": None,
    }  # fmt: skip
    present = grants.find(connection, project, dataset, lock=True)
    if present is None:
        if len(grants.of_project(connection, project, by)) >= MAX_GRANTS:
            raise InvalidRequest(
                "dataset", f"a project asks for at most {MAX_GRANTS} data sets.", "Make another."
            )
        connection.execute(sa.insert(rows).values(project=project, dataset=dataset, **values))
    elif (state := present.state_at(now)) in (GrantState.ASKED, GrantState.GRANTED):
        is_asked = state is GrantState.ASKED
        raise Conflict(
            "dataset", f"{dataset} is {'asked for' if is_asked else 'granted'} already.",
            "Wait for its rights holder." if is_asked else "Submit with the project.",
        )  # fmt: skip
    else:
        connection.execute(_row(present).values(**values))
    return _recorded(connection, project, dataset, "grant.ask", by=by.name, now=now, reason=why)


def grant(
    connection: sa.Connection, *, project: str, dataset: str, terms: Terms, by: User, now: datetime
) -> Grant:
    """The rights holder grants what was asked for: a share of the budget until a day."""
    found, present = _held(connection, project, dataset, by, state=GrantState.ASKED)
    projects.check_living(found, now)
    if not terms.amounts:
        raise InvalidRequest("amounts", "are missing.", "Give at least one, such as epsilon 1.")
    ends_on = terms.ends_on or found.ends_on
    _check_terms(terms, found, now)
    connection.execute(
        _row(present).values(
            state=GrantState.GRANTED, decided_by=by.name, decided_at=now, reason=terms.reason, ends_on=ends_on
        )
    )
    _allot(connection, present, terms)
    return _recorded(
        connection, project, dataset, "grant.give", by=by.name, now=now, reason=terms.reason,
        ends_on=str(ends_on) if ends_on else None, amounts={str(c): a for c, a in terms.amounts.items()},
    )  # fmt: skip


def refuse(
    connection: sa.Connection, *, project: str, dataset: str, reason: str, by: User, now: datetime
) -> Grant:
    """The rights holder refuses what was asked for. The project's lead may ask again."""
    _, present = _held(connection, project, dataset, by, state=GrantState.ASKED)
    return _settled(connection, present, GrantState.REFUSED, "grant.refuse", reason=reason, by=by, now=now)


def change(
    connection: sa.Connection, *, project: str, dataset: str, terms: Terms, by: User, now: datetime
) -> Grant:
    """The rights holder changes amounts or the last day; one that is over lives again with a later day."""
    found, present = _held(connection, project, dataset, by, state=GrantState.GRANTED)
    projects.check_living(found, now)
    if not terms.amounts and terms.ends_on is None:
        raise InvalidRequest("amounts", "or a last day is missing.", "Name what changes.")
    _check_terms(terms, found, now)
    ends_on = terms.ends_on or present.ends_on
    connection.execute(
        _row(present).values(decided_by=by.name, decided_at=now, reason=terms.reason, ends_on=ends_on)
    )
    _allot(connection, present, terms)
    return _recorded(
        connection, project, dataset, "grant.change", by=by.name, now=now, reason=terms.reason,
        ends_on=str(terms.ends_on) if terms.ends_on else None,
        amounts={str(c): a for c, a in terms.amounts.items()},
    )  # fmt: skip


def end(
    connection: sa.Connection, *, project: str, dataset: str, reason: str, by: User, now: datetime
) -> Grant:
    """The rights holder ends a grant at once: nothing more is submitted, what was submitted goes on."""
    _, present = _held(connection, project, dataset, by, state=GrantState.GRANTED)
    return _settled(connection, present, GrantState.ENDED, "grant.end", reason=reason, by=by, now=now)


def withdraw(connection: sa.Connection, *, project: str, dataset: str, by: User, now: datetime) -> Grant:
    """The lead takes an ask back, or gives a grant back."""
    found = projects.get_visible(connection, project, by, lock=True)
    check_leads(by, found)
    present = grants.find(connection, project, dataset, lock=True)
    if present is None:
        raise grants.absent(project, dataset)
    if present.state not in (GrantState.ASKED, GrantState.GRANTED):
        raise Conflict("dataset", f"the grant of {dataset} is over.", "There is nothing to give back.")
    return _settled(connection, present, GrantState.ENDED, "grant.withdraw", reason="", by=by, now=now)


def give_kept(
    connection: sa.Connection,
    *,
    project: str,
    dataset: Dataset,
    members: tuple[str, ...] | None,
    by: User,
    now: datetime,
) -> None:
    """Before a rights holder allots to a project: their own is made and granted if need be.

    Raises Conflict for another's project that has no grant of this data set.
    """
    found = projects.find(connection, project, lock=True)
    if found is None:
        found = projects.make_kept(connection, project, keeper=by.name, members=members or (), now=now)
    present = grants.find(connection, project, dataset.name, lock=True)
    if found.lead is not None or found.made_by != by.name:
        _check_granted(project, dataset.name, present)
    if members is not None:
        projects.set_members(connection, project, members, keeper=by.name, now=now)
    if present is not None and present.state is GrantState.GRANTED:
        return
    given = {
        "state": GrantState.GRANTED,
        "decided_by": by.name,
        "decided_at": now,
        "reason": "",
        "ends_on": None,
    }
    if present is None:
        asked = {"why": "", "asked_by": by.name, "asked_at": now}
        connection.execute(sa.insert(rows).values(project=project, dataset=dataset.name, **asked, **given))
    else:
        connection.execute(_row(present).values(**given))
    _recorded(connection, project, dataset.name, "grant.give", by=by.name, now=now, reason="")


def _check_granted(project: str, dataset: str, present: Grant | None) -> None:
    if present is None:
        raise Conflict("holder", f"the name {project} is taken.", "Choose another name.")
    if present.state is not GrantState.GRANTED:
        raise Conflict(
            "holder", f"{project} has no grant of {dataset}; it is {present.state}.",
            f"Decide on what its lead asks for: `dpgate project grant {project} {dataset}`.",
        )  # fmt: skip


def _held(
    connection: sa.Connection, project: str, dataset: str, by: User, *, state: GrantState
) -> tuple[Project, Grant]:
    """Project and grant, both locked, for the data set's rights holder, who finds it in this state."""
    grants.get_visible(connection, project, dataset, by)
    found = projects.get(connection, project, lock=True)
    present = grants.find(connection, project, dataset, lock=True)
    # members see a grant as well
    if present is None or grants.owner_of(connection, dataset) != by.name:
        raise grants.absent(project, dataset)
    if present.state is not state:
        raise Conflict("grant", f"this is {present.state} now, not {state}.", "Look at it again.")
    return found, present


def _check_terms(terms: Terms, project: Project, now: datetime) -> None:
    if terms.ends_on is not None:
        check_end(terms.ends_on, now, latest=project.ends_on)


def _allot(connection: sa.Connection, grant: Grant, terms: Terms) -> None:
    """Amounts become the project's accounts; all data sets of a cohort share them."""
    cohort = grants.cohort_of(connection, grant.dataset)
    if cohort is None:
        raise grants.absent(grant.project, grant.dataset)
    opened = {a.currency for a in ledger.list_accounts(connection, cohort=cohort) if a.kind == "cohort"}
    for currency, cap in terms.caps.items():
        if currency not in opened:
            raise InvalidRequest("amounts", f"{grant.dataset} has no budget of {currency}.", "Leave it out.")
        allotments.allot(
            connection, cohort=cohort, kind="project", holder=grant.project, currency=currency, cap=cap
        )


def _settled(
    connection: sa.Connection,
    present: Grant,
    state: GrantState,
    action: str,
    *,
    reason: str,
    by: User,
    now: datetime,
) -> Grant:
    connection.execute(_row(present).values(state=state, decided_by=by.name, decided_at=now, reason=reason))
    return _recorded(connection, present.project, present.dataset, action, by=by.name, now=now, reason=reason)


def _row(grant: Grant) -> sa.Update:
    return sa.update(rows).where(rows.c.number == grant.number)


def _recorded(
    connection: sa.Connection,
    project: str,
    dataset: str,
    action: str,
    *,
    by: str,
    now: datetime,
    **details: Any,
) -> Grant:
    """The event of a step, and a notice to those who wait for it; the grant as it is now."""
    found = grants.find(connection, project, dataset)
    if found is None:
        raise grants.absent(project, dataset)
    audit.append(
        connection, at=now, actor=by, action=action, subject=subject_of_grant(found.number), project=project,
        dataset=dataset, **details,
    )  # fmt: skip
    _tell(connection, found, action, by=by, now=now)
    return found


def _tell(connection: sa.Connection, grant: Grant, action: str, *, by: str, now: datetime) -> None:
    kind = _TOLD.get(action)
    is_ask = kind is NoticeKind.GRANT_ASKED
    to = (
        grants.owner_of(connection, grant.dataset) if is_ask else projects.get(connection, grant.project).lead
    )
    if kind is None or to is None:
        return
    facts = {} if is_ask else {"decision": action.removeprefix("grant.")}
    notices.tell(
        connection, kind=kind, subject=grant.project, to=[to], now=now, by=by, project=grant.project,
        dataset=grant.dataset, **facts,
    )  # fmt: skip
