"""From an access token, or from a browser that comes back from the provider, to a user of this platform."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

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

# how long a decision about a token is good: what the provider takes back is gone after that
KEPT_S = 60
MOST_KEPT = 1000
# questions to the provider about tokens that it alone can read
MOST_ASKED_PER_S = 20
CLIENT = "client:"


@dataclass(frozen=True)
class Identity:
    """Somebody at the provider, what they are called there, and what that makes them here."""

    subject: str
    called: str
    role: Role


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
        services = (name.removeprefix(CLIENT) for name in self._roles if name.startswith(CLIENT))
        clients = {settings.oidc_client_id, settings.oidc_cli_client_id, *services} - {None}
        name = settings.oidc_audience or settings.oidc_client_id or ""
        self._audience = Audience(name, frozenset(str(client) for client in clients))
        self._kept: OrderedDict[bytes, tuple[float, Identity]] = OrderedDict()
        self._asked: tuple[int, int] = (0, 0)
        self._lock = threading.Lock()

    @classmethod
    def of(cls, settings: GatewaySettings) -> Provider | None:
        return None if settings.oidc_issuer is None else cls(settings)

    def user(self, database: Database, token: str) -> User:
        """The user behind an access token. Raises Unauthenticated, or NotAllowed for no role here."""
        key = hashlib.sha256(token.encode(errors="replace")).digest()
        identity = self._find_kept(key)
        if identity is None:
            claims = self._claims(token)
            identity = self.identity(claims, token)
            self._keep(key, identity, until=min(float(claims["exp"]), self.clock() + KEPT_S))
        return self.admit(database, identity)

    def identity(self, claims: Claims, token: str) -> Identity:
        """Who it is and which role that gives. Asks for the claim that the token left out."""
        subject = subject_of(claims)
        if client_of(claims) == subject:
            return Identity(subject, subject, self._role({f"{CLIENT}{subject}"}))
        if self._claim not in claims and (address := self.published.find_address("userinfo_endpoint")):
            more = self.wire.get(address, bearer=token)
            if more.get("sub") != subject:
                raise refused("belongs to somebody else")
            claims = {**more, **claims}
        called = claims.get("preferred_username")
        listed = claims.get(self._claim, [])
        entitled = {listed} if isinstance(listed, str) else {one for one in listed if isinstance(one, str)}
        role = self._role({one for one in entitled if not one.startswith(CLIENT)})
        return Identity(subject, called if isinstance(called, str) else "", role)

    def admit(self, database: Database, identity: Identity) -> User:
        """The user of an identity; the first login makes it, a changed entitlement changes its role."""
        who = {"issuer": self.issuer, "subject": identity.subject}
        with database.reading() as connection:
            known = identities.find(connection, **who)
        if known is not None and known.role is identity.role:
            return known
        now = datetime.now(UTC)
        try:
            with database.transaction() as connection:
                return identities.admit(
                    connection, **who, called=identity.called, role=identity.role, now=now
                )
        except Conflict:
            with database.reading() as connection:
                known = identities.find(connection, **who)
            if known is None:
                raise
            return known

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
        return claims

    def _role(self, entitled: set[str]) -> Role:
        for entitlement, role in self._roles.items():
            if entitlement in entitled:
                return role
        raise NotAllowed(
            "authorization", "you are known, but nothing entitles you to a role here.", "Ask the operator."
        )

    def _take_turn(self) -> None:
        second = int(self.clock())
        with self._lock:
            asked = self._asked[1] + 1 if self._asked[0] == second else 1
            self._asked = (second, asked)
        if asked > MOST_ASKED_PER_S:
            raise refused("cannot be looked up right now")

    def _find_kept(self, key: bytes) -> Identity | None:
        with self._lock:
            until, identity = self._kept.get(key, (0.0, None))
            return identity if self.clock() < until else None

    def _keep(self, key: bytes, identity: Identity, *, until: float) -> None:
        with self._lock:
            self._kept[key] = (until, identity)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)


def _secret(settings: GatewaySettings) -> str | None:
    if settings.oidc_client_secret_file is None:
        return None
    try:
        return settings.oidc_client_secret_file.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        raise NotReady("the file of DPGATE_OIDC_CLIENT_SECRET_FILE cannot be read") from None
