"""What a role decides needs a login that is fresh, and of the kind that the operator asks for."""

from __future__ import annotations

import re
import time
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest
import sqlalchemy as sa
from asking import PEOPLE, Gateway, problem
from factories import given_dataset, policy_fields
from form_browser import Browser
from issuer import STEWARD, Issuer
from pydantic import ValidationError
from test_route_matrix import BODIES, GUARDED, PLACES, QUERIES
from with_provider import gateway_with_provider

from domain.permissions import GRANTS, Role
from domain.policy import Policy
from domain.registration_draft import as_yaml
from domain.step_up import PERMISSIONS, Action, StepUp
from store import policies
from store.account_tables import sessions

MFA = "https://refeds.org/profile/mfa"
RULE = {"rights_holder": {"actions": ["decide", "policy"], "acr": [MFA], "within_minutes": 15}}
# a page that needs nothing, and forms that do; neither thing is there, which is found out only afterwards
LOOKS, DOES = "/reviews", ("/reviews/job-nothing", "/datasets/nothing/policy")
ONLY_FORMS = {
    "/datasets/nothing/scrambles/s-1/signature": "/datasets/nothing/scrambles",
    "/datasets/nothing/twins/t-1/decision": "/datasets/nothing/twins",
}
NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


gateway = gateway_with_provider(step_up=RULE)


def logged_in(gateway: Gateway, issuer: Issuer, *, minutes_ago: float = 0, **claims: Any) -> Browser:
    """A steward whose session began when they showed who they are."""
    browser = Browser(gateway, base_url="http://127.0.0.1")
    shown = {"auth_time": int(time.time() - 60 * minutes_ago)} | claims
    issuer.id_claims = {"eduperson_entitlement": [STEWARD], **shown}
    came = issuer.approve(browser.get("/login/oidc").headers["location"])
    assert browser.get("/login/oidc/back", params=came).status_code == 303
    with gateway.database.transaction() as connection:
        opened = datetime.now(UTC) - timedelta(minutes=minutes_ago)
        connection.execute(sa.update(sessions).values(opened_at=opened))
    return browser


def test_a_fresh_login_of_the_right_kind_does_it(gateway: Gateway, issuer: Issuer):
    browser = logged_in(gateway, issuer, minutes_ago=5, acr=MFA)
    assert browser.get(LOOKS).status_code == 200
    for path in DOES:
        assert browser.send("/account", path, decision="approve").status_code == 404
    browser.close()


@pytest.mark.parametrize(
    "claims",
    [
        {"minutes_ago": 16, "acr": MFA},
        {"minutes_ago": 5, "acr": "password"},
        # the session is new, the login at the provider is not
        {"minutes_ago": 16, "acr": MFA, "opened": "now"},
    ],
)
def test_an_old_login_or_one_of_another_kind_is_sent_to_log_in_and_back(
    gateway: Gateway, issuer: Issuer, claims: dict[str, Any]
):
    browser = logged_in(gateway, issuer, **claims)
    if "opened" in claims:
        with gateway.database.transaction() as connection:
            connection.execute(sa.update(sessions).values(opened_at=datetime.now(UTC)))
    assert browser.get(LOOKS).status_code == 200
    for path in DOES:
        answer = browser.send("/account", path, decision="approve")
        assert (answer.status_code, answer.headers["location"]) == (303, f"/login?fresh=yes&next={path}")
    # what a form alone leads to is no page to come back to
    for of_a_form, above in ONLY_FORMS.items():
        assert browser.send("/account", of_a_form).headers["location"] == f"/login?fresh=yes&next={above}"
    shown = browser.get(answer.headers["location"])
    assert "needs a fresh login" in shown.text
    assert 'href="/login/oidc?provider=main&amp;fresh=yes' in shown.text
    leaving = browser.get("/login/oidc", params={"provider": "main", "fresh": "yes", "next": LOOKS})
    asked = {
        name: values[0] for name, values in parse_qs(urlsplit(leaving.headers["location"]).query).items()
    }
    assert (asked["prompt"], asked["max_age"], asked["acr_values"]) == ("login", "0", MFA)
    issuer.id_claims |= {"auth_time": int(time.time()), "acr": MFA}
    back = browser.get("/login/oidc/back", params=issuer.approve(leaving.headers["location"]))
    assert back.headers["location"] == LOOKS
    assert browser.send("/account", DOES[0], decision="approve").status_code == 404
    browser.close()


