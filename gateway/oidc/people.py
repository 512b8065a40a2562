"""Who a token speaks of: a person or a service, its name, its entitlements. Pure: claims in, a decision out.

The shapes are those of Keycloak, EGI Check-in, Microsoft Entra, Auth0 and Okta, as these document them: they
differ in where the client is named, in how a service's own token looks, and in where roles lie.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from domain.entitlement import MAX_HELD, is_usable
from domain.identity import Kind, Profile, legible
from gateway.oidc.faults import Fault, refused

Claims = Mapping[str, Any]
# RFC 9068; OpenID Connect and Keycloak; Okta; Entra's first version
CLIENT_CLAIMS = ("client_id", "azp", "cid", "appid")
# what only a login of a person leaves in a token: OpenID Connect Core 2, Keycloak, Okta
OF_A_LOGIN = ("auth_time", "sid", "session_state", "uid", "nonce")
# who acts for the subject (RFC 8693, 4.1)
ACTOR = "act"
_AFFILIATIONS = (
    "eduperson_scoped_affiliation",
    "voperson_external_affiliation",
    "eduperson_affiliation",
    "organization",
)


def client_of(claims: Claims) -> str | None:
    """The client that the token was given to. Raises Unauthenticated where the claims name two."""
    named = {claims[name] for name in CLIENT_CLAIMS if isinstance(claims.get(name), str)}
    if len(named) > 1:
        raise refused(Fault.TWO_CLIENTS)
    return next(iter(named), None)


def kind_of(claims: Claims, services: frozenset[str]) -> Kind:
    """A service is one of the operator's list whose own token this is.

    Raises Unauthenticated for a token of such a client that does not tell whether a person is behind it:
    nobody is taken for a service by a guess.
    """
    client = client_of(claims)
    if client is None or (client not in services and not _says_service(claims, client)):
        return Kind.PERSON
    if _says_service(claims, client):
        return Kind.SERVICE
    if any(name in claims for name in OF_A_LOGIN) or _is_delegated(claims) or ACTOR in claims:
        return Kind.PERSON
    raise refused(Fault.SERVICE_OR_PERSON)


def acting_client(claims: Claims, kind: Kind, known: frozenset[str]) -> str | None:
    """The service that acts for the person of a token (RFC 8693); None for a person by themself.

    It is the client that the token was given to, which no person can be, whatever their subject is called.
    Raises Unauthenticated where the provider names another actor, or several, or one whom the operator did
    not name.
    """
    client = client_of(claims)
    if client is None and known:
        # a service's token for a person would look like the person's own
        raise refused(Fault.NO_CLIENT)
    if ACTOR not in claims:
        if kind is Kind.PERSON and client not in known and _is_alike(client, known):
            raise refused(Fault.ACTING)  # by the word of either side it would be the person
        return client if kind is Kind.PERSON and client in known else None
    if kind is not Kind.PERSON or client not in known or not _is_actor(claims[ACTOR], client, claims):
        raise refused(Fault.ACTING)
    return client


def find_claim(claims: Claims, path: str) -> object:
    """The claim of this name, or at this dotted path (`realm_access.roles`); None where there is none.

    A name may hold dots itself (`https://dpgate.example.org/roles`): the whole is tried first.
    """
    if path in claims:
        return claims[path]
    for head, tail in _splits(path):
        within = claims.get(head)
        if isinstance(within, Mapping) and (found := find_claim(within, tail)) is not None:
            return found
    return None


def entitled_to(claims: Claims, path: str) -> frozenset[str]:
    """The usable entries of the claim. Raises Unauthenticated where the provider left out too many."""
    found = find_claim(claims, path)
    if found is None and _points_elsewhere(claims, path):
        raise refused(Fault.TOO_MANY_GROUPS)
    listed: list[Any] = found if isinstance(found, list) else [found]
    return frozenset([str(one) for one in listed if is_usable(one)][:MAX_HELD])


def called(claims: Claims, kind: Kind) -> str:
    """What to make a user name from."""
    if kind is Kind.SERVICE:
        return client_of(claims) or ""
    for name in ("preferred_username", "nickname", "upn", "unique_name"):
        if isinstance(claims.get(name), str) and claims[name]:
            return str(claims[name])
    return ""


def profile_of(claims: Claims) -> Profile:
    """For people who look at a page: as the provider said it, at most one line each."""
    parts = [legible(claims.get(name)) for name in ("given_name", "family_name")]
    name = legible(claims.get("name")) or legible(" ".join(part for part in parts if part))
    email = legible(claims.get("email"))
    if email and claims.get("email_verified") is False:
        email = f"{email} (not verified)"
    found = next((claims[name] for name in _AFFILIATIONS if claims.get(name)), None)
    listed = found if isinstance(found, list) else [found]
    affiliation = legible(", ".join(one for one in listed if isinstance(one, str)))
    return Profile(name, affiliation, email)


def _says_service(claims: Claims, client: str) -> bool:
    """Does the provider itself say that nobody but the client is behind this token?"""
    if claims.get("gty") == "client-credentials":  # Auth0
        return claims.get("sub") == f"{client}@clients"
    if claims.get("idtyp") == "app":  # Entra, where the optional claim is on
        return "scp" not in claims
    if isinstance(claims.get("appid"), str) or "azpacr" in claims:  # Entra without it: its own object's name
        return (
            "scp" not in claims and claims.get("oid") is not None and claims.get("oid") == claims.get("sub")
        )
    if client in (claims.get("clientId"), claims.get("client_id")):  # Keycloak, old and new
        own = f"service-account-{client}".lower()
        if str(claims.get("preferred_username", "")).lower() == own:
            return True
    # RFC 9068, 3: the subject of client credentials is the client; a person may have that name too
    return claims.get("sub") == client and not any(name in claims for name in OF_A_LOGIN)


def _is_delegated(claims: Claims) -> bool:
    """Entra: a person let a client act for them."""
    return "scp" in claims and "oid" in claims


def _is_alike(client: str | None, known: frozenset[str]) -> bool:
    """Of the same letters, but for their case and the space around them."""
    return client is not None and client.strip().casefold() in {one.strip().casefold() for one in known}


def _is_actor(said: object, client: str | None, claims: Claims) -> bool:
    """The client itself, at this provider, and behind it nobody else."""
    if (
        not isinstance(said, Mapping)
        or ACTOR in said
        or said.get("iss", claims.get("iss")) != claims.get("iss")
    ):
        return False
    return client in [said.get(name) for name in ("sub", "client_id", "azp")]


def _splits(path: str) -> Iterator[tuple[str, str]]:
    """From the longest head to the shortest."""
    for place in reversed([index for index, letter in enumerate(path) if letter == "."]):
        yield path[:place], path[place + 1 :]


def _points_elsewhere(claims: Claims, path: str) -> bool:
    """Entra sends a pointer instead of more than 200 groups (OpenID Connect Core 5.6.2)."""
    names = claims.get("_claim_names")
    return (isinstance(names, Mapping) and path in names) or (
        path == "groups" and claims.get("hasgroups") is True
    )
