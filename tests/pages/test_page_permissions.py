"""Who gets which page: each one as each person and as a stranger. What the interface hides does not exist."""

from __future__ import annotations

import pytest
from factories import IMAGE
from fastapi.routing import iter_route_contexts
from serving import Console, words
from story import HISTOGRAM, IN_REVIEW, RELEASED, RUNNING, WAITING
from told_drafts import DRAFT, EVERY_STEP
from told_job_drafts import JOB_DRAFT
from told_profiles import PROFILE
from told_reviews import HALF_DECIDED
from told_workers import LIVE

from domain.job_draft import Step
from gateway.app import PREFIX, create_app
from gateway.config import GatewaySettings

PEOPLE = ("ada", "bob", "holder", "rival", "olga")
LOGIN = 303
RULE = "0123456789abcdef"
# per page the answer to each of PEOPLE; a stranger is always sent to the login
TABLE: dict[str, tuple[int, ...]] = {
    "/": (200, 200, 200, 200, 303),
    "/datasets/heights": (200, 200, 200, 404, 403),
    "/datasets/heights/twin": (200, 200, 200, 404, 403),
    "/datasets/commuters": (200, 200, 200, 404, 403),
    "/datasets/nothing": (404, 404, 404, 404, 403),
    "/budget/heights": (200, 200, 200, 404, 403),
    "/budget": (200, 200, 200, 200, 403),
    "/budget/nothing": (404, 404, 404, 404, 403),
    "/jobs": (200, 200, 200, 200, 200),
    f"/jobs/{RUNNING}": (200, 404, 200, 404, 200),
    "/jobs/job-nothing": (404, 404, 404, 404, 404),
    "/jobs/short": (404, 404, 404, 404, 404),
    f"/jobs/{RELEASED}/release": (200, 404, 200, 404, 403),
    f"/jobs/{HISTOGRAM}/release.json": (200, 404, 200, 404, 403),
    f"/jobs/{HISTOGRAM}/release.csv": (200, 404, 200, 404, 403),
    f"/jobs/{RELEASED}/certificate.json": (200, 404, 200, 404, 403),
    f"/jobs/{RELEASED}/files/result.tsv": (200, 404, 200, 404, 403),
    f"/jobs/{RELEASED}/files/nothing": (404, 404, 404, 404, 403),
    # no release yet: the page says how far the job is, a download that there is nothing
    f"/jobs/{WAITING}/release": (303, 404, 303, 404, 403),
    f"/jobs/{IN_REVIEW}/release": (303, 404, 303, 404, 403),
    f"/jobs/{IN_REVIEW}/release.json": (409, 404, 409, 404, 403),
    f"/jobs/{IN_REVIEW}/files/result.tsv": (409, 404, 409, 404, 403),
}
TABLE |= {
    "/reviews": (403, 403, 200, 200, 403),
    f"/reviews/{WAITING}": (403, 403, 200, 404, 403),
    f"/reviews/{IN_REVIEW}": (403, 403, 200, 404, 403),
    "/reviews/job-nothing": (403, 403, 404, 404, 403),
    f"/reviews/{HALF_DECIDED}": (403, 403, 200, 404, 403),
    "/reviews/twins/memory": (403, 403, 200, 404, 403),
    "/reviews/twins/nothing": (403, 403, 404, 404, 403),
    "/audit": (403, 403, 200, 200, 200),
    "/operation": (403, 403, 403, 403, 200),
    "/operation/notices": (403, 403, 403, 403, 200),
    "/operation/workers": (403, 403, 403, 403, 200),
    "/operation/images": (403, 403, 403, 403, 200),
    "/operation/people": (403, 403, 403, 403, 200),
    "/operation/platform": (403, 403, 403, 403, 200),
    "/operation/providers": (403, 403, 403, 403, 200),
}
TABLE |= {
    "/projects": (200, 200, 200, 200, 403),
    "/projects/sleep": (200, 200, 200, 404, 403),
    "/projects/odd": (404, 200, 200, 404, 403),
    "/projects/nothing": (404, 404, 404, 404, 403),
    "/projects/sleep/grants/heights": (200, 200, 200, 404, 403),
    "/projects/odd/grants/heights": (404, 200, 200, 404, 403),
    "/projects/sleep/grants/nothing": (404, 404, 404, 404, 403),
}
TABLE |= {
    "/datasets/heights/policy": (403, 403, 200, 404, 403),
    "/datasets/nothing/policy": (403, 403, 404, 404, 403),
    "/datasets/heights/entitlements": (403, 403, 200, 404, 403),
    "/projects/odd/entitlements": (404, 200, 200, 404, 403),
    "/operation/entitlements": (403, 403, 403, 403, 200),
}
TABLE |= {
    "/datasets/heights/attacker": (200, 200, 200, 404, 403),
    "/datasets/nothing/attacker": (404, 404, 404, 404, 403),
    "/datasets/heights/dpia.md": (403, 403, 200, 404, 403),
    "/datasets/heights/dictionary.csv": (200, 200, 200, 404, 403),
    "/datasets/heights/dictionary.json": (200, 200, 200, 404, 403),
    "/budget/heights/entries.csv": (200, 200, 200, 404, 403),
    "/audit.csv": (403, 403, 200, 200, 200),
    "/datasets/new": (403, 403, 200, 200, 403),
    "/datasets/new/profile": (403, 403, 200, 200, 403),
    f"/datasets/new/{DRAFT}/tables/0": (403, 403, 200, 404, 403),
    f"/datasets/new/{DRAFT}/tables/9": (403, 403, 404, 404, 403),
    f"/datasets/new/{DRAFT}/dataset.yaml": (403, 403, 200, 404, 403),
    **{f"/datasets/new/{DRAFT}/{step}": (403, 403, 200, 404, 403) for step in EVERY_STEP},
    f"/datasets/new/{DRAFT}/nothing": (403, 403, 404, 404, 403),
    "/datasets/new/nothing/about": (403, 403, 404, 404, 403),
}
TABLE |= {
    "/datasets/heights/twins": (403, 403, 200, 404, 403),
    "/datasets/heights/withdrawal": (403, 403, 200, 404, 403),
    "/datasets/heights/erasure": (403, 403, 200, 404, 403),
    "/datasets/nothing/twins": (403, 403, 404, 404, 403),
    "/datasets/heights/twin/report": (200, 200, 200, 404, 403),
    "/datasets/commuters/twin/report": (404, 404, 404, 404, 403),
    "/datasets/heights/scrambles": (200, 200, 200, 404, 403),
    "/datasets/nothing/scrambles": (404, 404, 404, 404, 403),
    "/datasets/heights/ask": (200, 200, 403, 403, 403),
    "/datasets/nothing/ask": (404, 404, 403, 403, 403),
    "/datasets/heights/train": (200, 200, 403, 403, 403),
    "/datasets/nothing/train": (404, 404, 403, 403, 403),
    "/jobs/new": (200, 200, 403, 403, 403),
    **{f"/jobs/new/{JOB_DRAFT}/{step}": (200, 404, 403, 403, 403) for step in Step},
    "/jobs/new/nothing/check": (404, 404, 403, 403, 403),
}
FORMS: dict[str, tuple[int, ...]] = {
    "/datasets/new": (403, 403, 303, 303, 403),
    f"/datasets/new/{DRAFT}/about": (403, 403, 409, 404, 403),
    f"/datasets/new/{DRAFT}/tables/0": (403, 403, 409, 404, 403),
    f"/datasets/new/{DRAFT}/tables/0/header": (403, 403, 422, 404, 403),
    f"/datasets/new/{DRAFT}/registration": (403, 403, 422, 404, 403),
    f"/datasets/new/{DRAFT}/removal": (403, 403, 303, 404, 403),
    f"/datasets/new/profile/{PROFILE}/removal": (403, 403, 303, 404, 403),
    "/datasets/heights/policy": (403, 403, 422, 404, 403),
    "/datasets/heights/policy/preview": (403, 403, 422, 404, 403),
    "/projects": (422, 422, 403, 403, 403),
    "/projects/odd/members": (404, 422, 403, 403, 403),
    "/projects/odd/asks": (404, 422, 403, 403, 403),
    "/projects/odd/entitlements": (404, 422, 403, 403, 403),
    f"/projects/odd/entitlements/{RULE}": (404, 404, 403, 403, 403),
    "/datasets/heights/entitlements": (403, 403, 422, 404, 403),
    f"/datasets/heights/entitlements/{RULE}": (403, 403, 404, 404, 403),
    "/operation/entitlements": (403, 403, 403, 403, 422),
    f"/operation/entitlements/{RULE}": (403, 403, 403, 403, 404),
    "/projects/odd/closing": (404, 303, 403, 403, 403),
    "/projects/odd/grants/heights": (403, 403, 422, 404, 403),
    f"/jobs/{WAITING}/cancel": (303, 404, 403, 403, 303),
    f"/reviews/{WAITING}": (403, 403, 422, 404, 403),
    f"/reviews/{IN_REVIEW}/comments": (403, 403, 422, 404, 403),
    f"/jobs/{WAITING}/comments": (422, 404, 422, 404, 403),
    "/reviews/twins/memory": (403, 403, 422, 404, 403),
    f"/operation/images/{IMAGE}": (403, 403, 403, 403, 422),
    "/operation/notices": (403, 403, 403, 403, 303),
    "/operation/stuck": (403, 403, 403, 403, 422),
    "/operation/maintenance": (403, 403, 403, 403, 422),
    f"/operation/workers/{LIVE}": (403, 403, 403, 403, 422),
    "/operation/providers": (403, 403, 403, 403, 422),
    "/operation/people/ada": (403, 403, 403, 403, 303),
    "/operation/projects/sleep": (403, 403, 403, 403, 422),
    "/operation/people/ada/tokens/0123456789abcdef": (403, 403, 403, 403, 404),
    "/datasets/heights/twins": (403, 403, 422, 404, 403),
    "/datasets/heights/withdrawal": (403, 403, 422, 404, 403),
    "/datasets/heights/erasure": (403, 403, 422, 404, 403),
    f"/datasets/heights/twins/{WAITING}/decision": (403, 403, 404, 404, 403),
    "/datasets/heights/twin/report": (403, 403, 422, 404, 403),
    f"/datasets/heights/twins/{WAITING}/cancel": (403, 403, 404, 404, 403),
    f"/datasets/heights/scrambles/{WAITING}/signature": (403, 403, 404, 404, 403),
    f"/datasets/heights/scrambles/{WAITING}/withdrawal": (403, 403, 404, 404, 403),
    f"/datasets/heights/scrambles/{WAITING}/download": (422, 422, 422, 404, 403),
    "/datasets/heights/ask": (422, 422, 403, 403, 403),
    "/datasets/heights/train": (422, 422, 403, 403, 403),
    "/jobs/new": (422, 422, 403, 403, 403),
    f"/jobs/new/{JOB_DRAFT}/dataset": (422, 404, 403, 403, 403),
    f"/jobs/new/{JOB_DRAFT}/files": (422, 404, 403, 403, 403),
    f"/jobs/new/{JOB_DRAFT}/git": (422, 404, 403, 403, 403),
    f"/jobs/new/{JOB_DRAFT}/pipeline": (422, 404, 403, 403, 403),
    f"/jobs/new/{JOB_DRAFT}/rehearsal": (422, 404, 403, 403, 403),
    f"/jobs/new/{JOB_DRAFT}/bounds": (422, 404, 403, 403, 403),
    f"/jobs/new/{JOB_DRAFT}/mechanism": (422, 404, 403, 403, 403),
    f"/jobs/new/{JOB_DRAFT}/check": (303, 404, 403, 403, 403),
    f"/jobs/new/{JOB_DRAFT}/removal": (303, 404, 403, 403, 403),
}


