"""Who leaves an organisation is out: at once when its provider says so, within an hour when it does not."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from asking import Gateway, problem
from form_browser import Browser
from issuer import MEMBER, STEWARD, Issuer
from joserfc.jwk import RSAKey
from with_provider import gateway_with_provider

from gateway.oidc.faults import Fault
from store.account_tables import api_tokens, identities, sessions
from store.tables import audit_events

OTHER = RSAKey.generate_key(2048, {"kid": "rsa-1"}, private=True)


gateway = gateway_with_provider()


@dataclass
class Held:
    """All that one person holds: a browser of each of two logins, an access token and a token of ours."""

    gateway: Gateway
    browsers: list[Browser]
    access: str
    own: str

    def reach(self) -> list[bool]:
        """What still works, in that order."""
        pages = [browser.get("/account").status_code == 200 for browser in self.browsers]
        answers = [ask(self.gateway, token).status_code == 200 for token in (self.access, self.own)]
        return [*pages, *answers]

    def close(self) -> None:
        for browser in self.browsers:
            browser.close()


def ask(gateway: Gateway, token: str, path: str = "/me", method: str = "GET", **request: Any):
    return gateway.ask(method, path, headers={"Authorization": f"Bearer {token}"}, **request)


def logged_in(gateway: Gateway, issuer: Issuer, **claims: Any) -> Browser:
    browser = Browser(gateway, base_url="http://127.0.0.1")
    issuer.id_claims = claims
    came = issuer.approve(browser.get("/login/oidc").headers["location"])
    assert browser.get("/login/oidc/back", params=came).status_code == 303
    return browser


@pytest.fixture
def held(gateway: Gateway, issuer: Issuer) -> Iterator[Held]:
    browsers = [logged_in(gateway, issuer, sid=sid) for sid in ("login-1", "login-2")]
    # some time ago, as tokens of leavers are
    access = issuer.token(sid="login-2", iat=int(time.time()) - 10)
    made = ask(gateway, access, "/tokens", "POST", json={"label": "laptop", "scopes": ["read"]}).json()
    found = Held(gateway, browsers, access, made["token"])
    assert found.reach() == [True] * 4
    yield found
    found.close()


def end(gateway: Gateway, token: str, *, status: int = 200) -> Any:
    answer = gateway.ask("POST", "/login/ended", data={"logout_token": token})
    assert answer.status_code == status, answer.text
    return answer.json()


def actions(gateway: Gateway) -> list[tuple[str, str]]:
    with gateway.database.reading() as connection:
        return [(row.action, row.subject) for row in connection.execute(audit_events.select())]


def test_a_leaver_is_out_at_once_and_for_good(held: Held, issuer: Issuer):
    """With the answer to the provider's call: the very next request finds nothing that works."""
    assert end(held.gateway, issuer.logout_token()) == {"ended": True}
    assert held.reach() == [False] * 4
    assert ("login.end", "ada-lovelace") in actions(held.gateway)
    # back at the organisation: a new login, while what was held before stays ended
    passed(held.gateway)
    assert ask(held.gateway, issuer.token()).status_code == 200
    assert held.reach() == [False] * 4
    assert "has ended" in problem(ask(held.gateway, held.access), status=401)["problem"]


def test_without_the_providers_call_all_of_it_works_on(held: Held):
    """The control: it is the call that ends it."""
    assert held.reach() == [True] * 4


def test_one_login_ends_for_good_and_the_rest_rests_until_the_next(held: Held, issuer: Issuer):
    end(held.gateway, issuer.logout_token(sid="login-1"))
    assert held.reach() == [False] * 4
    passed(held.gateway)
    again = logged_in(held.gateway, issuer, sid="login-3")
    # the second browser and the token are of another login than the one that ended
    assert [held.reach()[place] for place in (0, 1, 3)] == [False, True, True]
    end(held.gateway, issuer.logout_token(sid="login-2", sub=None))
    passed(held.gateway)
    third = logged_in(held.gateway, issuer, sid="login-4")
    assert held.reach() == [False] * 4
    # no token of a login that ended comes in again, however young it is, nor one of no login from before
    nameless = issuer.token(iat=int(time.time()) - 10)
    assert "has ended" in problem(ask(held.gateway, nameless), status=401)["problem"]
    young = problem(ask(held.gateway, issuer.token(sid="login-2")), status=401)
    assert "has ended" in young["problem"]
    again.close()
    third.close()


