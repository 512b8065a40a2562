"""Tokens in the shapes that five providers document. Ids are made up; names and places of claims are theirs.

Keycloak: Server Administration Guide, "OIDC token and SAML assertion mappings" and "Using a service account".
EGI Check-in: guide for service providers, "OpenID Connect", claims and scopes. Microsoft Entra: "Access token
claims reference", "ID token claims reference", "Optional claims reference", "Configure group claims". Auth0:
"Access token profiles", "Sample access tokens", "Create custom claims". Okta: "OpenID Connect & OAuth 2.0
API", "Access token claims", "Client credentials".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from domain.identity import Kind
from gateway.oidc.faults import Fault

NOW = 1_750_000_000
TIMES = {"iat": NOW - 10, "exp": NOW + 290}
PERSON, SERVICE = Kind.PERSON, Kind.SERVICE
API = "https://dpgate.example.org"
GUID = "6731de76-14a6-49ae-97bc-6eba6914391e"
TENANT = "aaaabbbb-0000-cccc-1111-dddd2222eeee"
GROUP = "urn:mace:egi.eu:group:vo.example.org:role=member#aai.egi.eu"
AUTH0_CLAIM = "https://dpgate.example.org/roles"


@dataclass(frozen=True)
class At:
    """A provider, as the operator set it up."""

    issuer: str
    claim: str
    service: str
    client: str
    audience: str | None = API


AT = {
    "keycloak": At("https://sso.example.org/realms/heart", "realm_access.roles", "nightly", "dpgate-cli"),
    "keycloak client roles": At(
        "https://sso.example.org/realms/heart",
        "resource_access.dpgate.example.org.roles",
        "nightly",
        "dpgate",
    ),
    "egi": At(
        "https://aai.egi.eu/auth/realms/egi", "eduperson_entitlement", "nightly", "dpgate", audience=None
    ),
    "entra": At(
        f"https://login.microsoftonline.com/{TENANT}/v2.0", "roles", "0a1b-nightly", GUID, audience=GUID
    ),
    "entra groups": At(
        f"https://login.microsoftonline.com/{TENANT}/v2.0", "groups", "0a1b-nightly", GUID, audience=GUID
    ),
    "entra v1": At(f"https://sts.windows.net/{TENANT}/", "roles", "0a1b-nightly", GUID, f"api://{GUID}"),
    "auth0": At("https://heart.eu.auth0.com/", AUTH0_CLAIM, "nIghtly0", "webApp0"),
    "auth0 permissions": At("https://heart.eu.auth0.com/", "permissions", "nIghtly0", "webApp0"),
    "okta": At("https://heart.okta.com/oauth2/default", "groups", "0oaNightly", "0oaWeb"),
}
HEADER: dict[str, dict[str, Any]] = {
    "keycloak": {"alg": "RS256", "typ": "JWT", "kid": "k"},
    "egi": {"alg": "RS256", "typ": "JWT", "kid": "k"},
    "entra": {"alg": "RS256", "typ": "JWT", "kid": "k", "x5t": "k"},
    "auth0": {"alg": "RS256", "typ": "JWT", "kid": "k"},
    "okta": {"alg": "RS256", "kid": "k"},
}
BASE: dict[str, dict[str, Any]] = {
    "keycloak person": {
        "jti": "onrtac:1", "iss": AT["keycloak"].issuer, "aud": [API, "account"],
        "sub": "36fa0f91-f94d-4a0c-afed-6b7d952e47da", "typ": "Bearer", "azp": "dpgate-cli",
        "sid": "2a88c258", "acr": "1", "auth_time": NOW - 60, "allowed-origins": ["/*"],
        "realm_access": {"roles": ["stewards", "offline_access", "uma_authorization"]},
        "resource_access": {"account": {"roles": ["view-profile"]}, "dpgate.example.org": {"roles": ["use"]}},
        "scope": "openid profile email", "email_verified": True, "name": "Ada Lovelace",
        "preferred_username": "ada", "email": "ada@example.org",
    },
    "keycloak service": {
        "jti": "trrtcc:1", "iss": AT["keycloak"].issuer, "aud": API,
        "sub": "fd9f7e8b-0cf4-4a1e-8d52-5ee6b0cf6ad3", "typ": "Bearer", "azp": "nightly", "acr": "1",
        "realm_access": {"roles": ["offline_access"]}, "scope": "profile email", "email_verified": False,
        "clientHost": "192.0.2.1", "clientAddress": "192.0.2.1", "client_id": "nightly",
        "preferred_username": "service-account-nightly",
    },
    "egi person": {
        "jti": "1", "iss": AT["egi"].issuer, "sub": "0ab1@egi.eu", "typ": "Bearer", "azp": "dpgate",
        "session_state": "2a88", "sid": "2a88", "acr": "https://refeds.org/profile/sfa",
        "scope": "openid eduperson_entitlement voperson_id profile email", "voperson_id": "0ab1@egi.eu",
        "eduperson_entitlement": [GROUP], "name": "Ada Lovelace",
        "voperson_external_affiliation": ["member@university.example.org"], "email": "ada@example.org",
    },
    "egi service": {
        "jti": "2", "iss": AT["egi"].issuer, "sub": "77cd", "typ": "Bearer", "azp": "nightly",
        "scope": "openid", "clientId": "nightly", "preferred_username": "service-account-nightly",
    },
    "entra person": {
        "aud": GUID, "iss": AT["entra"].issuer, "nbf": NOW - 10, "aio": "AXQAi", "azp": "0a1b-cli",
        "azpacr": "0", "name": "Ada Lovelace", "oid": "0000-aa", "preferred_username": "ada@example.org",
        "rh": "I", "roles": ["Steward"], "scp": "access_as_user", "sub": "HKZpfaHyWadeOouYlitjrI",
        "tid": TENANT, "uti": "fqiBqX", "ver": "2.0",
    },
    "entra service": {
        "aud": GUID, "iss": AT["entra"].issuer, "nbf": NOW - 10, "aio": "E2Zg", "azp": "0a1b-nightly",
        "azpacr": "1", "oid": "0000-bb", "rh": "I", "sub": "0000-bb", "tid": TENANT, "uti": "u", "ver": "2.0",
    },
    "entra v1 person": {
        "aud": f"api://{GUID}", "iss": AT["entra v1"].issuer, "nbf": NOW - 10, "acr": "1", "amr": ["pwd"],
        "appid": "0a1b-cli", "appidacr": "0", "ipaddr": "192.0.2.1", "name": "Ada Lovelace",
        "oid": "0000-aa", "scp": "access_as_user", "sub": "SzUhpN", "tid": TENANT, "roles": ["Steward"],
        "unique_name": "ada@example.org", "upn": "ada@example.org", "ver": "1.0",
    },
    "entra v1 service": {
        "aud": f"api://{GUID}", "iss": AT["entra v1"].issuer, "nbf": NOW - 10, "appid": "0a1b-nightly",
        "appidacr": "1", "idp": AT["entra v1"].issuer, "oid": "0000-bb", "sub": "0000-bb", "tid": TENANT,
        "ver": "1.0",
    },
    "auth0 person": {
        "iss": AT["auth0"].issuer, "sub": "auth0|64ad", "aud": [API, "https://heart.eu.auth0.com/userinfo"],
        "azp": "webApp0", "scope": "openid profile", AUTH0_CLAIM: ["steward"],
        "permissions": ["read:releases"],
    },
    "auth0 service": {
        "iss": AT["auth0"].issuer, "sub": "nIghtly0@clients", "aud": API, "azp": "nIghtly0",
        "gty": "client-credentials", "scope": "read:releases",
    },
    "okta person": {
        "ver": 1, "jti": "AT.1", "iss": AT["okta"].issuer, "aud": API, "cid": "0oaWeb", "uid": "00uADA",
        "scp": ["openid", "profile"], "auth_time": NOW - 60, "sub": "ada@example.org", "groups": ["Stewards"],
    },
    "okta service": {
        "ver": 1, "jti": "AT.2", "iss": AT["okta"].issuer, "aud": API, "cid": "0oaNightly",
        "scp": ["releases"], "sub": "0oaNightly",
    },
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A token, and what is decided: kind, name, entitlements; or the fault."""

    what: str
    at: str
    base: str
    decided: tuple[Kind, str, list[str]] | Fault
    # None takes a claim out
    changed: dict[str, Any] = field(default_factory=dict)
    header: dict[str, Any] = field(default_factory=dict)

    def claims(self) -> dict[str, Any]:
        found = TIMES | BASE[self.base] | self.changed
        return {name: value for name, value in found.items() if value is not None}

    def top(self) -> dict[str, Any]:
        return HEADER[self.base.split()[0]] | self.header


