"""All providers of this platform. Each token is looked at by the one that made it, and shown to no other."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence

from domain.errors import NotAllowed, NotFound, Unauthenticated
from gateway.oidc.claims import MAX_TOKEN, is_signed
from gateway.oidc.faults import Fault, refused
from gateway.oidc.provider import Provider
from gateway.oidc.refusals import Refusals
from gateway.provider_settings import ProviderSettings
from store.database import Database
from store.tokens import Caller


class Providers:
    """Several providers, or one, or none. Thread-safe."""

    def __init__(self, settings: Sequence[ProviderSettings]) -> None:
        self._all = tuple(Provider(one) for one in settings)
        self.refusals = Refusals()

    def __iter__(self) -> Iterator[Provider]:
        return iter(self._all)

    def __bool__(self) -> bool:
        return bool(self._all)

    @property
    def main(self) -> Provider | None:
        return self._all[0] if self._all else None

    @property
    def for_browsers(self) -> list[Provider]:
        """Those at which people may log in with a browser."""
        return [one for one in self._all if one.client_id is not None]

    def for_browser(self, name: str | None) -> Provider:
        """The one of this name, or the first. Raises NotFound."""
        for one in self.for_browsers:
            if name in (None, one.name):
                return one
        raise NotFound("login", "this platform has no such identity provider.", "Go to the login page.")

    def caller(self, database: Database, token: str) -> Caller:
        """Who holds an access token. Raises Unauthenticated, or NotAllowed for no role here."""
        try:
            return self.of_token(token).caller(database, token)
        except (Unauthenticated, NotAllowed) as error:
            self.refusals.note(database, error, way="token")
            raise

    def of_token(self, token: str) -> Provider:
        """The provider whose token this says it is: it checks that itself. Raises Unauthenticated.

        A token that only its maker can read is asked about where there is one provider. Of several none may
        see a token of another (RFC 9700, 4.4).
        """
        if len(self._all) == 1:
            return self._all[0]
        if not is_signed(token):
            raise refused(Fault.UNREADABLE)
        issuer = said_issuer(token)
        found = next((one for one in self._all if one.issuer == issuer), None)
        if found is None:
            raise refused(Fault.WRONG_ISSUER)
        return found

    def of_logout(self, token: str) -> Provider:
        """The provider that ends a login by this token. Raises Unauthenticated."""
        if not self._all or not is_signed(token):
            raise refused(Fault.WRONG_KIND)
        return self.of_token(token)

    def word(self) -> str:
        """How they answered last: `ok`, `none`, `unknown`, or what was wrong with the first of the unwell."""
        found = [one.wire.last for one in self._all]
        wrong = [one for one in found if one not in ("ok", "unknown")]
        return wrong[0] if wrong else ("none" if not found else "ok" if "ok" in found else "unknown")

    def close(self) -> None:
        for one in self._all:
            one.close()


def said_issuer(token: str) -> str | None:
    """Who made the token, by its own word, which nobody has checked. Raises Unauthenticated."""
    if len(token) > MAX_TOKEN:
        raise refused(Fault.TOO_LONG)
    payload = token.split(".")[1]
    try:
        said = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except (ValueError, RecursionError):
        raise refused(Fault.BAD_SIGNATURE) from None
    found = said.get("iss") if isinstance(said, dict) else None
    return found if isinstance(found, str) else None