@pytest.mark.parametrize("path", TABLE)
def test_everybody_gets_what_the_table_says(shared_console: Console, path: str):
    for name, expected in zip(PEOPLE, TABLE[path], strict=True):
        with shared_console.visit(name) as visitor:
            answer = visitor.get(path)
        assert answer.status_code == expected, f"{name}: {words(answer)[:300]}"
        if expected >= 400:
            assert answer.headers["content-type"].startswith("text/html")
            assert RELEASED in path or "41" not in words(answer)


@pytest.mark.parametrize("path", [*TABLE, *FORMS])
def test_a_stranger_is_sent_to_the_login_and_learns_nothing(shared_console: Console, path: str):
    with shared_console.visit() as stranger:
        answer = stranger.get(path) if path in TABLE else stranger.send(path)
    # a form without a session has no hidden field that could be right
    assert answer.status_code == (LOGIN if path in TABLE else 403)
    assert answer.headers.get("location", "/login").startswith("/login")
    assert "heights" not in words(answer)


@pytest.mark.parametrize("path", FORMS)
def test_a_form_is_taken_from_those_who_may(request: pytest.FixtureRequest, path: str):
    # a console of its own only where somebody changes something there
    is_taken = any(expected < 400 for expected in FORMS[path])
    console: Console = request.getfixturevalue("console" if is_taken else "refusing")
    for name, expected in reversed(list(zip(PEOPLE, FORMS[path], strict=True))):
        if name == "olga":
            continue  # she and ada may both: the second would find it done
        with console.visit(name) as visitor:
            assert visitor.send(path).status_code == expected, name


