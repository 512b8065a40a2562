"""The audit trail: who did what when, and whether the chain of its hashes holds."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from desk.audit import MOST_EVENTS, WantedEvents, list_events
from domain.model import canonical
from domain.permissions import Permission, Role, User
from formats.delimited_text import csv_text
from gateway.access import TheDatabase
from gateway.pages.downloads import attached
from gateway.pages.layout import page
from gateway.pages.session import page_requires
from store import audit, history, recognition
from store.database import Database
from store.history import SPOILT, Event, Wanted

router = APIRouter(include_in_schema=False)
MAX_TEXT = 80
ROWS = 100
COLUMNS = ("number", "at", "actor", "action", "subject", "details", "hash")
FIELDS = ("action", "actor", "subject", "since", "before", "head", "verify")
SPOILT_SAYS = "cannot be read: somebody wrote past the platform; verify the trail"
ACTIONS = {
    SPOILT: SPOILT_SAYS,
    "budget.allot": "allotted a part of a budget",
    "dataset.erase": "asked to erase a data set",
    "dataset.erased": "destroyed the key of a data set",
    "dataset.import": "finished an import",
    "dataset.register": "registered a data set",
    "dataset.withdraw": "withdrew a data set",
    "doctor.report": "looked at a worker's host",
    "email.confirm": "confirmed an e-mail address",
    "email.remove": "removed an e-mail address",
    "email.set": "set an e-mail address",
    "entitlement.gain": "vouched for an entitlement",
    "entitlement.lose": "no longer vouched for an entitlement",
    "entitlement.map": "let an entitlement give a right",
    "entitlement.unmap": "took a right from an entitlement",
    "grant.ask": "asked for a data set",
    "grant.change": "changed a grant",
    "grant.end": "ended a grant",
    "grant.give": "granted a data set",
    "grant.refuse": "refused a grant",
    "grant.withdraw": "gave a grant back",
    "image.approve": "approved an image",
    "image.retire": "retired an image",
    "image.withdraw": "withdrew an image",
    "job.comment": "wrote about a job",
    "job.decide": "decided on a job",
    "job.move": "moved a job",
    "job.submit": "submitted a job",
    "ledger.catch_up": "had the worker zone's ledger and the database agree again",
    "login.end": "was told by the identity provider that a login ended",
    "login.refused": "could not log in",
    "notice.retry": "tried notices again",
    "password.change": "changed a password",
    "password.renew": "gave a new first password",
    "policy.change": "changed a policy",
    "profile.end": "ended a profile",
    "profile.fetch": "fetched a sealed profile",
    "profile.remove": "took a profile away",
    "profile.request": "asked for a profile",
    "project.close": "closed a project",
    "project.lead": "let somebody else lead a project",
    "project.make": "made a project",
    "project.members": "changed the members of a project",
    "review.vote": "voted; how is said when all votes are in",
    "scramble.attach": "had scrambled data handed out",
    "scramble.expire": "ended scrambled data whose last day is over",
    "scramble.offer": "offered scrambled data",
    "scramble.sign": "signed for scrambled data, or refused",
    "scramble.take": "downloaded scrambled data under its terms",
    "scramble.withdraw": "withdrew scrambled data",
    "session.close": "logged out",
    "session.open": "logged in",
    "token.create": "made a token",
    "token.revoke": "revoked a token",
    "twin.decide": "decided on a twin",
    "twin.report": "handed in or took away the report about a twin",
    "user.add": "added a user",
    "user.disable": "disabled a user",
    "user.role": "changed a role",
    "user.unentitled": "ended what nothing entitles to any more",
    "webhook.add": "added a webhook",
    "webhook.remove": "removed a webhook",
    "webhook.rotate": "replaced the secret of a webhook",
    "worker.start": "started a worker",
}


@router.get("/audit")
def show_trail(
    request: Request,
    user: Annotated[User, Depends(page_requires(Permission.AUDIT_VERIFY))],
    database: TheDatabase,
) -> Response:
    """Operators see every event; rights holders those on data they own or review, and on their profiles."""
    typed = {name: _plain(request.query_params.get(name, "")) for name in FIELDS}
    wanted, wrong = _wanted(typed)
    with database.reading() as connection:
        own = history.concerning(connection, user) if user.role is Role.RIGHTS_HOLDER else None
        found = [] if any(wrong.values()) else history.events(connection, wanted, among=own, limit=ROWS + 1)
        verdict = audit.verify(connection, expected_head=_head(typed)) if typed["verify"] else None
        known = history.actions(connection)
        people = recognition.people(connection, {event.actor for event in found})
    return page(
        request,
        "audit.html",
        user=user,
        rows=[
            (event, ACTIONS.get(event.action, event.action), _facts(event, user)) for event in found[:ROWS]
        ],
        more=found[ROWS - 1].number if len(found) > ROWS else None,
        people=people,
        typed=typed,
        wrong=wrong,
        actions={action: ACTIONS.get(action, action) for action in known},
        verdict=verdict,
        is_own=own is not None,
        filters={name: typed[name] for name in ("action", "actor", "subject", "since") if typed[name]},
    )


@router.get("/audit.csv")
def download_events(
    request: Request,
    user: Annotated[User, Depends(page_requires(Permission.AUDIT_VERIFY))],
    database: TheDatabase,
) -> Response:
    """The events that fit, with the hashes of the chain, for spreadsheets; what cannot be understood is no
    filter, and finds nothing."""
    typed = {name: _plain(request.query_params.get(name, "")) for name in FIELDS}
    wanted, wrong = _wanted(typed)
    found = [] if any(wrong.values()) else _exported(user, database, wanted)
    return attached("audit.csv", csv_text(COLUMNS, found), "text/csv")


def _exported(user: User, database: Database, wanted: Wanted) -> list[list[str | int]]:
    asked = WantedEvents(**vars(wanted), limit=MOST_EVENTS)
    return [
        [
            event.number,
            event.at.isoformat(),
            event.actor,
            event.action,
            event.subject,
            canonical(event.details).decode(),
            event.hash,
        ]
        for event in list_events(database, user, asked)
    ]


def _plain(text: str) -> str:
    # PostgreSQL takes no NUL
    return "".join(letter for letter in text[:MAX_TEXT] if letter.isprintable()).strip()


def _wanted(typed: dict[str, str]) -> tuple[Wanted, dict[str, str]]:
    """The filters, and what is wrong with those that cannot be understood, by field."""
    wrong = {"since": "", "head": ""}
    since, before = None, typed["before"]
    if text := typed["since"]:
        try:
            since = date.fromisoformat(text)
        except ValueError:
            wrong["since"] = "This is no day. Write it as 2026-03-02."
    if typed["head"] and _head(typed) is None:
        wrong["head"] = "A head is 64 digits and letters from a to f."
    return (
        Wanted(
            action=typed["action"],
            actor=typed["actor"],
            subject=typed["subject"],
            since=since,
            before=int(before) if before.isascii() and before.isdigit() and len(before) < 16 else None,
        ),
        wrong,
    )


def _head(typed: dict[str, str]) -> str | None:
    head = typed["head"].lower()
    return head if len(head) == 64 and set(head) <= set("0123456789abcdef") else None


def _facts(event: Event, user: User) -> list[tuple[str, str]]:
    """The details of an event. A reason can say what a release says: it is for the rights holder alone."""
    hidden = {"reason"} if user.role is Role.OPERATOR else set()
    return [
        (name.replace("_", " "), _text(value))
        for name, value in event.details.items()
        if name not in hidden and value not in (None, "", [], {})
    ]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(each)}" for name, each in value.items())
    return ", ".join(map(_text, value)) if isinstance(value, list) else str(value)
