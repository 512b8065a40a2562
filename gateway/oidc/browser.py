"""A login in a browser: the authorization code flow with PKCE (RFC 7636, S256), state and nonce."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from urllib.parse import urlencode

from domain.errors import Unauthenticated
from gateway.oidc.claims import LAST_S, MAX_SUBJECT, Claims, check_identity, open_signed
from gateway.oidc.faults import OAUTH_ERRORS, Fault, refused
from gateway.oidc.provider import Provider
from store.identities import Word
from store.sessions import Shown
from store.vouching import login_key

log = logging.getLogger(__name__)
# what the provider says of a login that it did not complete (OpenID Connect Core 3.1.2.6, RFC 6749 4.1.2.1)
_MEANT = {
    "access_denied": Fault.DECLINED,
    "server_error": Fault.DOWN,
    "temporarily_unavailable": Fault.DOWN,
}
_OUR_FAULT = {"invalid_request", "invalid_scope", "unauthorized_client", "unsupported_response_type"}


@dataclass(frozen=True)
class Attempt:
    """A login that began here. It lies in a cookie of its own until the provider sends the browser back: two
    logins in two tabs do not end each other."""

    provider: str
    state: str
    nonce: str
    verifier: str
    next: str

    @classmethod
    def new(cls, provider: str, target: str) -> Attempt:
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        return cls(provider, state, nonce, verifier, target)

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


def address_for(
    provider: Provider, attempt: Attempt, *, back: str, fresh: Sequence[str] | None = None
) -> str:
    """Where to send the browser; with `fresh` for a login anew, by one of these `acr` if there are any."""
    challenge = hashlib.sha256(attempt.verifier.encode()).digest()
    asked = {
        "response_type": "code",
        "client_id": provider.client_id or "",
        "redirect_uri": back,
        "scope": provider.settings.scope,
        "state": attempt.state,
        "nonce": attempt.nonce,
        "code_challenge": base64.urlsafe_b64encode(challenge).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    if fresh is not None:
        # with `max_age` the ID token has to say when the person showed who they are (Core 3.1.2.1)
        asked |= {"prompt": "login", "max_age": "0"} | ({"acr_values": " ".join(fresh)} if fresh else {})
    address = provider.published.address("authorization_endpoint")
    return f"{address}{'&' if '?' in address else '?'}{urlencode(asked)}"


@dataclass(frozen=True)
class Arrival:
    """Who came back, and what the provider says of this very login."""

    word: Word
    shown: Shown


def finish(provider: Provider, attempt: Attempt | None, came: Mapping[str, str], *, back: str) -> Arrival:
    """Who came back, and what they are entitled to. Raises Unauthenticated."""
    if attempt is None or not hmac.compare_digest(attempt.state.encode(), came.get("state", "").encode()):
        raise refused(Fault.NOT_BEGUN)
    _check_issuer(provider, came)
    code = came.get("code")
    if "error" in came or not code:
        raise _declined(came.get("error", ""))
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
        raise refused(Fault.NO_TOKENS)
    claims = check_identity(
        open_signed(identity_token, provider.published.key),
        client=provider.client_id or "",
        nonce=attempt.nonce,
        issuer=provider.issuer,
        now=provider.clock(),
    )
    word = provider.word_on_person(claims, access_token, said_at=claims["iat"])
    return Arrival(word, _shown(word, claims))


def _check_issuer(provider: Provider, came: Mapping[str, str]) -> None:
    """RFC 9207, 2.4: a code of another provider must not be sent to this one. Raises Unauthenticated."""
    if "iss" not in came:
        if provider.published.promises("authorization_response_iss_parameter_supported"):
            raise refused(Fault.NO_ISSUER)
    elif came["iss"] != provider.issuer:
        raise refused(Fault.OTHER_ISSUER)


def _declined(error: str) -> Unauthenticated:
    """Only the code, where it is one of OAuth's: anybody can write the address that the browser came to."""
    known = error if error in OAUTH_ERRORS else "no code of OAuth"
    log.warning("a login came back without a code: %s", known)
    return refused(Fault.REFUSED if error in _OUR_FAULT else _MEANT.get(error, Fault.DECLINED))


def _shown(word: Word, claims: Claims) -> Shown:
    login = None if word.login is None else login_key(word.issuer, word.login)
    acr, at = claims.get("acr"), claims.get("auth_time")
    is_time = isinstance(at, int) and not isinstance(at, bool) and 0 <= at <= LAST_S
    return Shown(
        login=login,
        acr=acr if isinstance(acr, str) and 0 < len(acr) <= MAX_SUBJECT else None,
        at=datetime.fromtimestamp(at, UTC) if isinstance(at, int) and is_time else None,
    )