@pytest.mark.parametrize("path", FORMS)
def test_a_form_from_elsewhere_changes_nothing(refusing: Console, path: str):
    before = refusing.state(WAITING)
    with refusing.visit("ada") as visitor, refusing.visit("olga") as other:
        foreign = other.hidden_field()
        for fields in ({}, {"csrf": ""}, {"csrf": "0" * 64}, {"csrf": foreign}):
            assert visitor.client.post(path, data=fields).status_code == 403
        for headers in ({"origin": "https://elsewhere.example"}, {"sec-fetch-site": "cross-site"}):
            own = {"csrf": visitor.hidden_field()}
            assert visitor.client.post(path, data=own, headers=headers).status_code == 403
    assert refusing.state(WAITING) == before


def test_no_page_is_missing_from_the_tables():
    """A new page is refused here until somebody says who may see it."""
    settings = GatewaySettings(database_url="sqlite://", broker_url="redis+socket:///none")
    templates = {
        context.path
        for context in iter_route_contexts(create_app(settings).routes)
        if not context.path.startswith((PREFIX, "/login", "/logout", "/account", "/static", "/metrics"))
    }
    known = {
        "/".join(_place(part, at, path) for at, part in enumerate(path.split("/")))
        for path in [*TABLE, *FORMS]
    }
    assert templates - known == set()