_ADA = (PERSON, "ada", ["offline_access", "stewards", "uma_authorization"])
_NIGHTLY: tuple[Kind, str, list[str]] = (SERVICE, "nightly", [])
ROWS = [
    Row("a person", "keycloak", "keycloak person", _ADA),
    Row("in the profile of RFC 9068", "keycloak", "keycloak person", _ADA, header={"typ": "at+jwt"}),
    Row("roles of a client with dots", "keycloak client roles", "keycloak person", (PERSON, "ada", ["use"]),
        {"azp": "dpgate"}),
    Row("a person without roles", "keycloak", "keycloak person", (PERSON, "ada", []), {"realm_access": None}),
    Row("a service", "keycloak", "keycloak service", _NIGHTLY),
    Row("a service of an older version", "keycloak", "keycloak service", _NIGHTLY,
        {"client_id": None, "clientId": "nightly", "session_state": "2a"}),
    Row("a person through the client of a service", "keycloak", "keycloak person", _ADA, {"azp": "nightly"}),
    Row("a person who calls themselves like its account", "keycloak", "keycloak person",
        (PERSON, "service-account-nightly", _ADA[2]),
        {"azp": "nightly", "preferred_username": "service-account-nightly"}),
    Row("a person who is called like a service", "keycloak", "keycloak person",
        (PERSON, "nightly", _ADA[2]), {"sub": "nightly", "preferred_username": "nightly"}),
    Row("no audience mapper", "keycloak", "keycloak person", Fault.WRONG_AUDIENCE, {"aud": "account"}),
    Row("an ID token", "keycloak", "keycloak person", Fault.WRONG_KIND, {"typ": "ID", "nonce": "n"}),
    Row("a refresh token", "keycloak", "keycloak person", Fault.WRONG_KIND, {"typ": "Refresh"}),
    Row("the realm's old address", "keycloak", "keycloak person", Fault.WRONG_ISSUER,
        {"iss": "https://sso.example.org/auth/realms/heart"}),
    Row("a person, without an audience", "egi", "egi person", (PERSON, "", [GROUP])),
    Row("of another service of the federation", "egi", "egi person", Fault.WRONG_CLIENT,
        {"azp": "elsewhere"}),
    Row("a service", "egi", "egi service", _NIGHTLY),
    Row("a service's client without a sign of either", "egi", "egi service", Fault.SERVICE_OR_PERSON,
        {"clientId": None, "preferred_username": None}),
    Row("a person", "entra", "entra person", (PERSON, "ada@example.org", ["Steward"])),
    Row("a person without a role", "entra", "entra person", (PERSON, "ada@example.org", []), {"roles": None}),
    Row("in groups", "entra groups", "entra person", (PERSON, "ada@example.org", ["1111-22"]),
        {"groups": ["1111-22"]}),
    Row("in too many groups", "entra groups", "entra person", Fault.TOO_MANY_GROUPS,
        {"_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {"endpoint": "https://graph"}}}),
    Row("a service", "entra", "entra service", (SERVICE, "0a1b-nightly", [])),
    Row("a service that says so", "entra", "entra service", (SERVICE, "0a1b-nightly", []), {"idtyp": "app"}),
    Row("a person through the client of a service", "entra", "entra person",
        (PERSON, "ada@example.org", ["Steward"]), {"azp": "0a1b-nightly"}),
    Row("of another tenant", "entra", "entra person", Fault.WRONG_ISSUER,
        {"iss": "https://login.microsoftonline.com/9999/v2.0"}),
    Row("an ID token", "entra", "entra person", Fault.WRONG_KIND, {"scp": None, "azp": None, "azpacr": None}),
    Row("a person of version 1", "entra v1", "entra v1 person", (PERSON, "ada@example.org", ["Steward"])),
    Row("a service of version 1", "entra v1", "entra v1 service", (SERVICE, "0a1b-nightly", [])),
    Row("a person", "auth0", "auth0 person", (PERSON, "", ["steward"])),
    Row("permissions of the API", "auth0 permissions", "auth0 person", (PERSON, "", ["read:releases"])),
    Row("a service", "auth0", "auth0 service", (SERVICE, "nIghtly0", [])),
    Row("a service without scopes", "auth0", "auth0 service", (SERVICE, "nIghtly0", []), {"scope": None}),
    Row("a service in the profile of RFC 9068", "auth0", "auth0 service", (SERVICE, "nIghtly0", []),
        {"azp": None, "gty": None, "client_id": "nIghtly0", "sub": "nIghtly0"}, {"typ": "at+jwt"}),
    Row("the issuer without its last /", "auth0", "auth0 person", Fault.WRONG_ISSUER,
        {"iss": "https://heart.eu.auth0.com"}),
    Row("a person with a service's name behind a social login", "auth0", "auth0 person",
        (PERSON, "", ["steward"]), {"sub": "nIghtly0@clients"}),
    Row("a person", "okta", "okta person", (PERSON, "", ["Stewards"])),
    Row("a service", "okta", "okta service", (SERVICE, "0oaNightly", [])),
    Row("a service that nobody named", "okta", "okta service", (SERVICE, "0oaElse", []),
        {"cid": "0oaElse", "sub": "0oaElse"}),
    Row("a person with the login of a service's name", "okta", "okta person", (PERSON, "", ["Stewards"]),
        {"cid": "0oaNightly", "sub": "0oaNightly"}),
    Row("two clients in one token", "okta", "okta person", Fault.TWO_CLIENTS, {"client_id": "0oaElse"}),
]  # fmt: skip
