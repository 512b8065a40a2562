"""From an access token, or from a browser that comes back from the provider, to a user of this platform."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from domain.acting import check_can_be_acted_for
from domain.entitlement import SERVICE
from domain.errors import Conflict, NotAllowed, NotReady, Unauthenticated
from domain.identity import Kind
from domain.permissions import Role, User
from domain.scopes import Scope
from gateway.oidc.claims import (
    MAX_SUBJECT,
    Audience,
    Claims,
    check_access,
    check_for_us,
    check_issued,
    is_signed,
    open_signed,
    subject_of,
)
from gateway.oidc.faults import SENTENCES, Fault, refused
from gateway.oidc.keys import Published
from gateway.oidc.people import acting_client, called, client_of, entitled_to, find_claim, kind_of, profile_of
from gateway.oidc.wire import Wire
from gateway.provider_settings import ProviderSettings
from store import identities
from store.database import Database
from store.identities import Word
from store.job_lists import has_acted
from store.tokens import Caller
from store.vouching import login_key

# how long a decision about a token is good: what the provider takes back is gone after that
KEPT_S = 60
MOST_KEPT = 1000
# questions to the provider about tokens that it alone can read
MOST_ASKED_PER_S = 20
_NO_CLAIM = ("authorization", *SENTENCES[Fault.MISSING_CLAIM])
_PERSON_FIRST = (
    "authorization",
    "a service acts here for people who have come themselves, with the rights that they came with.",
    "Log in here yourself once; then let the service try again.",
)
OF_A_SERVICE = frozenset({Scope.READ, Scope.SUBMIT})
_NO_ROLE = (
    "authorization",
    "you are known, but nothing entitles you to a role here.",
    "Ask the operator.",
)


class Provider:
    """One provider. Thread-safe; every refusal is Unauthenticated or NotAllowed."""

    def __init__(
        self,
        settings: ProviderSettings,
        *,
        clock: Callable[[], float] = time.time,
        wire: Wire | None = None,
    ) -> None:
        self.settings = settings
        self.name, self.issuer = settings.name, settings.issuer
        self.client_id = settings.client_id
        self.wire = wire or Wire()
        self.published = Published(self.issuer, self.wire)
        self.clock = clock
        self.audience = Audience(settings.audience or settings.client_id or "", settings.clients)
        self._secret = _secret(settings)
        self._claim, self._roles = settings.claim, settings.roles
        self._kept: OrderedDict[bytes, tuple[float, Word]] = OrderedDict()
        self._asked: tuple[int, int] = (0, 0)
        self._lock = threading.Lock()

    def caller(self, database: Database, token: str) -> Caller:
        """Who holds an access token. Raises Unauthenticated, or NotAllowed for no role here."""
        key = hashlib.sha256(token.encode(errors="replace")).digest()
        kept = self._find_kept(key)
        if kept is not None and (user := self._standing(database, kept, fresh=False)) is not None:
            return _caller(_by(user, kept), kept)
        # nothing is gained by a word that was kept: the provider is asked again
        claims = self.claims_of(token)
        word = self.word(claims, token)
        self._check_ended(database, word, client_of(claims))
        self._keep(key, word, until=min(float(claims["exp"]), self.clock() + KEPT_S))
        user = self.admit(database, word) if word.through is None else self.acted_for(database, word)
        return _caller(user, word)

    def word(self, claims: Claims, token: str) -> Word:
        """Who an access token speaks of, and what they are entitled to."""
        known = frozenset(self.settings.acting)
        kind = kind_of(claims, self.settings.services | known)
        # before anything is added to what the token says
        through = acting_client(claims, kind, known)
        # however old a token is that was looked up, this was said now
        said_at = claims["iat"] if is_signed(token) else self.clock()
        if kind is Kind.SERVICE:
            return self.word_on_service(claims, said_at=said_at)
        return replace(self.word_on_person(claims, token, said_at=said_at), through=through)

    def word_on_service(self, claims: Claims, *, said_at: float) -> Word:
        """Its role is that of its client, by the settings alone."""
        role = self._roles.get(f"{SERVICE}{client_of(claims)}")
        return self._word(claims, Kind.SERVICE, frozenset(), role, heard_at=said_at)

    def word_on_person(self, claims: Claims, token: str, *, said_at: float) -> Word:
        """Asks for the claim that the token left out. Raises Unauthenticated where the provider has none."""
        made_at = claims["iat"]
        if find_claim(claims, self._claim) is None:
            entitled_to(claims, self._claim)  # a pointer to too many groups leads nowhere
            more = self._userinfo(subject_of(claims), token)
            if more is not None:
                claims, said_at = {**claims, **more}, self.clock()
        entitled = entitled_to(claims, self._claim)
        role = next((role for name, role in self._roles.items() if name in entitled), None)
        word = self._word(claims, Kind.PERSON, entitled, role, heard_at=said_at)
        return replace(word, made_at=datetime.fromtimestamp(made_at, UTC))

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
            raise NotAllowed(*(_NO_ROLE if word.said_any else _NO_CLAIM), reason=_reason(word))
        return user

    def acted_for(self, database: Database, word: Word) -> User:
        """The person for whom a service acts. They have come here themself, and the provider's word on them
        is what it was then: a service makes no user, and keeps no word alive. Raises NotAllowed."""
        user = self._standing(database, word, fresh=False)
        if user is None:
            raise NotAllowed(*_PERSON_FIRST, reason="person_first")
        return _by(user, word)

    def ask(self, endpoint: str, form: Mapping[str, str]) -> dict[str, Any]:
        """A question that this platform's own client asks."""
        client = self.client_id or ""
        if self._secret is None:
            return self.wire.post(endpoint, {**form, "client_id": client}, auth=None)
        # RFC 6749 2.3.1: both are form-encoded before they go into the header
        return self.wire.post(endpoint, form, auth=(quote(client, safe=""), quote(self._secret, safe="")))

    def forget(self) -> None:
        """Words that were kept count no longer: each token is looked at anew."""
        with self._lock:
            self._kept.clear()

    def close(self) -> None:
        self.wire.close()

    def claims_of(self, token: str) -> Claims:
        """What an access token for us says, or what the provider says of it. Raises Unauthenticated."""
        if is_signed(token):
            signed = open_signed(token, self.published.key)
            return check_access(signed, self.audience, issuer=self.issuer, now=self.clock())
        return self._introspected(token)

    def _userinfo(self, subject: str, token: str) -> dict[str, Any] | None:
        """What it adds on this subject; None where it has no such address, or takes no such token."""
        address = self.published.find_address("userinfo_endpoint")
        if address is None:
            return None
        try:
            more = self.wire.get(address, bearer=token)
        except Unauthenticated as error:
            # Entra's answers its own tokens alone: then the token is all that there is
            if error.reason != Fault.REFUSED:
                raise
            return None
        if more.get("sub") != subject:
            raise refused(Fault.OTHER_SUBJECT)
        return more

    def _introspected(self, token: str) -> Claims:
        """What the provider says of a token that only it can read (RFC 7662)."""
        if self._secret is None or self.client_id is None:
            raise refused(Fault.UNREADABLE)
        self._take_turn()
        address = self.published.address("introspection_endpoint")
        found = self.ask(address, {"token": token, "token_type_hint": "access_token"})
        if found.get("active") is not True:
            raise refused(Fault.INACTIVE)
        if str(found.get("token_type", "Bearer")).lower() not in ("bearer", "access_token"):
            raise refused(Fault.WRONG_KIND)
        claims = {"iss": self.issuer, "sub": client_of(found), **found}
        check_issued(claims, issuer=self.issuer, now=self.clock())
        check_for_us(claims, self.audience)
        return {"iat": self.clock(), **claims}

    def _check_ended(self, database: Database, word: Word, client: str | None) -> None:
        """A service that acted for people, and may no more, is not let in as the people themselves: where the
        provider says no `act`, its tokens look like theirs. Raises Unauthenticated."""
        if client is None or word.kind is not Kind.PERSON or word.through is not None:
            return
        if client in (self.client_id, self.settings.cli_client_id):
            return
        with database.reading() as connection:
            if has_acted(connection, client, issuer=self.issuer):
                raise refused(Fault.ACTING)

    def _standing(self, database: Database, word: Word, *, fresh: bool) -> User | None:
        with database.reading() as connection:
            return identities.standing(connection, word, datetime.now(UTC), fresh=fresh)

    def _word(
        self, claims: Claims, kind: Kind, entitled: frozenset[str], role: Role | None, *, heard_at: float
    ) -> Word:
        return Word(
            issuer=self.issuer,
            subject=subject_of(claims),
            kind=kind,
            called=called(claims, kind),
            entitled=entitled,
            role=role,
            heard_at=datetime.fromtimestamp(min(heard_at, self.clock()), UTC),
            counts_for=timedelta(days=self.settings.word_days),
            counts_short=timedelta(minutes=self.settings.short_word_minutes),
            profile=profile_of(claims),
            said_any=kind is Kind.SERVICE or find_claim(claims, self._claim) is not None,
            login=_login_of(claims),
        )

    def _take_turn(self) -> None:
        second = int(self.clock())
        with self._lock:
            asked = self._asked[1] + 1 if self._asked[0] == second else 1
            self._asked = (second, asked)
        if asked > MOST_ASKED_PER_S:
            raise refused(Fault.TOO_MANY)

    def _find_kept(self, key: bytes) -> Word | None:
        with self._lock:
            until, word = self._kept.get(key, (0.0, None))
            return word if self.clock() < until else None

    def _keep(self, key: bytes, word: Word, *, until: float) -> None:
        with self._lock:
            self._kept[key] = (until, word)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)


def _caller(user: User, word: Word) -> Caller:
    if user.through is not None:
        return Caller(user, scopes=OF_A_SERVICE)
    return Caller(user, login=None if word.login is None else login_key(word.issuer, word.login))


def _by(user: User, word: Word) -> User:
    """Raises NotAllowed for people for whom no service acts."""
    if word.through is None:
        return user
    check_can_be_acted_for(user.role)
    return user.model_copy(update={"through": word.through})


def _reason(word: Word) -> str:
    return "no_role" if word.said_any else Fault.MISSING_CLAIM


def _login_of(claims: Claims) -> str | None:
    """The provider's name for a login, which it ends by it; older ones of Keycloak call it otherwise."""
    found = claims.get("sid", claims.get("session_state"))
    return found if isinstance(found, str) and 0 < len(found) <= MAX_SUBJECT else None


def _secret(settings: ProviderSettings) -> str | None:
    if settings.client_secret_file is None:
        return None
    try:
        return settings.client_secret_file.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        raise NotReady(
            f"the file with the client secret of provider {settings.name} cannot be read"
        ) from None
