"""Access tokens of an identity provider: the right ones become users, and each attack is refused."""

from __future__ import annotations

import base64
import hmac
import json
import time
import warnings
from datetime import UTC, datetime

import pytest
from asking import Gateway, problem
from issuer import AUDIENCE, CLI, MEMBER, STEWARD, Issuer, ec, rsa
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey
from with_provider import gateway_with_provider

from domain.permissions import Role
from store import users
from store.tables import audit_events

gateway = gateway_with_provider(oidc_cli_client_id=CLI)


def me(gateway: Gateway, token: str):
    return gateway.ask("GET", "/me", headers={"Authorization": f"Bearer {token}"})


def b64(content: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=").decode()


@pytest.mark.parametrize("key", [rsa, ec])
def test_a_right_token_is_a_user_who_is_made_once(gateway: Gateway, issuer: Issuer, key):
    for _ in range(3):
        answer = me(gateway, issuer.token(key=key()))
        assert answer.json() == {"name": "ada-lovelace", "role": "data_user"}
    assert issuer.asked["/keys"] == 1
    assert gateway.rows()["identities"] == 1


def test_a_name_that_is_taken_stays_with_whom_it_belongs_to(gateway: Gateway, issuer: Issuer):
    named = me(gateway, issuer.token(preferred_username="olga")).json()
    assert named == {"name": "olga-2", "role": "data_user"}
    assert me(gateway, gateway.tokens["olga"]).json()["role"] == "operator"
    again = me(gateway, issuer.token(sub="subject-2", preferred_username="olga@elsewhere.example")).json()
    assert again["name"] == "olga-3"
    # where a provider says no name everybody is called alike, and the hundredth person comes in too
    with gateway.database.transaction() as connection:
        for number in range(4, 130):
            users.add(connection, name=f"olga-{number}", role=Role.DATA_USER, now=datetime.now(UTC))
    assert me(gateway, issuer.token(sub="subject-3", preferred_username="olga")).json()["name"] == "olga-130"


def test_the_role_follows_the_entitlement(gateway: Gateway, issuer: Issuer):
    assert me(gateway, issuer.token()).json()["role"] == "data_user"
    both = issuer.token(eduperson_entitlement=[MEMBER, STEWARD])
    assert me(gateway, both).json() == {"name": "ada-lovelace", "role": "rights_holder"}
    refused = problem(me(gateway, issuer.token(eduperson_entitlement=[])), status=403, kind="NotAllowed")
    assert "nothing entitles you" in refused["problem"]


def test_somebody_without_a_role_leaves_nothing_but_a_count(gateway: Gateway, issuer: Issuer):
    before = gateway.rows()
    for _ in range(5):
        problem(me(gateway, issuer.token(eduperson_entitlement=["urn:else"])), status=403)
    # of refusals the first, second, fourth ... is an event; who it was is in none
    assert gateway.rows() == before | {"audit_events": 3}
    assert gateway.app.state.providers.refusals.counts() == {"no_role": 5}
    with gateway.database.reading() as connection:
        events = connection.execute(audit_events.select()).all()
    assert [(one.action, one.subject, one.details["why"], one.details["count"]) for one in events] == [
        ("login.refused", "unknown", "no_role", count) for count in (1, 2, 4)
    ]


def test_a_service_has_the_role_of_its_client_alone(gateway: Gateway, issuer: Issuer):
    service = {"sub": "nightly", "client_id": "nightly", "preferred_username": None}
    named = me(gateway, issuer.token(**service, eduperson_entitlement=None)).json()
    assert named == {"name": "nightly", "role": "data_user"}
    # a person cannot be entitled to be a client
    problem(me(gateway, issuer.token(sub="x", eduperson_entitlement=["client:nightly"])), status=403)
    problem(me(gateway, issuer.token(sub="other", client_id="other")), status=403)


def test_the_claim_that_a_token_leaves_out_is_asked_for(gateway: Gateway, issuer: Issuer):
    issuer.userinfo = {"sub": "subject-1", "eduperson_entitlement": [STEWARD]}
    assert me(gateway, issuer.token(eduperson_entitlement=None)).json()["role"] == "rights_holder"
    issuer.userinfo = {"sub": "somebody-else", "eduperson_entitlement": [STEWARD]}
    problem(me(gateway, issuer.token(sub="mallory", eduperson_entitlement=None)), status=401)


NOW = int(time.time())
WRONG_CLAIMS = {
    "another audience": {"aud": "https://elsewhere.example"},
    "an audience that only starts the same": {"aud": f"{AUDIENCE}.evil.example"},
    "no audience, from a client that is not ours": {"aud": None, "client_id": "evil"},
    "no audience and no client": {"aud": None, "client_id": None},
    "an audience that is no text": {"aud": [{"x": 1}]},
    "another issuer": {"iss": "https://elsewhere.example"},
    "no issuer": {"iss": None},
    "expired": {"exp": NOW - 31},
    "never expiring": {"exp": None},
    "an expiry that is no number": {"exp": "tomorrow"},
    "an expiry that is true": {"exp": True},
    "not valid yet": {"nbf": NOW + 86_400},
    "issued tomorrow": {"iat": NOW + 86400},
    "nobody": {"sub": None},
    "an empty name": {"sub": ""},
    "a name that is a number": {"sub": 7},
    "a very long name": {"sub": "x" * 256},
}


def test_a_token_that_says_something_else_is_refused(
    gateway: Gateway, issuer: Issuer, subtests: pytest.Subtests
):
    for what, changed in WRONG_CLAIMS.items():
        with subtests.test(what):
            problem(me(gateway, issuer.token(**changed)), status=401, kind="Unauthenticated")
            assert gateway.rows()["identities"] == 0


def test_a_clock_may_be_half_a_minute_off(gateway: Gateway, issuer: Issuer):
    now = int(time.time())
    assert me(gateway, issuer.token(exp=now - 20, nbf=now + 20, iat=now + 20)).status_code == 200


def test_without_an_audience_the_client_counts(gateway: Gateway, issuer: Issuer):
    assert me(gateway, issuer.token(aud=None)).status_code == 200
    assert me(gateway, issuer.token(aud=None, client_id=None, azp=CLI)).status_code == 200


def test_an_unsigned_token(gateway: Gateway, issuer: Issuer):
    for algorithm in ("none", "None", "NONE", ""):
        header = {"alg": algorithm, "typ": "at+jwt"}
        problem(me(gateway, f"{b64(header)}.{b64(issuer.claims())}."), status=401)


def test_the_public_key_as_a_shared_secret(gateway: Gateway, issuer: Issuer):
    signed = f"{b64({'alg': 'HS256', 'kid': 'rsa-1', 'typ': 'at+jwt'})}.{b64(issuer.claims())}"
    pem = rsa().as_pem(private=False)
    for secret in (pem, pem.strip(), json.dumps(rsa().as_dict(private=False)).encode()):
        forged = base64.urlsafe_b64encode(hmac.digest(secret, signed.encode(), "sha256")).rstrip(b"=")
        problem(me(gateway, f"{signed}.{forged.decode()}"), status=401)


def test_a_shared_secret_among_the_published_keys(gateway: Gateway, issuer: Issuer):
    secret = OctKey.import_key("0123456789abcdef" * 4, {"kid": "oct-1"})
    issuer.keys = [rsa(), ec(), secret]
    forged = jwt.encode({"alg": "HS256", "kid": "oct-1"}, issuer.claims(), secret, algorithms=["HS256"])
    problem(me(gateway, forged), status=401)


def test_a_key_of_the_attacker(gateway: Gateway, issuer: Issuer):
    own = RSAKey.generate_key(2048, {"kid": "rsa-1"}, private=True)
    problem(me(gateway, issuer.token(key=own)), status=401)
    inside = {"jwk": own.as_dict(private=False), "jku": f"{issuer.url}/evil", "x5u": f"{issuer.url}/evil"}
    for name, value in inside.items():
        problem(me(gateway, issuer.token(key=own, header={name: value, "kid": None})), status=401)
    assert issuer.asked["/evil"] == 0


def test_a_signature_over_other_claims(gateway: Gateway, issuer: Issuer):
    header, _, signature = issuer.token().split(".")
    problem(me(gateway, f"{header}.{b64(issuer.claims(sub='admin'))}.{signature}"), status=401)


def test_a_short_rsa_key_is_no_key(gateway: Gateway, issuer: Issuer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        short = RSAKey.generate_key(1024, {"kid": "short"}, private=True)
        issuer.keys = [short]
        token = issuer.token(key=short)
    problem(me(gateway, token), status=401)


IDENTITY_TOKENS = {
    "with a nonce": ({"typ": "JWT"}, {"nonce": "n"}),
    "with a hash of the access token": ({"typ": None}, {"at_hash": "x"}),
    "without a scope": ({"typ": "JWT"}, {"scope": None}),
    "called an ID": ({"typ": "JWT"}, {"typ": "ID"}),
    "called a refresh token": ({"typ": "JWT"}, {"typ": "Refresh"}),
    "a logout token": ({"typ": "logout+jwt"}, {"events": {}}),
    "a logout token in disguise": ({"typ": "JWT"}, {"events": {}}),
    "a DPoP proof": ({"typ": "dpop+jwt"}, {}),
}


def test_a_token_of_another_kind_is_no_access_token(
    gateway: Gateway, issuer: Issuer, subtests: pytest.Subtests
):
    for what, (header, changed) in IDENTITY_TOKENS.items():
        with subtests.test(what):
            refused = problem(me(gateway, issuer.token(header=header, **changed)), status=401)
            assert refused["problem"] == "the token is no access token."


def test_an_access_token_that_is_called_a_jwt(gateway: Gateway, issuer: Issuer):
    assert me(gateway, issuer.token(header={"typ": "JWT"})).status_code == 200


def test_made_up_key_ids_cannot_make_us_flood_the_provider(gateway: Gateway, issuer: Issuer):
    own = RSAKey.generate_key(2048, {"kid": "x"}, private=True)
    for number in range(50):
        problem(me(gateway, issuer.token(key=own, header={"kid": f"made-up-{number}"})), status=401)
    assert issuer.asked["/keys"] == 1
    assert issuer.asked["/.well-known/openid-configuration"] == 1


def test_a_new_key_of_the_provider_is_found_a_minute_later(gateway: Gateway, issuer: Issuer):
    published = gateway.app.state.providers.main.published
    now = 5_000.0  # of a clock that counts from anywhere
    published._clock = lambda: now
    assert me(gateway, issuer.token()).status_code == 200
    new = RSAKey.generate_key(2048, {"kid": "rsa-2", "use": "sig"}, private=True)
    issuer.keys = [new]
    problem(me(gateway, issuer.token(key=new)), status=401)
    published._clock = lambda: now + 61
    assert me(gateway, issuer.token(key=new)).status_code == 200
    assert issuer.asked["/keys"] == 2


def test_an_opaque_token_is_looked_up_once_a_minute(gateway: Gateway, issuer: Issuer):
    issuer.opaque["opaque-1"] = issuer.claims(active=True, aud=None)
    for _ in range(3):
        assert me(gateway, "opaque-1").json()["name"] == "ada-lovelace"
    assert issuer.asked["/introspection"] == 1


UNFIT = [
    {"active": False},
    {"active": "true"},
    {"active": None},
    {"aud": "https://elsewhere.example"},
    {"client_id": "evil"},
    {"iss": "https://elsewhere.example"},
    {"exp": NOW - 60},
    {"token_type": "refresh_token"},
]


def test_an_opaque_token_that_does_not_fit(gateway: Gateway, issuer: Issuer, subtests: pytest.Subtests):
    for number, changed in enumerate(UNFIT):
        token = f"opaque-{number}"  # what is known of one is kept for a minute
        with subtests.test(", ".join(changed)):
            issuer.opaque[token] = issuer.claims(**{"active": True, "aud": None} | changed)
            problem(me(gateway, token), status=401)
            assert issuer.asked["/introspection"] == number + 1


def test_guesses_at_opaque_tokens_are_not_all_passed_on(gateway: Gateway, issuer: Issuer):
    provider = gateway.app.state.providers.main
    now = time.time()
    provider.clock = lambda: now
    for number in range(60):
        problem(me(gateway, f"guess-{number}"), status=401)
    assert issuer.asked["/introspection"] == 20


def test_a_disabled_account_stays_out(gateway: Gateway, issuer: Issuer):
    assert me(gateway, issuer.token()).status_code == 200
    assert gateway.ask("DELETE", "/users/ada-lovelace", by="olga").status_code == 200
    refused = problem(me(gateway, issuer.token()), status=401)
    assert refused["problem"] == "this account is disabled."


def test_no_passwords_beside_a_provider(gateway: Gateway):
    answer = gateway.ask("POST", "/login", json={"name": "ada", "password": "x"})
    problem(answer, status=404, kind="NotFound")
    assert gateway.ask("GET", "/login").json()["password"] is False
    added = gateway.ask("POST", "/users", by="olga", json={"name": "new", "role": "data_user"}).json()
    assert added["initial_password"] is None