def test_what_was_made_before_does_not_come_back_by_what_is_asked_later(gateway: Gateway, issuer: Issuer):
    """The provider goes on answering about a token after the logout, and the leaver may be new here."""
    issuer.userinfo = {"sub": "subject-1", "eduperson_entitlement": [MEMBER]}
    said_later = issuer.token(eduperson_entitlement=None, iat=int(time.time()) - 10)
    issuer.opaque = {"opaque": issuer.claims(active=True, iat=int(time.time()) - 10)}
    new_here = issuer.token(sub="subject-9", iat=int(time.time()) - 10)
    assert [ask(gateway, token).status_code for token in (said_later, "opaque")] == [200, 200]
    for subject in ("subject-1", "subject-9"):
        end(gateway, issuer.logout_token(sub=subject, iat=int(time.time()) - 5))
    for token in (said_later, "opaque", new_here):
        gateway.app.state.providers.main.forget()
        assert "has ended" in problem(ask(gateway, token), status=401)["problem"]
    # what was made since is another login
    assert ask(gateway, issuer.token(sub="subject-9")).status_code == 200
    # a service that is called like them is none of them
    service = issuer.token(sub="nightly", client_id="nightly", iat=int(time.time()) - 10)
    end(gateway, issuer.logout_token(sub="nightly", iat=int(time.time()) - 5))
    assert ask(gateway, service).json()["role"] == "data_user"
    # without its age nobody can tell from when it is
    assert "no readable times" in problem(ask(gateway, issuer.token(iat=None)), status=401)["problem"]


def test_halves_of_letters_are_refused_and_no_fault(gateway: Gateway, issuer: Issuer):
    half = "a\ud800"
    for name in ("sub", "sid", "eduperson_entitlement"):
        refused = ask(gateway, issuer.token(**{name: half}))
        assert "cannot be read" in problem(refused, status=401)["problem"]
    for name in ("sub", "sid", "jti"):
        end(gateway, issuer.logout_token(**{name: half}), status=400)
    issuer.userinfo = {"sub": "subject-1", "eduperson_entitlement": [MEMBER, half]}
    said = problem(ask(gateway, issuer.token(eduperson_entitlement=None)), status=401)
    assert "does not answer as it should" in said["problem"]


def test_nobody_else_is_logged_out(held: Held, issuer: Issuer):
    for changed in ({"sub": "subject-2"}, {"sub": None, "sid": "login-9"}):
        assert end(held.gateway, issuer.logout_token(**changed)) == {"ended": True}
    assert held.reach() == [True] * 4
    assert "login.end" not in dict(actions(held.gateway))


def test_a_logout_token_counts_once(held: Held, issuer: Issuer):
    token = issuer.logout_token()
    end(held.gateway, token)
    passed(held.gateway)
    browser = logged_in(held.gateway, issuer)
    end(held.gateway, token)
    assert browser.get("/account").status_code == 200
    browser.close()


NOW = int(time.time())
FORGED: dict[str, tuple[dict[str, Any], Fault]] = {
    "of another provider": ({"iss": "https://elsewhere.example"}, Fault.WRONG_ISSUER),
    "for another client": ({"aud": "another"}, Fault.WRONG_CLIENT),
    "for nobody": ({"aud": None}, Fault.WRONG_CLIENT),
    "without the event": ({"events": None}, Fault.WRONG_KIND),
    "with another event": ({"events": {"urn:else": {}}}, Fault.WRONG_KIND),
    "an event that is no object": (
        {"events": {"http://schemas.openid.net/event/backchannel-logout": 1}}, Fault.WRONG_KIND,
    ),
    "with a nonce": ({"nonce": "n"}, Fault.WRONG_KIND),
    "an access token": ({"header": {"typ": "at+jwt"}}, Fault.WRONG_KIND),
    "without an id": ({"jti": None}, Fault.NO_SUBJECT),
    "that names nobody": ({"sub": None}, Fault.NO_SUBJECT),
    "expired": ({"exp": NOW - 60}, Fault.EXPIRED),
    "old": ({"iat": NOW - 900, "exp": NOW + 900}, Fault.EXPIRED),
    "of tomorrow": ({"iat": NOW + 86_400}, Fault.NOT_YET),
    "without a time": ({"iat": None}, Fault.UNREADABLE_TIME),
    "signed by somebody else": ({"key": OTHER}, Fault.BAD_SIGNATURE),
}  # fmt: skip