OPERATED = {"workers": "{worker}", "people": "{name}", "images": "{digest}", "projects": "{project}"}


def _place(part: str, at: int, path: str) -> str:
    """The template's word for a part of an address."""
    first = path.split("/")[1]
    if path.startswith("/datasets/new"):
        return _place_of_draft(part, at, path)
    if path.startswith("/jobs/new"):
        return "{draft_id}" if at == 3 else part
    if part == WAITING and path.startswith("/datasets/"):
        return "{job_id}" if "/twins/" in path else "{scramble_id}"
    if part == RULE and "/entitlements/" in path:
        return "{rule_id}"
    if path.startswith("/operation/entitlements"):
        return part
    if at == 2 and first in ("datasets", "budget"):
        return "{name}"
    if path.startswith("/reviews/twins/"):
        return "{name}" if at == 3 else part
    if at == 2 and first in ("jobs", "reviews"):
        return "{job_id}"
    if first == "projects" and at in (2, 4):
        return "{project}" if at == 2 else "{dataset}"
    if first == "operation" and at in (3, 5):
        return OPERATED[path.split("/")[2]] if at == 3 else "{token_id}"
    if part.startswith("sha256:"):
        return "{digest}"
    return "{path:path}" if at == 4 and "/files/" in path else part


def _place_of_draft(part: str, at: int, path: str) -> str:
    """The same below the drafts of registrations."""
    if path.startswith("/datasets/new/profile"):
        return "{profile_id}" if at == 4 else part
    if at == 3:
        return "{draft_id}"
    if at == 4 and path.count("/") == 4 and part not in ("dataset.yaml", "removal", "registration"):
        return "{step}"
    return "{number}" if at == 5 else part