@pytest.mark.parametrize(
    ("claims", "said"), [({"acr": None}, f"by {MFA}"), ({"acr": MFA, "auth_time": None}, "does not say when")]
)
def test_where_a_fresh_login_is_not_enough_nobody_is_sent_round_in_circles(
    gateway: Gateway, issuer: Issuer, claims: dict[str, Any], said: str
):
    browser = logged_in(gateway, issuer, **claims)
    answer = browser.send("/account", DOES[0], decision="approve")
    assert answer.status_code == 403
    assert said in answer.text
    browser.close()


def test_a_token_shows_no_fresh_login(gateway: Gateway):
    refused = gateway.ask("POST", "/jobs/job-nothing/review?decision=release", by="holder")
    assert problem(refused, status=403, kind="NotAllowed")["code"] == "fresh_login"
    assert gateway.ask("GET", "/jobs", by="holder").status_code == 200
    # roles that no rule names are asked for nothing
    assert gateway.ask("POST", "/users", by="olga", json={"name": "new", "role": "data_user"}).is_success


def test_a_registration_brings_no_other_policy_past_the_rule(gateway: Gateway, issuer: Issuer):
    """A delivery that there is not is enough: the policy comes into effect with the registration."""
    browser = logged_in(gateway, issuer, minutes_ago=16, acr=MFA)
    with gateway.database.transaction() as connection:
        steward = connection.execute(sa.select(sessions.c.name)).scalar_one()
        kept = policy_fields(approve_jobs=True)
        declared = [given_dataset(connection, owner=owner, name=name, cohort=name, policy=kept).declaration
                    for owner, name in (("holder", "heights"), (steward, "weights"))]  # fmt: skip
    loose = [
        one.model_copy(update={"policy": Policy(**policy_fields(approve_jobs=False))}) for one in declared
    ]
    sent = {"declaration": loose[0].model_dump(mode="json"), "delivery": str(uuid.uuid4())}
    refused = gateway.ask("POST", "/datasets", by="holder", json=sent)
    assert "fresh login" in problem(refused, status=403, kind="NotAllowed")["problem"]
    # another holder is told no more than before
    assert gateway.ask("POST", "/datasets", by="rival", json=sent).status_code in (403, 409)
    pasted = {"from": "yaml", "yaml": as_yaml(loose[1])}
    draft = browser.send("/datasets/new", "/datasets/new", **pasted).headers["location"]
    place = f"{draft.rpartition('/')[0]}/registration"
    answer = browser.send(draft, place, delivery=sent["delivery"])
    assert (answer.status_code, answer.headers["location"]) == (303, f"/login?fresh=yes&next={quote(draft)}")
    with gateway.database.reading() as connection:
        assert [policies.in_effect(connection, one.name).number for one in declared] == [1, 1]
    browser.close()


def test_each_action_asks_on_its_routes_and_on_no_other(gateway: Gateway, subtests: pytest.Subtests):
    everything = {role: StepUp(actions=tuple(Action)) for role in Role}
    given = gateway.app.state.settings
    gateway.app.state.settings = given.model_copy(update={"step_up": everything})
    guarded = frozenset().union(*PERMISSIONS.values())
    asked = set()
    for route in GUARDED:
        person = next(name for name, role in PEOPLE.items() if role in GRANTS[route.permissions[0]])
        body = {"json": BODIES[route.name]} if route.name in BODIES else {}
        path = re.sub(r"\{(\w+)\}", lambda found: PLACES[found[1]], route.template)
        with subtests.test(route.name):
            answer = gateway.ask(route.method, path + QUERIES.get(route.name, ""), by=person, **body)
            is_asked = route.method != "GET" and bool(guarded & set(route.permissions))
            assert ("fresh login" in answer.text) is is_asked
            asked |= guarded & set(route.permissions) if is_asked else set()
    assert asked == guarded


def test_the_rule_by_itself():
    rule = StepUp.model_validate({"actions": ["policy"], "within_minutes": 10})
    assert rule.lacks(acr=None, shown_at=NOW - timedelta(minutes=10), now=NOW) == ""
    assert rule.lacks(acr=None, shown_at=NOW + timedelta(seconds=30), now=NOW) == ""
    # or else a login of the year 9999 would be fresh for good
    assert "clock is ahead" in rule.lacks(acr=None, shown_at=NOW + timedelta(seconds=31), now=NOW)
    assert "last 10 minutes" in rule.lacks(acr=None, shown_at=NOW - timedelta(minutes=11), now=NOW)
    assert set(PERMISSIONS) == set(Action)
    for wrong in ({"actions": []}, {"actions": ["all"]}, {"actions": ["policy"], "within_minutes": 0}):
        with pytest.raises(ValidationError):
            StepUp.model_validate(wrong)
    assert set(RULE) <= set(Role)