def test_a_forged_logout_token_ends_nothing(held: Held, issuer: Issuer, subtests: pytest.Subtests):
    for what, (changed, fault) in FORGED.items():
        with subtests.test(what):
            before = held.gateway.app.state.providers.refusals.counts().get(fault, 0)
            end(held.gateway, issuer.logout_token(**changed), status=400)
            assert held.gateway.app.state.providers.refusals.counts()[fault] == before + 1
    for nonsense in ("", "x", "a.b.c", issuer.token()):
        end(held.gateway, nonsense, status=400)
    assert held.reach() == [True] * 4


def test_without_a_call_the_word_ends_after_an_hour_for_those_whose_rights_reach_far(
    gateway: Gateway, issuer: Issuer
):
    tokens = {}
    for subject, entitled in (("researcher", MEMBER), ("steward", STEWARD)):
        access = issuer.token(sub=subject, preferred_username=subject, eduperson_entitlement=[entitled])
        body = {"label": "laptop", "scopes": ["read"]}
        tokens[subject] = ask(gateway, access, "/tokens", "POST", json=body).json()["token"]
    with gateway.database.reading() as connection:
        lasts = {row.name: row.counts_until - row.heard_at for row in connection.execute(identities.select())}
    assert lasts == {"researcher": timedelta(days=30), "steward": timedelta(hours=1)}
    assert all(ask(gateway, token).status_code == 200 for token in tokens.values())
    later(gateway, timedelta(minutes=61))
    found = {name: ask(gateway, token).status_code for name, token in tokens.items()}
    assert found == {"researcher": 200, "steward": 401}
    # the provider speaks of them again: their token goes on
    access = issuer.token(sub="steward", eduperson_entitlement=[STEWARD])
    assert ask(gateway, access).status_code == 200
    assert ask(gateway, tokens["steward"]).status_code == 200


def test_an_access_token_counts_no_longer_than_what_was_said_with_it(gateway: Gateway, issuer: Issuer):
    """Its provider lets it live for a day, and the person is heard of meanwhile by a newer one."""
    who = {"sub": "steward", "preferred_username": "steward", "eduperson_entitlement": [STEWARD]}
    hours_ago = time.time() - 2 * 3600
    lasting = issuer.token(**who, iat=hours_ago, exp=hours_ago + 86_400)
    for access, status in ((lasting, 401), (issuer.token(**who), 200), (lasting, 401)):
        assert ask(gateway, access).status_code == status
    researcher = {"sub": "researcher", "preferred_username": "researcher", "eduperson_entitlement": [MEMBER]}
    assert ask(gateway, issuer.token(**researcher, iat=hours_ago, exp=hours_ago + 86_400)).status_code == 200


def later(gateway: Gateway, by: timedelta) -> None:
    """All that a provider said lies further back; nobody waits for it."""
    with gateway.database.transaction() as connection:
        for row in connection.execute(identities.select()).all():
            values = {"heard_at": row.heard_at - by, "counts_until": row.counts_until - by}
            connection.execute(sa.update(identities).where(identities.c.name == row.name).values(values))


def passed(gateway: Gateway) -> None:
    """A minute since the last word, and some seconds since the logout."""
    with gateway.database.transaction() as connection:
        past = datetime.now(UTC) - timedelta(minutes=1)
        connection.execute(sa.update(identities).values(heard_at=past))
        ended = sa.update(identities).where(identities.c.ended_before.is_not(None))
        connection.execute(ended.values(ended_before=datetime.now(UTC) - timedelta(seconds=4)))


def test_what_is_kept_of_a_login_is_a_digest(held: Held):
    with held.gateway.database.reading() as connection:
        kept = [*connection.execute(sa.select(sessions.c.login)).scalars()]
        kept += connection.execute(sa.select(api_tokens.c.login)).scalars()
    assert len(set(kept)) == 2
    assert all(len(one) == 64 for one in kept)


def test_a_logout_here_leads_on_to_the_providers(gateway: Gateway, issuer: Issuer):
    issuer.document = {"end_session_endpoint": f"{issuer.url}/logout"}
    browser = logged_in(gateway, issuer)
    gone = browser.send("/account", "/logout")
    assert gone.headers["location"] == "/login?out=yes"
    assert f"Log out at {issuer.url} too" in browser.get("/login?out=yes").text
    there = browser.get("/login/oidc/out", params={"provider": "main"}).headers["location"]
    assert there.startswith(f"{issuer.url}/logout?client_id=dpgate-web&post_logout_redirect_uri=http%3A")
    browser.close()
