"""Notices on pages: one's own channels and what was sent, and the operator's counts with a button."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData

from desk import channels
from desk import notices as desk
from desk.channels import Confirmation, Muted, NewAddress, NewWebhook, WebhookOnce
from desk.notices import Retry
from domain.errors import InvalidRequest, RequestError
from domain.model import parse
from domain.notice import Channel, NoticeKind, NoticeState, SendProblem, kinds_for
from domain.permissions import Permission, User
from gateway.access import TheDatabase
from gateway.offers import ways
from gateway.pages.layout import page
from gateway.pages.session import ACCOUNT, CheckedForm, page_requires
from gateway.problems import STATUS
from gateway.routes import OurId
from store import notices
from store.database import Database

router = APIRouter(include_in_schema=False)
NOTICES, OPERATION = f"{ACCOUNT}/notices", "/operation/notices"
Owner = Annotated[User, Depends(page_requires(Permission.CHANNELS_OWN))]
# what each kind is about, for those who choose
MEANING = {
    NoticeKind.TEST: "a test of a webhook",
    NoticeKind.CONFIRMATION: "the code that confirms an address",
    NoticeKind.JOB_WAITS: "a job waits for your decision",
    NoticeKind.JOB_DECIDED: "somebody decided about a job of yours",
    NoticeKind.JOB_FAILED: "the platform could not run a job of yours",
    NoticeKind.RELEASE_WAITS: "a release waits for your review",
    NoticeKind.RELEASE_READY: "a release of yours can be read",
    NoticeKind.TWIN_WAITS: "a twin waits for your review",
    NoticeKind.TWIN_DECIDED: "the review of a twin of yours has ended",
    NoticeKind.DATASET_WITHDRAWN: "a data set that jobs of yours are on was withdrawn",
    NoticeKind.DATASET_ERASED: "a data set of yours, or that jobs of yours are on, was erased",
    NoticeKind.GRANT_ASKED: "a project asks to use a data set of yours",
    NoticeKind.GRANT_DECIDED: "somebody decided what your project may use",
    NoticeKind.BUDGET_LOW: "little is left of a privacy budget",
    NoticeKind.COMMENT: "somebody commented on a job of yours",
}
TONES = {
    NoticeState.WAITING: ("waits", "warn", "clock"),
    NoticeState.SENT: ("sent", "good", "check"),
    NoticeState.DEAD: ("given up", "bad", "cross"),
}


@router.get(NOTICES)
def show_notices(request: Request, user: Owner, database: TheDatabase, code: str = "") -> Response:
    """`code` comes with the link of a mail. Looking changes nothing: programs that read mail open links."""
    return _page(request, user, database, code=code[:100])


@router.post(f"{NOTICES}/email")
def set_email(request: Request, form: CheckedForm, user: Owner, database: TheDatabase) -> Response:
    try:
        new = parse(NewAddress, {"address": str(form.get("address", "")).strip()})
        channels.set_email(database, user, new, ways(request))
    except RequestError as error:
        return _page(request, user, database, error=error, at="email", typed=form)
    return RedirectResponse(f"{NOTICES}#email", status_code=303)


@router.post(f"{NOTICES}/email/confirmation")
def confirm_email(request: Request, form: CheckedForm, user: Owner, database: TheDatabase) -> Response:
    try:
        confirmation = parse(Confirmation, {"code": str(form.get("code", "")).strip()})
        channels.confirm_email(database, user, confirmation, ways(request))
    except RequestError as error:
        return _page(request, user, database, error=error, at="code", code=str(form.get("code", ""))[:100])
    return RedirectResponse(f"{NOTICES}#email", status_code=303)


@router.post(f"{NOTICES}/email/removal")
def remove_email(request: Request, _form: CheckedForm, user: Owner, database: TheDatabase) -> Response:
    channels.remove_email(database, user, ways(request))
    return RedirectResponse(f"{NOTICES}#email", status_code=303)


@router.post(f"{NOTICES}/webhooks")
def add_webhook(request: Request, form: CheckedForm, user: Owner, database: TheDatabase) -> Response:
    """The answer shows the secret: loading the page again does not."""
    try:
        new = parse(NewWebhook, {"url": str(form.get("url", "")).strip()})
        made = channels.add_webhook(database, user, new, ways(request))
    except RequestError as error:
        return _page(request, user, database, error=error, at="webhooks", typed=form)
    return _page(request, user, database, made=made)


@router.post(f"{NOTICES}/webhooks/{{webhook_id}}")
def change_webhook(
    webhook_id: OurId, request: Request, form: CheckedForm, user: Owner, database: TheDatabase
) -> Response:
    """Test, rotate or remove one webhook, by the button that was pressed."""
    action = form.get("action")
    if action == "rotate":
        return _rotate(webhook_id, request, user, database)
    try:
        if action == "remove":
            channels.remove_webhook(database, user, webhook_id, ways(request))
        elif action == "test":
            channels.try_webhook(database, user, webhook_id)
        else:
            raise InvalidRequest("action", "is missing.", "Press one of the buttons.")
    except RequestError as error:
        return _page(request, user, database, error=error, at="webhooks")
    return RedirectResponse(f"{NOTICES}#{'webhooks' if action == 'remove' else 'sent'}", status_code=303)


@router.post(f"{NOTICES}/kinds")
def choose_kinds(request: Request, form: CheckedForm, user: Owner, database: TheDatabase) -> Response:
    """The boxes that are ticked are wanted; every other kind is off."""
    wanted = {str(kind) for kind in form.getlist("kinds")}
    offered = kinds_for(user.role)
    off = [kind for kind in offered if kind not in wanted]
    # what the page does not offer stays as it is
    off += [kind for kind in channels.get_channels(database, user, ways(request)).off if kind not in offered]
    channels.set_muted(database, user, Muted(off=tuple(off)), ways(request))
    return RedirectResponse(f"{NOTICES}#kinds", status_code=303)


@router.post(f"{NOTICES}/sent/{{notice_id}}")
def retry_notice(notice_id: OurId, _form: CheckedForm, user: Owner, database: TheDatabase) -> Response:
    desk.retry_notice(database, user, notice_id)
    return RedirectResponse(f"{NOTICES}#sent", status_code=303)


@router.get(OPERATION)
def show_standing(
    request: Request,
    user: Annotated[User, Depends(page_requires(Permission.OPERATION_READ))],
    database: TheDatabase,
    retried: int | None = None,
) -> Response:
    with database.reading() as connection:
        found = notices.standing(connection)
    settings = request.app.state.settings
    return page(
        request,
        "operation_notices.html",
        user=user,
        standing=sorted(found, key=lambda one: list(NoticeState)[::-1].index(one.state)),
        totals=[(*TONES[s], sum(one.count for one in found if one.state is s)) for s in NoticeState],
        tones=TONES,
        dead=NoticeState.DEAD,
        retried=retried,
        sends_email=settings.smtp_url is not None,
        webhook_hosts=settings.webhook_hosts,
        is_sending=settings.send_notices,
        meaning=MEANING,
    )


@router.post(OPERATION)
def retry_dead(
    form: CheckedForm,
    user: Annotated[User, Depends(page_requires(Permission.OPERATION_CHANGE))],
    database: TheDatabase,
) -> Response:
    fields = {name: str(form[name]) for name in ("channel", "kind", "problem") if form.get(name)}
    count = desk.retry_notices(database, user, _retry(fields)).retried
    return RedirectResponse(f"{OPERATION}?retried={count}", status_code=303)


def _retry(fields: dict[str, str]) -> Retry:
    """Names of a form as members of the lists. Raises InvalidRequest."""
    lists = {"channel": Channel, "kind": NoticeKind, "problem": SendProblem}
    known = {
        name: lists[name](value) if value in set(lists[name]) else value for name, value in fields.items()
    }
    return parse(Retry, known)


def _rotate(webhook_id: str, request: Request, user: User, database: Database) -> Response:
    secret = channels.rotate_webhook(database, user, webhook_id).secret
    hooks = channels.get_channels(database, user, ways(request)).webhooks
    hook = next(hook for hook in hooks if hook.id == webhook_id)
    return _page(
        request, user, database, made=WebhookOnce(**hook.model_dump(), secret=secret), is_rotated=True
    )


def _page(
    request: Request,
    user: User,
    database: Database,
    *,
    error: RequestError | None = None,
    at: str = "",
    typed: FormData | None = None,
    code: str = "",
    made: WebhookOnce | None = None,
    is_rotated: bool = False,
) -> Response:
    found = channels.get_channels(database, user, ways(request))
    return page(
        request,
        "notices.html",
        user=user,
        status=STATUS[type(error)] if error else 200,
        problems=error.problems if error else (),
        at=at,
        channels=found,
        typed={name: str(value) for name, value in typed.items()} if typed else {},
        code=code,
        made=made,
        is_rotated=is_rotated,
        kinds=[(kind, MEANING[kind], kind not in found.off) for kind in kinds_for(user.role)],
        sent=desk.list_notices(database, user),
        tones=TONES,
        dead=NoticeState.DEAD,
    )
