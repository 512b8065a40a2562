"""What the provider publishes: its addresses and its public keys. Kept for an hour.

A token that names an unknown key makes us look again, but at most once a minute: whoever sends tokens with
made-up key ids cannot make us flood the provider.
"""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Callable
from typing import Any

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, JWKRegistry, RSAKey

from domain.errors import Unauthenticated
from gateway.oidc.faults import Fault, refused
from gateway.oidc.wire import Wire
from gateway.web_address import check_verbatim

# the algorithms that count, and the keys that they need
KEY_TYPES: dict[str, type[RSAKey] | type[ECKey]] = {"RS256": RSAKey, "ES256": ECKey}
FRESH_S = 3600
AGAIN_S = 60
# for so long nobody waits for a provider that did not answer
REST_S = 5
SHORTEST_RSA = 2048
Key = RSAKey | ECKey


class Published:
    """The provider's document and keys, fetched when first needed."""

    def __init__(self, issuer: str, wire: Wire, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._issuer = issuer
        self._wire = wire
        self._clock = clock
        self._lock = threading.Lock()
        self._document: dict[str, Any] = {}
        self._document_at = 0.0
        self._asking = threading.Lock()
        # when it was last asked after it had not answered
        self._silent_at: float | None = None
        self._keys: list[dict[str, Any]] = []
        self._keys_at: float | None = None

    def address(self, name: str) -> str:
        """An endpoint of the provider. Raises Unauthenticated when it has none."""
        found = self.find_address(name)
        if found is None:
            raise refused(Fault.NO_ENDPOINT)
        return found

    def find_address(self, name: str) -> str | None:
        return self._address(name)

    def key(self, kid: str | None, algorithm: str) -> Key:
        """The public key for a signature. Raises Unauthenticated."""
        with self._lock:
            now = self._clock()
            if self._keys_at is None or now - self._keys_at > FRESH_S:
                self._fetch_keys(now)
            found = self._matching(kid, algorithm)
            if found is None and self._keys_at is not None and now - self._keys_at >= AGAIN_S:
                self._fetch_keys(now)
                found = self._matching(kid, algorithm)
        if found is None:
            raise refused(Fault.UNKNOWN_KEY)
        return found

    def renew(self) -> None:
        """Ask for the document now, however young the one at hand is. Raises Unauthenticated."""
        self._document, self._silent_at = {}, None
        self._fetched()

    def promises(self, name: str) -> bool:
        """Does its document say that it does this?"""
        return self._fetched().get(name) is True

    def key_count(self) -> int:
        """How many keys it publishes now that could sign a token. Raises Unauthenticated."""
        with self._lock:
            self._fetch_keys(self._clock())
            return sum(
                _read(key, algorithm) is not None
                for key in self._keys
                for algorithm in KEY_TYPES
                if _fits(key, None, algorithm)
            )

    def _fetched(self) -> dict[str, Any]:
        if (known := self._known()) is not None:
            return known
        with self._asking:
            # somebody else may have asked meanwhile
            if (known := self._known()) is not None:
                return known
            if self._silent_at is not None:
                self._silent_at = self._clock()  # while this one asks again, nobody waits for it
            try:
                document = self._wire.get(f"{self._issuer.rstrip('/')}/.well-known/openid-configuration")
            except Unauthenticated as error:
                self._silent_at = self._clock() if error.reason == Fault.DOWN else None
                raise
            if document.get("issuer") != self._issuer:
                raise refused(Fault.OTHER_NAME)
            self._document, self._document_at, self._silent_at = document, self._clock(), None
            return document

    def _known(self) -> dict[str, Any] | None:
        """The document, where it is young enough. Raises Unauthenticated for a provider that is left to rest:
        whoever asks waits in a thread, and all pages and answers come from the same few threads."""
        now = self._clock()
        if self._document and now - self._document_at <= FRESH_S:
            return self._document
        if self._silent_at is not None and now - self._silent_at < REST_S:
            raise refused(Fault.DOWN)
        return None

    def _address(self, name: str) -> str | None:
        found = self._fetched().get(name)
        if found is None:
            return None
        try:
            return check_verbatim(str(found))
        except ValueError:
            # in the clear, or no address: what it is asked must not travel there
            raise refused(Fault.NO_ENDPOINT) from None

    def _fetch_keys(self, now: float) -> None:
        # also when it fails: the next try waits for its turn
        self._keys_at = now
        address = self._address("jwks_uri")
        listed = self._wire.get(address).get("keys") if address else None
        self._keys = [key for key in listed if isinstance(key, dict)] if isinstance(listed, list) else []

    def _matching(self, kid: str | None, algorithm: str) -> Key | None:
        fitting = [key for key in self._keys if _fits(key, kid, algorithm)]
        # without an id the choice must be no choice
        return _read(fitting[0], algorithm) if len(fitting) == 1 else None


def _fits(key: dict[str, Any], kid: str | None, algorithm: str) -> bool:
    key_type = KEY_TYPES[algorithm].key_type
    return (
        key.get("kty") == key_type
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) == algorithm
        and (kid is None or key.get("kid") == kid)
    )


def _read(key: dict[str, Any], algorithm: str) -> Key | None:
    try:
        if algorithm == "RS256" and _modulus(key).bit_length() < SHORTEST_RSA:
            return None
        found = JWKRegistry.import_key({name: part for name, part in key.items() if name != "d"})
    except (JoseError, ValueError, TypeError, AttributeError):
        return None
    if isinstance(found, ECKey):
        return found if found.curve_name == "P-256" else None
    return found if isinstance(found, RSAKey) else None


def _modulus(key: dict[str, Any]) -> int:
    return int.from_bytes(base64.urlsafe_b64decode(key.get("n", "") + "=="))
