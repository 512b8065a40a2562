"""Every form of every page while the platform is worked on: it waits, says so, and keeps what was typed."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from factories import IMAGE
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts
from serving import Console, words
from story import WAITING
from told_drafts import DRAFT
from told_job_drafts import JOB_DRAFT
from told_profiles import PROFILE

from domain.maintenance import GOES_ON, PlannedMaintenance
from domain.permissions import GRANTS, Permission, Role
from gateway.app import PREFIX, create_app
from gateway.config import GatewaySettings
from store import maintenance
from store.tables import metadata

TYPED = 'so that "nothing" is <lost>'
WHO = {Role.DATA_USER: "ada", Role.RIGHTS_HOLDER: "holder", Role.OPERATOR: "olga"}
IDS = {
    "name": "heights", "dataset": "heights", "project": "sleep", "job_id": WAITING, "digest": IMAGE,
    "rule_id": "0123456789abcdef", "token_id": "0123456789abcdef", "webhook_id": "0123456789abcdef",
    "step": "about", "number": "0", "worker": "worker-one", "notice_id": "msg_0123",
    "profile_id": PROFILE, "scramble_id": "0123456789abcdef",
}  # fmt: skip


@dataclass(frozen=True)
class Form:
    """A route that takes a form, and what it asks of its sender."""

    template: str
    permission: Permission

    @property
    def path(self) -> str:
        draft = DRAFT if self.template.startswith("/datasets/new") else JOB_DRAFT
        return re.sub(
            r"\{(\w+)(:path)?\}", lambda found: (IDS | {"draft_id": draft})[found[1]], self.template
        )

    @property
    def sender(self) -> str:
        return WHO[sorted(GRANTS[self.permission])[0]]


def _permissions(dependant: Dependant) -> Iterator[Permission]:
    for inner in dependant.dependencies:
        if stated := getattr(inner.call, "permission", None):
            yield stated
        yield from _permissions(inner)


def _forms() -> Iterator[Form]:
    settings = GatewaySettings(database_url="sqlite://", broker_url="redis+socket:///none")
    for context in iter_route_contexts(create_app(settings).routes):
        if context.path.startswith(PREFIX) or not isinstance(context.original_route, APIRoute):
            continue
        stated = list(_permissions(context.dependant))
        if "POST" in context.methods and stated:
            yield Form(context.path, stated[0])


FORMS = list(_forms())


@pytest.fixture(scope="module")
def closed(refusing: Console) -> Console:
    with refusing.database.transaction() as connection:
        plan = PlannedMaintenance(reason="the disks are exchanged")
        maintenance.begin(connection, plan, by="olga", now=datetime.now(UTC))
    return refusing


def rows(console: Console) -> dict[str, int]:
    with console.database.reading() as connection:
        # people log in meanwhile, which goes on
        return {
            table.name: connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
            for table in metadata.sorted_tables
            if table.name not in ("sessions", "audit_events")
        }


def test_there_are_forms_of_every_kind():
    assert len(FORMS) > 50
    assert {form.permission in GOES_ON for form in FORMS} == {True, False}


@pytest.mark.parametrize("sender", sorted(set(WHO.values())))
def test_what_waits_says_so_and_keeps_what_was_typed(closed: Console, sender: str):
    before = rows(closed)
    waiting = [form for form in FORMS if form.permission not in GOES_ON and form.sender == sender]
    assert waiting or sender == "olga"
    with closed.visit(sender) as visitor:
        field = visitor.hidden_field()
        for form in waiting:
            data = {"csrf": field, "reason": TYPED, "new_password": "four words that differ", "step": "add"}
            answer = visitor.client.post(form.path, data=data)
            assert answer.status_code == 503, f"{form.template}: {words(answer)[:200]}"
            assert "the disks are exchanged" in words(answer), form.template
            assert int(answer.headers["retry-after"]) >= 30
            assert (
                f'name="reason" value="{html.escape(TYPED)}"'.replace("&#x27;", "&#39;").replace(
                    "&quot;", "&#34;"
                )
                in answer.text
            ), form.template
            assert f'action="{form.path}"' in answer.text
            assert "four words" not in answer.text
    assert rows(closed) == before


@pytest.mark.parametrize("sender", sorted(set(WHO.values())))
def test_a_form_from_elsewhere_is_not_shown_again(closed: Console, sender: str):
    waiting = [form for form in FORMS if form.permission not in GOES_ON and form.sender == sender]
    with closed.visit(sender) as visitor:
        for form in waiting[:5]:
            answer = visitor.client.post(form.path, data={"csrf": "0" * 64, "reason": TYPED})
            assert answer.status_code in (403, 503)
            assert "&lt;lost&gt;" not in answer.text


def test_what_goes_on_is_not_stopped(closed: Console):
    """Last: some of it takes effect."""
    for form in FORMS:
        if form.permission in GOES_ON and form.template not in ("/logout", "/operation/maintenance"):
            with closed.visit(form.sender) as visitor:
                answer = visitor.send(form.path)
            assert answer.status_code != 503, form.template
