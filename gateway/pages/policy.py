"""The policy of a data set: change it as a form or as YAML, see what would follow, put it into effect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData

from desk.policies import (
    PolicyChange,
    Proposal,
    change_policy,
    get_policy_history,
    own_dataset,
    simulate_policy,
)
from domain.dataset import Dataset
from domain.errors import Conflict, FieldProblem, InvalidRequest
from domain.model import Slug, parse
from domain.permissions import Permission, User
from domain.policy import Policy
from gateway.access import TheDatabase
from gateway.pages import policy_form
from gateway.pages.layout import page
from gateway.pages.policy_effects import differences, pictures
from gateway.pages.policy_fields import GROUPS, label
from gateway.pages.session import CheckedForm, page_requires
from store import images, past_jobs, policies
from store.database import Database

router = APIRouter(include_in_schema=False)
Changer = Annotated[User, Depends(page_requires(Permission.POLICY_CHANGE))]
FORM, YAML = "form", "yaml"
MAX_ROWS = 100


@dataclass(frozen=True)
class Editor:
    """What every page here stands on: who looks at whose policy, and the one in effect."""

    request: Request
    user: User
    database: Database
    dataset: Dataset

    @classmethod
    def of(cls, request: Request, name: str, user: User, database: Database) -> Editor:
        return cls(request, user, database, own_dataset(database, user, name))


@router.get("/datasets/{name}/policy")
def show_policy(
    request: Request, name: Slug, user: Changer, database: TheDatabase, way: str = FORM
) -> Response:
    """The form, or the same as YAML; below it every policy before."""
    editor = Editor.of(request, name, user, database)
    return _editor(editor, way=way, policy=editor.dataset.declaration.policy)


@router.post("/datasets/{name}/policy/preview")
def preview(
    request: Request, name: Slug, form: CheckedForm, user: Changer, database: TheDatabase
) -> Response:
    """What a change would do, before anything changes; or, asked so, back to the form with it."""
    editor = Editor.of(request, name, user, database)
    way, then = str(form.get("way", FORM)), str(form.get("then", ""))
    typed, text = policy_form.typed_form(form), str(form.get("yaml", ""))
    number = _number(form, editor.dataset)
    try:
        policy = policy_form.from_yaml(text) if way == YAML else policy_form.from_form(typed)
        with database.reading() as connection:
            policies.check_fits(connection, editor.dataset, policy)
    except InvalidRequest as error:
        return _editor(editor, way=way, typed=typed, text=text, number=number, problems=error.problems)
    if then in (FORM, YAML):
        return _editor(editor, way=then, policy=policy, number=number)
    now = editor.dataset.policy_number
    if number != now:
        problems = policies.changed_meanwhile(now).problems
        return _preview(editor, policy, number=now, problems=problems, status=409)
    return _preview(editor, policy, number=number)


@router.post("/datasets/{name}/policy")
def change(request: Request, name: Slug, form: CheckedForm, user: Changer, database: TheDatabase) -> Response:
    """Put a previewed policy into effect. What was typed is kept when somebody else was quicker."""
    editor = Editor.of(request, name, user, database)
    text, reason = str(form.get("yaml", "")), str(form.get("reason", ""))
    number = _number(form, editor.dataset)
    try:
        policy = policy_form.from_yaml(text)
    except InvalidRequest as error:
        return _editor(editor, way=YAML, text=text, number=number, problems=error.problems)
    try:
        wanted = {"number": number, "reason": reason, "policy": policy}
        change_policy(database, user, name, parse(PolicyChange, wanted))
    except InvalidRequest as error:
        return _preview(editor, policy, number=number, reason=reason, problems=error.problems)
    except Conflict as error:
        fresh = Editor.of(request, name, user, database)
        now = fresh.dataset.policy_number
        return _preview(fresh, policy, number=now, reason=reason, problems=error.problems, status=409)
    return RedirectResponse(f"/datasets/{name}/policy#history", status_code=303)


def _number(form: FormData, dataset: Dataset) -> int:
    """From which policy the change was made."""
    text = str(form.get("number", ""))
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else dataset.policy_number


def _editor(
    editor: Editor,
    *,
    way: str,
    policy: Policy | None = None,
    typed: policy_form.Typed | None = None,
    text: str = "",
    number: int | None = None,
    problems: Sequence[FieldProblem] = (),
) -> Response:
    """The form or the text, filled with a policy or with what was typed."""
    policy = policy or editor.dataset.declaration.policy
    typed = typed if problems and typed is not None else policy_form.typed_policy(policy)
    with editor.database.reading() as connection:
        known = {image.name for image in images.listed(connection) if image.is_approved}
        on_their_way = past_jobs.count(connection, editor.dataset.name, on_their_way=True)
    return page(
        editor.request,
        "policy.html",
        user=editor.user,
        status=422 if problems else 200,
        dataset=editor.dataset,
        way=YAML if way == YAML else FORM,
        number=number or editor.dataset.policy_number,
        groups=GROUPS,
        typed=typed,
        images=sorted(known | set(typed["images"])),
        approved=known,
        text=text if problems else policy_form.as_yaml(policy),
        problems=problems,
        at=_at(problems),
        on_their_way=on_their_way,
        history=get_policy_history(editor.database, editor.user, editor.dataset.name),
        label=label,
    )


def _preview(
    editor: Editor,
    policy: Policy,
    *,
    number: int,
    reason: str = "",
    problems: Sequence[FieldProblem] = (),
    status: int = 422,
) -> Response:
    dataset = editor.dataset
    found = simulate_policy(editor.database, editor.user, dataset.name, Proposal(policy=policy))
    changed = [job for job in found.jobs if job.changes]
    with editor.database.reading() as connection:
        on_their_way = past_jobs.count(connection, dataset.name, on_their_way=True)
    return page(
        editor.request,
        "policy_preview.html",
        user=editor.user,
        status=status if problems else 200,
        dataset=dataset,
        number=number,
        differences=differences(dataset.declaration.policy, policy),
        found=found,
        pictures=pictures(found),
        changed=changed[:MAX_ROWS],
        same=[job for job in found.jobs if not job.changes][:MAX_ROWS],
        on_their_way=on_their_way,
        text=policy_form.as_yaml(policy),
        reason=reason,
        problems=problems,
    )


def _at(problems: Sequence[FieldProblem]) -> dict[str, list[Any]]:
    """The problems of each field of the form; one about an item of a list belongs to the list."""
    found: dict[str, list[Any]] = {}
    for problem in problems:
        first, _, rest = problem.field.partition(".")
        field = f"timing.{rest or 'mode'}" if first == "timing" else first
        found.setdefault(field, []).append(problem)
    return found
