"""Log in with the account of one's organisation, from a terminal: the device flow (RFC 8628).

The person confirms a short code in any browser. What the provider then gives us is exchanged at once for a
token of the platform, which is all that stays on this machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from dpgate.errors import DpgateError, NotLoggedIn, PlatformUnreachable

DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
LONGEST_S = 900
PAUSE_S = 5.0
"""Between two polls, where the provider names none; so much longer after each slow_down."""
SLOWEST_S = 120.0
LOOPBACK = {"127.0.0.1", "localhost", "::1"}
LONGEST_SHOWN = 500


OAUTH_ERRORS = {
    "invalid_client",
    "invalid_grant",
    "invalid_request",
    "invalid_scope",
    "unauthorized_client",
    "unsupported_grant_type",
}


class _NotReached(PlatformUnreachable):
    """Nothing answered, this time."""


@dataclass(frozen=True)
class Confirmation:
    """What to tell the person: the page, and the code to type there."""

    address: str
    code: str


def access_token(
    ways_in: dict[str, Any],
    *,
    tell: Callable[[Confirmation], None],
    wait: Callable[[float], None] = time.sleep,
    provider: str | None = None,
) -> str:
    """An access token for the platform whose `GET /login` answered `ways_in`, from its first provider or the
    one of that name. Raises DpgateError."""
    chosen = ways_in.get("oidc") if provider is None else (ways_in.get("others") or {}).get(provider)
    if provider is not None and chosen is None:
        known = ", ".join(sorted(ways_in.get("others") or {})) or "none"
        raise DpgateError(f"this platform has no further provider {provider[:63]!a}; it has: {known}")
    return _logged_in(chosen or {}, tell, wait)


def _logged_in(
    provider: dict[str, Any], tell: Callable[[Confirmation], None], wait: Callable[[float], None]
) -> str:
    issuer, client = provider.get("issuer"), provider.get("client_id")
    if not issuer or not client:
        raise DpgateError("this platform has no login from a terminal; ask its operator for a token")
    with httpx.Client(timeout=30, follow_redirects=False) as http:
        known = _answer(http, "GET", f"{str(issuer).rstrip('/')}/.well-known/openid-configuration")
        if known.get("issuer") != issuer:
            raise DpgateError("the identity provider names itself otherwise; nothing was sent to it")
        started = _answer(
            http,
            "POST",
            _address(known, "device_authorization_endpoint"),
            data={"client_id": client, "scope": provider.get("scope", "openid")},
        )
        tell(Confirmation(_shown(started), str(started["user_code"])))
        return _poll(http, _address(known, "token_endpoint"), client, started, wait)


def _poll(
    http: httpx.Client, address: str, client: str, started: dict[str, Any], wait: Callable[[float], None]
) -> str:
    pause, spent = max(1.0, _seconds(started, "interval", PAUSE_S)), 0.0
    longest = _seconds(started, "expires_in", LONGEST_S)
    form = {"grant_type": DEVICE_GRANT, "device_code": str(started["device_code"]), "client_id": client}
    while spent + pause <= longest:
        wait(pause)
        spent += pause
        try:
            answer = _answer(http, "POST", address, data=form, expected=(200, 400, 401))
        except _NotReached:
            # a connection that failed says nothing about the code: ask again, and less often (section 3.5)
            pause = min(2 * pause, SLOWEST_S)
            continue
        if token := answer.get("access_token"):
            return str(token)
        match answer.get("error"):
            case "authorization_pending":
                continue
            case "slow_down":
                pause = min(pause + PAUSE_S, SLOWEST_S)
            case "access_denied":
                raise NotLoggedIn("the login was declined at the identity provider")
            case "expired_token":
                break
            case problem:
                # its own text goes to a terminal
                known = problem if str(problem) in OAUTH_ERRORS else "an unknown problem"
                raise DpgateError(f"the identity provider refuses this program ({known}); tell its operator")
    raise NotLoggedIn("the code was not confirmed in time; run the command again")


def _seconds(started: dict[str, Any], name: str, usual: float) -> float:
    """A positive time of at most LONGEST_S; what is none is answered by the usual one."""
    given = started.get(name)
    if isinstance(given, bool) or not isinstance(given, int | float) or not given > 0:
        return usual
    return float(min(given, LONGEST_S))


def _answer(
    http: httpx.Client, method: str, url: str, *, expected: tuple[int, ...] = (200,), **request: Any
) -> dict[str, Any]:
    _check_secret(url)
    try:
        answer = http.request(method, url, **request)
        found = answer.json() if answer.status_code in expected else None
    except httpx.RequestError:
        raise _NotReached(f"no identity provider answers at {url}") from None
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise PlatformUnreachable(f"the identity provider does not answer as it should at {url}")
    return found


def _check_secret(url: str) -> None:
    """Raises DpgateError for an address to which a code would travel in the clear."""
    try:
        asked = httpx.URL(url)
    except httpx.InvalidURL:
        raise DpgateError("the identity provider names something that is no address") from None
    if asked.scheme != "https" and not (asked.scheme == "http" and asked.host in LOOPBACK):
        raise DpgateError(f"{url} is not https; nothing was sent to it")


def _address(known: dict[str, Any], name: str) -> str:
    if name not in known:
        raise DpgateError("the identity provider has no device flow; ask the operator for a token")
    return str(known[name])


def _shown(started: dict[str, Any]) -> str:
    if not {"device_code", "user_code", "verification_uri"} <= set(started):
        raise PlatformUnreachable("the identity provider began no login")
    shown = str(started.get("verification_uri_complete") or started["verification_uri"])
    if not _is_legible(shown) or not shown.startswith(("https://", "http://")):
        raise PlatformUnreachable("the identity provider names a page that is none")
    if not _is_legible(str(started["user_code"])):
        raise PlatformUnreachable("the identity provider shows a code that nobody can type")
    return shown


def _is_legible(text: str) -> bool:
    # a control character could rewrite what the terminal shows
    return 0 < len(text) <= LONGEST_SHOWN and text.isprintable()
