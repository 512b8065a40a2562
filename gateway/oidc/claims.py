"""What a token says, and whether it says it to us. Pure: claims in, claims out, or Unauthenticated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError

from domain.errors import Unauthenticated
from gateway.oidc.keys import KEY_TYPES, Key

LEEWAY_S = 30
MAX_TOKEN = 16 * 1024
MAX_SUBJECT = 255
ACCESS_TYPES = {"at+jwt", "application/at+jwt"}
# what only an ID token or a logout token carries
NOT_OF_ACCESS = {"nonce", "at_hash", "c_hash", "s_hash", "events"}
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
        raise refused("is too long")

    def key(guest: Any) -> Key:
        header = guest.headers()
        algorithm, kid = header.get("alg"), header.get("kid")
        # the list is ours, never the token's: `none` and shared secrets are not on it
        if algorithm not in KEY_TYPES or not (kid is None or isinstance(kid, str)):
            raise refused("is not signed with RS256 or ES256")
        return find_key(kid, algorithm)

    try:
        opened = jwt.decode(token, key, algorithms=list(KEY_TYPES))
    except (JoseError, ValueError, TypeError, KeyError, RecursionError):
        raise refused("has no valid signature") from None
    return Signed(opened.header, opened.claims)


def check_access(signed: Signed, audience: Audience, *, issuer: str, now: float) -> Claims:
    """A JWT access token for us. Raises Unauthenticated."""
    kind = str(signed.header.get("typ", "JWT"))
    if kind.lower() not in ACCESS_TYPES:
        shaped = "scope" in signed.claims or "scp" in signed.claims or signed.claims.get("typ") == "Bearer"
        if kind != "JWT" or NOT_OF_ACCESS & set(signed.claims) or not shaped:
            raise refused("is no access token")
        if signed.claims.get("typ", "Bearer") != "Bearer":
            raise refused("is no access token")
    check_issued(signed.claims, issuer=issuer, now=now)
    check_for_us(signed.claims, audience)
    return signed.claims


def check_identity(signed: Signed, *, client: str, nonce: str, issuer: str, now: float) -> Claims:
    """The ID token of a browser login that we began. Raises Unauthenticated."""
    claims = signed.claims
    check_issued(claims, issuer=issuer, now=now)
    for_whom = _audience_of(claims)
    if client not in for_whom or claims.get("azp", client) != client:
        raise refused("was made for another client")
    if len(for_whom) > 1 and claims.get("azp") != client:
        raise refused("was made for several clients")
    if claims.get("nonce") != nonce:
        raise refused("belongs to another login")
    return claims


def check_issued(claims: Claims, *, issuer: str, now: float) -> None:
    """By the provider, to somebody, and for now."""
    if claims.get("iss") != issuer:
        raise refused("is from another provider")
    expires, starts = _instant(claims, "exp"), _instant(claims, "nbf", default=0.0)
    if now >= expires + LEEWAY_S:
        raise refused("has expired")
    if now < starts - LEEWAY_S or now < _instant(claims, "iat", default=0.0) - LEEWAY_S:
        raise refused("is not valid yet")
    subject_of(claims)


def check_for_us(claims: Claims, audience: Audience) -> None:
    """By its audience; a provider that states none must name one of our clients."""
    for_whom = _audience_of(claims)
    if for_whom:
        if audience.name not in for_whom:
            raise refused("is for another platform")
    elif client_of(claims) not in audience.clients:
        raise refused("was given to another client")


def subject_of(claims: Claims) -> str:
    """Who it is, at the provider."""
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= MAX_SUBJECT or not subject.isprintable():
        raise refused("names nobody")
    return subject


def client_of(claims: Claims) -> str | None:
    found = claims.get("client_id", claims.get("azp"))
    return found if isinstance(found, str) else None


def refused(why: str) -> Unauthenticated:
    return Unauthenticated("authorization", f"the token {why}.", "Log in again.")


def _audience_of(claims: Claims) -> list[str]:
    found = claims.get("aud", [])
    listed = [found] if isinstance(found, str) else found
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise refused("has no readable audience")
    return listed


def _instant(claims: Claims, name: str, *, default: float | None = None) -> float:
    found = claims.get(name, default)
    if isinstance(found, bool) or not isinstance(found, int | float) or found != found:
        raise refused(f"has no readable {name}")
    return float(found)
