"""A login in a browser: the authorization code flow with PKCE (RFC 7636, S256), state and nonce."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from urllib.parse import urlencode

from domain.errors import Unauthenticated
from gateway.oidc.claims import check_identity, open_signed, refused
from gateway.oidc.provider import Provider
from store.identities import Word

_NOT_BEGUN = ("login", "was not begun in this browser, or it took too long.", "Log in again.")
_DECLINED = ("login", "was not completed at the identity provider.", "Log in again.")


@dataclass(frozen=True)
class Attempt:
    """A login that began here. It lies in a cookie of the browser until the provider sends it back."""

    state: str
    nonce: str
    verifier: str
    next: str

    @classmethod
    def new(cls, target: str) -> Attempt:
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        return cls(state, nonce, verifier, target)

    @classmethod
    def read(cls, cookie: str) -> Attempt | None:
        """None for anything that `written` did not make."""
        try:
            found = json.loads(base64.urlsafe_b64decode(cookie.encode()))
        except (ValueError, RecursionError):
            return None
        names = {field.name for field in fields(cls)}
        if not isinstance(found, dict) or set(found) != names:
            return None
        return cls(**found) if all(isinstance(value, str) for value in found.values()) else None

    def written(self) -> str:
        return base64.urlsafe_b64encode(json.dumps(asdict(self)).encode()).decode()


def address_for(provider: Provider, attempt: Attempt, *, back: str, scope: str) -> str:
    """Where to send the browser."""
    challenge = hashlib.sha256(attempt.verifier.encode()).digest()
    asked = {
        "response_type": "code",
        "client_id": provider.client_id or "",
        "redirect_uri": back,
        "scope": scope,
        "state": attempt.state,
        "nonce": attempt.nonce,
        "code_challenge": base64.urlsafe_b64encode(challenge).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    address = provider.published.address("authorization_endpoint")
    return f"{address}{'&' if '?' in address else '?'}{urlencode(asked)}"


def finish(provider: Provider, attempt: Attempt | None, came: Mapping[str, str], *, back: str) -> Word:
    """Who came back, and what they are entitled to. Raises Unauthenticated."""
    if attempt is None or not hmac.compare_digest(attempt.state.encode(), came.get("state", "").encode()):
        raise Unauthenticated(*_NOT_BEGUN)
    # RFC 9207: a code of another provider must not be sent to this one
    if came.get("iss", provider.issuer) != provider.issuer:
        raise Unauthenticated(*_NOT_BEGUN)
    code = came.get("code")
    if "error" in came or not code:
        # its description is not shown: anybody can write that address
        raise Unauthenticated(*_DECLINED)
    answer = provider.ask(
        provider.published.address("token_endpoint"),
        {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": back,
            "code_verifier": attempt.verifier,
        },
    )
    identity_token, access_token = answer.get("id_token"), answer.get("access_token")
    if not isinstance(identity_token, str) or not isinstance(access_token, str):
        raise refused("is missing from the provider's answer")
    claims = check_identity(
        open_signed(identity_token, provider.published.key),
        client=provider.client_id or "",
        nonce=attempt.nonce,
        issuer=provider.issuer,
        now=provider.clock(),
    )
    return provider.word(claims, access_token)
