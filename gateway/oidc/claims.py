"""What a token says, and whether it says it to us. Pure: claims in, claims out, or Unauthenticated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError

from gateway.oidc.faults import Fault, refused
from gateway.oidc.keys import KEY_TYPES, Key
from gateway.oidc.people import ACTOR, client_of
from gateway.oidc.wire import check_letters

LEEWAY_S = 30
MAX_TOKEN = 16 * 1024
MAX_SUBJECT = 255
# the last second of the year 9999: what lies beyond is no time that a calendar has
LAST_S = 253_402_300_799
ACCESS_TYPES = {"at+jwt", "application/at+jwt"}
# what only an ID token or a logout token carries
NOT_OF_ACCESS = {"nonce", "at_hash", "c_hash", "s_hash", "events"}
# what only an access token carries: RFC 6749; Okta and Entra for people; Entra's for services, which have no
# scope; Auth0's for services that were given none
OF_ACCESS = {"scope", "scp", "azpacr", "appidacr", "gty"}
LOGOUT_TYPES = {"logout+jwt", "application/logout+jwt", "jwt"}
# how long a logout token may be on its way
LOGOUT_LASTS_S = 300
LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
Claims = Mapping[str, Any]
FindKey = Callable[[str | None, str], Key]


@dataclass(frozen=True)
class Signed:
    """A token whose signature holds."""

    header: Claims
    claims: Claims


@dataclass(frozen=True)
class Audience:
    """Who we are in tokens: the name of this platform, and the clients whose tokens are for it."""

    name: str
    clients: frozenset[str]


def is_signed(token: str) -> bool:
    """A JWT, rather than a token that only its maker can read."""
    return token.startswith("eyJ") and token.count(".") == 2


def open_signed(token: str, find_key: FindKey) -> Signed:
    """Header and claims of a JWT signed by the provider. Raises Unauthenticated."""
    if len(token) > MAX_TOKEN:
        raise refused(Fault.TOO_LONG)

    def key(guest: Any) -> Key:
        header = guest.headers()
        algorithm, kid = header.get("alg"), header.get("kid")
        # the list is ours, never the token's: `none` and shared secrets are not on it
        if algorithm not in KEY_TYPES or not (kid is None or isinstance(kid, str)):
            raise refused(Fault.UNSIGNED)
        return find_key(kid, algorithm)

    try:
        opened = jwt.decode(token, key, algorithms=list(KEY_TYPES))
    except (JoseError, ValueError, TypeError, KeyError, RecursionError):
        raise refused(Fault.BAD_SIGNATURE) from None
    try:
        check_letters(opened.claims)
    except ValueError:
        raise refused(Fault.UNREADABLE) from None
    return Signed(opened.header, opened.claims)


def check_access(signed: Signed, audience: Audience, *, issuer: str, now: float) -> Claims:
    """A JWT access token for us. Raises Unauthenticated."""
    kind = str(signed.header.get("typ", "JWT"))
    if kind.lower() not in ACCESS_TYPES:
        shaped = bool(OF_ACCESS & set(signed.claims)) or signed.claims.get("typ") == "Bearer"
        if kind != "JWT" or NOT_OF_ACCESS & set(signed.claims) or not shaped:
            raise refused(Fault.WRONG_KIND)
        if signed.claims.get("typ", "Bearer") != "Bearer":
            raise refused(Fault.WRONG_KIND)
    check_issued(signed.claims, issuer=issuer, now=now)
    check_says_age(signed.claims)
    check_for_us(signed.claims, audience)
    return signed.claims


def check_identity(signed: Signed, *, client: str, nonce: str, issuer: str, now: float) -> Claims:
    """The ID token of a browser login that we began. Raises Unauthenticated."""
    claims = signed.claims
    check_issued(claims, issuer=issuer, now=now)
    check_says_age(claims)
    for_whom = _audience_of(claims)
    if client not in for_whom or claims.get("azp", client) != client:
        raise refused(Fault.WRONG_CLIENT)
    if len(for_whom) > 1 and claims.get("azp") != client:
        raise refused(Fault.SEVERAL_CLIENTS)
    if claims.get("nonce") != nonce:
        raise refused(Fault.OTHER_LOGIN)
    if ACTOR in claims:
        raise refused(Fault.ACTING)
    return claims


def check_issued(claims: Claims, *, issuer: str, now: float) -> None:
    """By the provider, to somebody, and for now."""
    _check_times(claims, issuer=issuer, now=now)
    subject_of(claims)


def check_says_age(claims: Claims) -> None:
    """RFC 9068, 2.2: of a token that does not say when it was made, nobody can tell whether it is from before
    its person left."""
    if not claims.get("iat"):
        raise refused(Fault.UNREADABLE_TIME)


def _check_times(claims: Claims, *, issuer: str, now: float) -> None:
    if claims.get("iss") != issuer:
        raise refused(Fault.WRONG_ISSUER)
    expires, starts = _instant(claims, "exp"), _instant(claims, "nbf", default=0.0)
    if now >= expires + LEEWAY_S:
        raise refused(Fault.EXPIRED)
    if now < starts - LEEWAY_S or now < _instant(claims, "iat", default=0.0) - LEEWAY_S:
        raise refused(Fault.NOT_YET)


def check_for_us(claims: Claims, audience: Audience) -> None:
    """By its audience; a provider that states none must name one of our clients."""
    for_whom = _audience_of(claims)
    if for_whom:
        if audience.name not in for_whom:
            raise refused(Fault.WRONG_AUDIENCE)
    elif client_of(claims) not in audience.clients:
        raise refused(Fault.WRONG_CLIENT)


def check_logout(signed: Signed, *, client: str, issuer: str, now: float) -> Claims:
    """A logout token (OpenID Connect Back-Channel Logout 1.0, 2.4 and 2.6): the provider ends a login.

    Raises Unauthenticated. A token of another kind is none, whoever signed it.
    """
    claims = signed.claims
    events = claims.get("events")
    is_one = isinstance(events, Mapping) and isinstance(events.get(LOGOUT_EVENT), Mapping)
    if str(signed.header.get("typ", "JWT")).lower() not in LOGOUT_TYPES or not is_one or "nonce" in claims:
        raise refused(Fault.WRONG_KIND)
    names_one = any(isinstance(claims.get(name), str) and claims[name] for name in ("sub", "sid"))
    if not names_one or not isinstance(claims.get("jti"), str):
        raise refused(Fault.NO_SUBJECT)
    # the older drafts had no `exp`: then it is as old as `iat` says
    issued = _instant(claims, "iat")
    _check_times({"exp": issued + LOGOUT_LASTS_S, **claims}, issuer=issuer, now=now)
    if now > issued + LOGOUT_LASTS_S + LEEWAY_S:
        raise refused(Fault.EXPIRED)
    if client not in _audience_of(claims):
        raise refused(Fault.WRONG_CLIENT)
    return claims


def subject_of(claims: Claims) -> str:
    """Who it is, at the provider."""
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= MAX_SUBJECT or not subject.isprintable():
        raise refused(Fault.NO_SUBJECT)
    return subject


def _audience_of(claims: Claims) -> list[str]:
    found = claims.get("aud", [])
    listed = [found] if isinstance(found, str) else found
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise refused(Fault.UNREADABLE_AUDIENCE)
    return listed


def _instant(claims: Claims, name: str, *, default: float | None = None) -> float:
    found = claims.get(name, default)
    # also what is no number at all, and what a calendar could not show
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found <= LAST_S:
        raise refused(Fault.UNREADABLE_TIME)
    return float(found)
