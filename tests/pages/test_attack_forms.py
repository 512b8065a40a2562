"""Every form of the console sent from somewhere else: refused, unless the defence is taken away.

The list is made from the application, so that a new page is attacked at once; other attacks on the same pages
(who gets them, with whose ids) have tables of their own next door.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from factories import IMAGE
from fastapi import Request
from fastapi.routing import iter_route_contexts
from serving import Console, running_console
from story import PASSWORD, WAITING
from told_drafts import DRAFT
from told_job_drafts import JOB_DRAFT
from told_profiles import PROFILE
from told_workers import LIVE

from gateway.app import PREFIX, create_app
from gateway.config import GatewaySettings
from gateway.pages import session
from store.tables import metadata

PLACES = {
    "name": "heights", "job_id": WAITING, "project": "sleep", "dataset": "heights", "worker": LIVE,
    "digest": IMAGE, "token_id": "0123456789abcdef", "webhook_id": "0123456789abcdef", "number": "0",
    "notice_id": "msg_0123", "step": "about", "rule_id": "0123456789abcdef",
    "profile_id": PROFILE, "scramble_id": "0123456789abcdef",
}  # fmt: skip
SENT_BY = {"/operation": "olga", "/reviews": "holder", "/datasets": "holder", "/projects": "ada"}


def addresses() -> list[str]:
    """Every address of a page that takes anything but GET."""
    settings = GatewaySettings(database_url="sqlite://", broker_url="redis+socket:///none")
    found = set()
    for context in iter_route_contexts(create_app(settings).routes):
        if context.path.startswith(PREFIX) or not context.methods - {"GET", "HEAD"}:
            continue
        places = PLACES | {"draft_id": JOB_DRAFT if context.path.startswith("/jobs") else DRAFT}
        found.add(re.sub(r"\{(\w+)\}", lambda part, at=places: at[part[1]], context.path))
    return sorted(found)


FORMS = addresses()


@pytest.fixture(scope="module")
def victim(
    told_database: Path, redis_socket: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Console]:
    path = shutil.copy(told_database, tmp_path_factory.mktemp("victim") / "dpgate.db")
    with running_console(f"sqlite:///{path}", redis_socket) as running:
        yield running


def rows(console: Console) -> dict[str, int]:
    with console.database.reading() as connection:
        count = sa.select(sa.func.count())
        return {
            table.name: connection.execute(count.select_from(table)).scalar_one()
            for table in metadata.sorted_tables
        }


def test_there_are_as_many_forms_as_this_was_written_for():
    assert len(FORMS) > 40


def test_no_form_is_taken_from_another_site(victim: Console):
    with victim.visit("ada") as ada, victim.visit("holder") as holder, victim.visit("olga") as olga:
        people = {"ada": ada, "holder": holder, "olga": olga}
        own = {name: visitor.hidden_field() for name, visitor in people.items()}
        before = rows(victim)
        for path in FORMS:
            name = next((who for place, who in SENT_BY.items() if path.startswith(place)), "ada")
            stolen = own["olga" if name != "olga" else "ada"]
            for fields, headers in (
                ({}, {}),
                ({"csrf": stolen}, {}),
                ({"csrf": own[name]}, {"Origin": "https://elsewhere.example"}),
                ({"csrf": own[name]}, {"Origin": "null"}),
                ({"csrf": own[name]}, {"Sec-Fetch-Site": "cross-site"}),
                ({"csrf": own[name]}, {"Sec-Fetch-Site": "same-site", "Origin": victim.url}),
            ):
                answer = people[name].client.post(path, data=fields, headers=headers)
                assert answer.status_code == 403, (path, fields.keys(), headers)
        assert rows(victim) == before


def test_without_the_defence_another_site_would_make_a_token(
    victim: Console, monkeypatch: pytest.MonkeyPatch
):
    """What the hidden field and the look at Origin are for: the cookie alone goes along with the form."""
    form = {"label": "mallory", "scopes": "read", "days": "365", "csrf": "x"}
    elsewhere = {"Origin": "https://elsewhere.example", "Sec-Fetch-Site": "cross-site"}
    with victim.visit("ada") as ada:
        assert ada.client.post("/account/tokens", data=form, headers=elsewhere).status_code == 403

        def anything(_request: Request) -> bool:
            return True

        monkeypatch.setattr(session, "_from_here", anything)
        assert ada.client.post("/account/tokens", data=form, headers=elsewhere).status_code == 403
        monkeypatch.setattr(session.hmac, "compare_digest", lambda _given, _expected: True)
        made = ada.client.post("/account/tokens", data=form, headers=elsewhere)
    assert made.status_code == 200
    assert "dpgate." in made.text


def test_private_pages_are_kept_nowhere_and_framed_by_nobody(victim: Console):
    with victim.visit("ada") as ada:
        for path in ("/", "/account", "/jobs", "/account/notices", "/projects/sleep", "/nothing", "/logout"):
            headers = ada.get(path).headers
            assert headers["cache-control"] == "no-store", path
            assert "frame-ancestors 'none'" in headers["content-security-policy"], path
            assert headers["x-content-type-options"] == "nosniff", path
            assert "access-control-allow-origin" not in headers, path


@pytest.mark.parametrize(
    "header", ["Host", "X-Forwarded-Host", "X-Original-URL", "X-Rewrite-URL", "Forwarded"]
)
def test_a_false_host_is_in_no_answer(victim: Console, header: str):
    """No link or redirect is made from what the request calls us."""
    with victim.visit() as stranger:
        for path in ("/", "/jobs", "/login", "/login?next=/jobs"):
            answer = stranger.get(path, headers={header: "evil.example"})
            assert "evil.example" not in answer.text + str(answer.headers)
    with victim.visit() as stranger:
        stranger.get("/login")
        form = {"csrf": hidden(stranger.get("/login").text), "name": "ada", "password": PASSWORD}
        headers = {header: "evil.example"} | ({"Origin": victim.url} if header != "Host" else {})
        assert stranger.client.post("/login", data=form, headers=headers).headers["location"] == "/"


def hidden(text: str) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', text)
    assert found
    return found[1]
