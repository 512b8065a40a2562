"""What an operator can find out of a provider, and what would be decided on a token: nothing is changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from pydantic import StringConstraints

from domain.entitlement import SERVICE
from domain.errors import NotAllowed, RequestError, Unauthenticated
from domain.identity import Kind
from domain.model import Model
from domain.permissions import Role
from gateway.oidc.claims import LEEWAY_S, MAX_TOKEN
from gateway.oidc.faults import Fault
from gateway.oidc.provider import Provider
from gateway.oidc.providers import Providers, said_issuer
from store import identities
from store.database import Database
from store.identities import Word

MADE_UP_CODE = "made-up-by-dpgate-oidc-check"
MOST_SHOWN = 20


@dataclass(frozen=True)
class Found:
    """One thing: `well` is None where it cannot be told."""

    what: str
    well: bool | None
    says: str


class PastedToken(Model):
    """An access token. It is looked at and kept nowhere; it works on: let it be a short-lived one."""

    token: Annotated[str, StringConstraints(min_length=1, max_length=MAX_TOKEN)]


def look(provider: Provider) -> list[Found]:
    """Asks the provider now: its document, keys, clock, and whether it takes our client and secret."""
    try:
        provider.published.renew()
        keys = provider.published.key_count()
    except Unauthenticated as error:
        return [Found("discovery", False, _sentence(error))]
    return [
        Found("discovery", True, f"it names itself {provider.issuer}."),
        Found("keys", keys > 0, f"{keys} that can sign with RS256 or ES256."),
        _clock(provider),
        _secret(provider),
        *_promises(provider),
    ]


def decide(providers: Providers, database: Database, token: str) -> list[Found]:
    """Step by step what would be decided on an access token, up to the first refusal. It is kept nowhere."""
    steps: list[Found] = []
    try:
        provider = providers.of_token(token)
        steps.append(Found("provider", True, f"{provider.name}, {provider.issuer}."))
        claims = provider.claims_of(token)
        steps.append(Found("token", True, "signature, kind, times and audience hold."))
        word = provider.word(claims, token)
        steps += _of_word(word)
        if word.through is None:
            steps.append(_user(database, word))
        else:
            steps.append(Found("by", None, f"{word.through!a} acts for them."))
            user = provider.acted_for(database, word)
            steps.append(Found("here", True, f"role {_said(user.role)}, user {user.name}."))
    except (Unauthenticated, NotAllowed) as error:
        steps.append(Found("refused", False, _sentence(error) + _hint(providers, token, error)))
    return steps


def _clock(provider: Provider) -> Found:
    said = provider.wire.said_time
    if said is None:
        return Found("clock", None, "its answers carry no time.")
    ahead = round(said - provider.clock())
    return Found(
        "clock", abs(ahead) < LEEWAY_S, f"{ahead} seconds ahead of this host; {LEEWAY_S} are forgiven."
    )


def _secret(provider: Provider) -> Found:
    """A code that nobody gave out: who is refused for the code was taken for the client (RFC 6749, 5.2)."""
    if provider.client_id is None:
        return Found("client", None, "no client is set: nobody logs in with a browser here.")
    form = {
        "grant_type": "authorization_code",
        "code": MADE_UP_CODE,
        "redirect_uri": "https://localhost/none",
        "code_verifier": MADE_UP_CODE * 2,
    }
    try:
        provider.ask(provider.published.address("token_endpoint"), form)
    except Unauthenticated as error:
        if error.reason == Fault.CODE_USED:
            return Found("client", True, "the provider takes client and secret.")
        return Found("client", False if error.reason == Fault.CLIENT_SECRET else None, _sentence(error))
    return Found("client", False, "the provider took a made-up code: do not use it.")


def _promises(provider: Provider) -> list[Found]:
    named = provider.published.promises("authorization_response_iss_parameter_supported")
    ends = provider.published.promises("backchannel_logout_supported")
    leaves = provider.published.find_address("end_session_endpoint") is not None
    return [
        Found(
            "names itself in answers",
            named or None,
            "it promises to." if named else "it does not promise to.",
        ),
        Found(
            "tells of logouts",
            ends or None,
            "it can; register the address." if ends else "it does not: leavers are out when its word ends.",
        ),
        Found(
            "logout there", leaves or None, "it has an address for it." if leaves else "it has no address."
        ),
    ]


def _of_word(word: Word) -> list[Found]:
    shown = ", ".join(sorted(word.entitled)[:MOST_SHOWN]) or "nothing"
    who = Found("who", True, f"a {word.kind}, {word.subject!a}, called {word.called!a}.")
    if word.kind is Kind.SERVICE:
        return [who, Found("entitled", None, f"by its client alone, {SERVICE}{word.called}.")]
    said = "the claim is there" if word.said_any else "the claim is missing, in the token and at userinfo"
    return [who, Found("entitled", word.said_any, f"{said}: {shown}.")]


def _user(database: Database, word: Word) -> Found:
    with database.reading() as connection:
        role, name = identities.would_have(connection, word, datetime.now(UTC))
    if role is None:
        return Found("here", False, "nothing gives a role: they would be turned away.")
    return Found("here", True, f"role {_said(role)}, {f'user {name}' if name else 'a new user'}.")


def _said(role: Role) -> str:
    return role.replace("_", " ")


def _sentence(error: RequestError) -> str:
    return f"{error.problems[0].problem} {error.problems[0].fix}".strip()


def _hint(providers: Providers, token: str, error: RequestError) -> str:
    """By whom it says it is, where that is the matter. Only to the operator, who holds the token."""
    if (
        error.reason not in (Fault.WRONG_ISSUER, Fault.UNKNOWN_KEY, Fault.BAD_SIGNATURE)
        or token.count(".") != 2
    ):
        return ""
    known = ", ".join(one.issuer for one in providers)
    return f" It says it is of {said_issuer(token)!a}; known here: {known}."
