"""What is decided on tokens as five providers make them: who, of which kind, entitled to what; or why not."""

from __future__ import annotations

import pytest
from pydantic import ValidationError
from token_shapes import AT, NOW, ROWS, SERVICE, Row

from domain.errors import Unauthenticated
from domain.identity import Kind, Profile, legible
from gateway.config import GatewaySettings
from gateway.oidc.claims import LAST_S, Audience, Signed, check_access, check_issued
from gateway.oidc.faults import SENTENCES, Fault, refused
from gateway.oidc.people import called, entitled_to, find_claim, kind_of, profile_of
from gateway.provider_settings import ProviderSettings


def decided(row: Row) -> tuple[Kind, str, list[str]] | str:
    """All that is decided of a token whose signature holds."""
    at = AT[row.at]
    settings = ProviderSettings.model_validate(
        {
            "name": "one",
            "issuer": at.issuer,
            "audience": at.audience,
            "client_id": at.client,
            "claim": at.claim,
            "roles": {f"client:{at.service}": "data_user"},
        }
    )
    # without an audience of its own the provider's tokens count by their client
    audience = Audience(settings.audience or settings.client_id or "", settings.clients)
    try:
        claims = check_access(Signed(row.top(), row.claims()), audience, issuer=settings.issuer, now=NOW)
        kind = kind_of(claims, settings.services)
        return kind, called(claims, kind), sorted(entitled_to(claims, at.claim)) if kind != SERVICE else []
    except Unauthenticated as error:
        return error.reason


def test_every_shape_is_decided_as_the_table_says(subtests: pytest.Subtests):
    assert len(ROWS) >= 30
    for row in ROWS:
        with subtests.test(f"{row.at}: {row.what}"):
            assert decided(row) == row.decided


def test_every_fault_has_a_sentence_of_its_own():
    assert set(SENTENCES) == set(Fault)
    assert len({problem for problem, _ in SENTENCES.values()}) == len(Fault)
    for fault in Fault:
        found = refused(fault)
        assert found.reason == fault
        assert all(part.endswith(".") for part in (found.problems[0].problem, found.problems[0].fix))


def test_a_claim_is_found_by_its_name_or_along_a_path():
    claims = {"a": {"b": {"c": 1}, "b.c": 2}, "a.b.c": 3, "x.y": {"z": 4}, "n": None}
    assert find_claim(claims, "a.b.c") == 3
    assert find_claim({"a": claims["a"]}, "a.b.c") == 2
    assert find_claim({"a": {"b": {"c": 1}}}, "a.b.c") == 1
    assert find_claim(claims, "x.y.z") == 4
    for path in ("a.c", "a.b.c.d", "z", "", ".", "a.", "n.m"):
        assert find_claim(claims, path) is None


@pytest.mark.parametrize("wrong", [-1, -1e300, float("nan"), float("inf"), LAST_S + 1, 10**400, True, "1"])
@pytest.mark.parametrize("name", ["iat", "nbf", "exp"])
def test_a_time_that_no_calendar_has_is_a_refusal(name: str, wrong: object):
    claims = {"iss": "https://idp", "sub": "s", "exp": NOW + 9, "iat": NOW, name: wrong}
    with pytest.raises(Unauthenticated) as found:
        check_issued(claims, issuer="https://idp", now=NOW)
    assert found.value.reason == Fault.UNREADABLE_TIME


def test_what_is_said_of_people_cannot_play_tricks_on_who_reads_it():
    said = {
        "given_name": "Ada\u202e",
        "family_name": "Lovelace\r\n",
        "email": "ada@example.org\x00",
        "email_verified": False,
        "eduperson_scoped_affiliation": ["member@a.example", 7, "staff@a.example"],
    }
    assert profile_of(said) == Profile(
        "Ada Lovelace", "member@a.example, staff@a.example", "ada@example.org (not verified)"
    )
    assert profile_of({"name": ["x"], "email": ""}) == Profile()
    assert legible("x" * 999) == "x" * 200


def settings(**changed: object) -> GatewaySettings:
    given = {
        "database_url": "sqlite://",
        "broker_url": "redis+socket:///none",
        "oidc_issuer": "https://heart.eu.auth0.com/",
        "oidc_audience": "https://dpgate.example",
        "oidc_roles": {"urn:x": "data_user"},
    }
    return GatewaySettings.model_validate(given | changed)


MORE = {"name": "second", "issuer": "https://two.example", "audience": "a", "roles": {"x": "data_user"}}


def test_issuers_stay_as_they_were_written_and_there_may_be_several():
    found = settings(oidc_more=[MORE]).providers
    assert [(one.name, one.issuer) for one in found] == [
        ("main", "https://heart.eu.auth0.com/"),
        ("second", "https://two.example"),
    ]


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"oidc_more": [MORE | {"name": "main"}]}, "name twice"),
        ({"oidc_more": [MORE | {"issuer": "https://heart.eu.auth0.com/"}]}, "issuer twice"),
        ({"oidc_more": [MORE], "oidc_issuer": None}, "DPGATE_OIDC_ISSUER is needed"),
        ({"oidc_more": [MORE | {"audience": None}]}, "whose tokens count"),
        ({"oidc_more": [MORE | {"client_id": "c"}]}, "DPGATE_PUBLIC_URL"),
        ({"oidc_more": [MORE | {"issuer": "http://two.example"}]}, "https://"),
        ({"oidc_more": [MORE | {"clams": "x"}]}, "clams"),
    ],
)
def test_settings_of_several_that_do_not_fit_are_refused(changed: dict[str, object], word: str):
    with pytest.raises(ValidationError, match=word):
        settings(**changed)
