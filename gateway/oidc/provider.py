"""From an access token, or from a browser that comes back from the provider, to a user of this platform."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from domain.entitlement import MAX_HELD, SERVICE, is_usable
from domain.errors import Conflict, NotAllowed, NotReady
from domain.permissions import Role, User
from gateway.config import GatewaySettings
from gateway.oidc.claims import (
    Audience,
    Claims,
    check_access,
    check_for_us,
    check_issued,
    client_of,
    is_signed,
    open_signed,
    refused,
    subject_of,
)
from gateway.oidc.keys import Published
from gateway.oidc.wire import Wire
from store import identities
from store.database import Database
from store.identities import Word

# how long a decision about a token is good: what the provider takes back is gone after that
KEPT_S = 60
MOST_KEPT = 1000
# questions to the provider about tokens that it alone can read
MOST_ASKED_PER_S = 20
_NO_ROLE = (
    "authorization",
    "you are known, but nothing entitles you to a role here.",
    "Ask the operator.",
)


class Provider:
    """One provider. Thread-safe; every refusal is Unauthenticated or NotAllowed."""

    def __init__(
        self, settings: GatewaySettings, *, clock: Callable[[], float] = time.time, wire: Wire | None = None
    ) -> None:
        self.issuer = str(settings.oidc_issuer)
        self.client_id = settings.oidc_client_id
        self.wire = wire or Wire()
        self.published = Published(self.issuer, self.wire)
        self.clock = clock
        self._secret = _secret(settings)
        self._claim, self._roles = settings.oidc_claim, settings.oidc_roles
        self._counts_for = timedelta(days=settings.oidc_word_days)
        services = (name.removeprefix(SERVICE) for name in self._roles if name.startswith(SERVICE))
        clients = {settings.oidc_client_id, settings.oidc_cli_client_id, *services} - {None}
        name = settings.oidc_audience or settings.oidc_client_id or ""
        self._audience = Audience(name, frozenset(str(client) for client in clients))
        self._kept: OrderedDict[bytes, tuple[float, Word]] = OrderedDict()
        self._asked: tuple[int, int] = (0, 0)
        self._lock = threading.Lock()

    @classmethod
    def of(cls, settings: GatewaySettings) -> Provider | None:
        return None if settings.oidc_issuer is None else cls(settings)

    def user(self, database: Database, token: str) -> User:
        """The user behind an access token. Raises Unauthenticated, or NotAllowed for no role here."""
        key = hashlib.sha256(token.encode(errors="replace")).digest()
        kept = self._find_kept(key)
        if kept is not None and (user := self._standing(database, kept, fresh=False)) is not None:
            return user
        # nothing is gained by a word that was kept: the provider is asked again
        claims = self._claims(token)
        word = self.word(claims, token)
        self._keep(key, word, until=min(float(claims["exp"]), self.clock() + KEPT_S))
        return self.admit(database, word)

    def word(self, claims: Claims, token: str) -> Word:
        """Who it is and what they are entitled to. Asks for the claim that the token left out."""
        subject, now, said_at = subject_of(claims), self.clock(), claims.get("iat")
        if client_of(claims) == subject:
            role = self._roles.get(f"{SERVICE}{subject}")
            return self._word(subject, subject, frozenset(), role, heard_at=float(said_at or now))
        # what a token says is as old as the token; one that does not say how old it is does not count
        unsaid = self._claim not in claims or not said_at
        if unsaid and (address := self.published.find_address("userinfo_endpoint")):
            more = self.wire.get(address, bearer=token)
            if more.get("sub") != subject:
                raise refused("belongs to somebody else")
            claims, said_at = {**claims, **more}, now
        called, listed = claims.get("preferred_username"), claims.get(self._claim, [])
        claimed = listed if isinstance(listed, list) else [listed]
        entitled = frozenset([one for one in claimed if is_usable(one)][:MAX_HELD])
        role = next((role for name, role in self._roles.items() if name in entitled), None)
        called = called if isinstance(called, str) else ""
        return self._word(subject, called, entitled, role, heard_at=min(now, float(said_at or now)))

    def admit(self, database: Database, word: Word) -> User:
        """The user of an identity; the first login makes it, and each later one settles what they hold."""
        if (user := self._standing(database, word, fresh=True)) is not None:
            return user
        now = datetime.now(UTC)
        try:
            with database.transaction() as connection:
                user = identities.admit(connection, word, now)
        except Conflict:
            user = self._standing(database, word, fresh=True)
            if user is None:
                raise
        if user is None:
            raise NotAllowed(*_NO_ROLE)
        return user

    def ask(self, endpoint: str, form: Mapping[str, str]) -> dict[str, Any]:
        """A question that this platform's own client asks."""
        client = self.client_id or ""
        if self._secret is None:
            return self.wire.post(endpoint, {**form, "client_id": client}, auth=None)
        # RFC 6749 2.3.1: both are form-encoded before they go into the header
        return self.wire.post(endpoint, form, auth=(quote(client, safe=""), quote(self._secret, safe="")))

    def close(self) -> None:
        self.wire.close()

    def _claims(self, token: str) -> Claims:
        if is_signed(token):
            signed = open_signed(token, self.published.key)
            return check_access(signed, self._audience, issuer=self.issuer, now=self.clock())
        return self._introspected(token)

    def _introspected(self, token: str) -> Claims:
        """What the provider says of a token that only it can read (RFC 7662)."""
        if self._secret is None or self.client_id is None:
            raise refused("cannot be read")
        self._take_turn()
        address = self.published.address("introspection_endpoint")
        found = self.ask(address, {"token": token, "token_type_hint": "access_token"})
        if found.get("active") is not True:
            raise refused("is not valid")
        if str(found.get("token_type", "Bearer")).lower() not in ("bearer", "access_token"):
            raise refused("is no access token")
        claims = {"iss": self.issuer, "sub": client_of(found), **found}
        check_issued(claims, issuer=self.issuer, now=self.clock())
        check_for_us(claims, self._audience)
        # however old the token is, this was said now
        return {**claims, "iat": self.clock()}

    def _standing(self, database: Database, word: Word, *, fresh: bool) -> User | None:
        with database.reading() as connection:
            return identities.standing(connection, word, datetime.now(UTC), fresh=fresh)

    def _word(
        self, subject: str, called: str, entitled: frozenset[str], role: Role | None, *, heard_at: float
    ) -> Word:
        heard = datetime.fromtimestamp(heard_at, UTC)
        return Word(self.issuer, subject, called, entitled, role, heard, self._counts_for)

    def _take_turn(self) -> None:
        second = int(self.clock())
        with self._lock:
            asked = self._asked[1] + 1 if self._asked[0] == second else 1
            self._asked = (second, asked)
        if asked > MOST_ASKED_PER_S:
            raise refused("cannot be looked up right now")

    def _find_kept(self, key: bytes) -> Word | None:
        with self._lock:
            until, word = self._kept.get(key, (0.0, None))
            return word if self.clock() < until else None

    def _keep(self, key: bytes, word: Word, *, until: float) -> None:
        with self._lock:
            self._kept[key] = (until, word)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)


def _secret(settings: GatewaySettings) -> str | None:
    if settings.oidc_client_secret_file is None:
        return None
    try:
        return settings.oidc_client_secret_file.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        raise NotReady("the file of DPGATE_OIDC_CLIENT_SECRET_FILE cannot be read") from None
