"""What a role decides needs a login that is fresh, and of the kind that the operator asks for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import sqlalchemy as sa
from asking import Gateway, problem, running_gateway
from form_browser import Browser
from issuer import EC, RSA, STEWARD, Issuer, running_issuer
from pydantic import ValidationError
from test_login_faults import settings

from domain.permissions import Role
from domain.step_up import PERMISSIONS, Action, StepUp
from store.account_tables import sessions

MFA = "https://refeds.org/profile/mfa"
RULE = {"rights_holder": {"actions": ["decide", "policy"], "acr": [MFA], "within_minutes": 15}}
# a page that needs nothing, and forms that do; neither thing is there, which is found out only afterwards
LOOKS, DOES = "/reviews", ("/reviews/job-nothing", "/datasets/nothing/policy")
NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with running_issuer() as running:
        yield running


@pytest.fixture
def gateway(sqlite_url: str, issuer: Issuer, tmp_path: Path) -> Iterator[Gateway]:
    issuer.instead, issuer.document, issuer.userinfo, issuer.keys = {}, {}, {}, [RSA, EC]
    given = settings(issuer, tmp_path) | {"step_up": RULE}
    with running_gateway(sqlite_url, "redis+socket:///none", **given) as running:
        yield running


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


@pytest.mark.parametrize("claims", [{"minutes_ago": 16, "acr": MFA}, {"minutes_ago": 5, "acr": "password"}])
def test_an_old_login_or_one_of_another_kind_is_sent_to_log_in_and_back(
    gateway: Gateway, issuer: Issuer, claims: dict[str, Any]
):
    browser = logged_in(gateway, issuer, **claims)
    assert browser.get(LOOKS).status_code == 200
    for path in DOES:
        answer = browser.send("/account", path, decision="approve")
        assert (answer.status_code, answer.headers["location"]) == (303, f"/login?fresh=yes&next={path}")
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
    assert "fresh login" in problem(refused, status=403, kind="NotAllowed")["problem"]
    assert gateway.ask("GET", "/jobs", by="holder").status_code == 200
    # roles that no rule names are asked for nothing
    assert gateway.ask("POST", "/users", by="olga", json={"name": "new", "role": "data_user"}).is_success


def test_the_rule_by_itself():
    rule = StepUp.model_validate({"actions": ["policy"], "within_minutes": 10})
    assert rule.lacks(acr=None, shown_at=NOW - timedelta(minutes=10), now=NOW) == ""
    assert "last 10 minutes" in rule.lacks(acr=None, shown_at=NOW - timedelta(minutes=11), now=NOW)
    assert set(PERMISSIONS) == set(Action)
    for wrong in ({"actions": []}, {"actions": ["all"]}, {"actions": ["policy"], "within_minutes": 0}):
        with pytest.raises(ValidationError):
            StepUp.model_validate(wrong)
    assert set(RULE) <= set(Role)
