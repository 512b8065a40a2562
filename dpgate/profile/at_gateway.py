"""A profile that the worker zone makes, seen from the rights holder's machine: the key, and what it opens.

The private key is made here, lies in one file that only its owner can read, and is removed once the profile
is open: from then on nobody can open what the platform still has.
"""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Annotated

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from pydantic import Field

from domain.errors import InvalidRequest
from domain.model import Model, Slug, canonical, parse
from domain.profile_request import DELIVERY, PublicKey, context_of
from dpgate.errors import DpgateError
from dpgate.profile.run import write_private
from store.profile_box import is_signed, new_key, open_profile, public_half
from twins.profile.document import DeliveredProfile
from twins.profile.proposals import DictionaryEntry

FILE = "request.json"


class Kept(Model):
    """A request that is not done: with it the same command goes on."""

    id: str
    name: Slug
    private: PublicKey  # of the same form
    delivery: Annotated[str | None, Field(pattern=DELIVERY)] = None

    @property
    def key(self) -> str:
        """The public half."""
        return public_half(self.private)

    @property
    def context(self) -> bytes:
        return context_of(self.id, self.name, self.delivery or "")


def kept(folder: Path, name: str) -> Kept:
    """The request in this folder, or a new one with a new key. Raises DpgateError for one of other data."""
    place = folder / FILE
    if not place.is_file():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return keep(folder, parse(Kept, {"id": str(uuid.uuid4()), "name": name, "private": new_key()[0]}))
    try:
        found = parse(Kept, json.loads(place.read_bytes()))
    except (ValueError, InvalidRequest):
        raise DpgateError(f"{place} is no request of this version; name another folder with --out") from None
    if found.name != name:
        raise DpgateError(f"{folder} holds a request for {found.name}; name another folder with --out")
    return found


def keep(folder: Path, request: Kept) -> Kept:
    write_private(folder / FILE, canonical(request.model_dump(mode="json")))
    return request


def with_delivery(folder: Path, request: Kept, delivery: str) -> Kept:
    """The request about this delivery: of another one than before it is a new request, for the same key."""
    if request.delivery == delivery:
        return request
    fields = request.model_dump() | {"delivery": delivery, "id": str(uuid.uuid4())}
    return keep(folder, parse(Kept, fields))


def renewed(folder: Path, request: Kept) -> Kept:
    """The same asked anew: an id that has failed stays failed."""
    return keep(folder, request.model_copy(update={"id": str(uuid.uuid4())}))


def opened(
    sealed: bytes, request: Kept, *, key_file: Path | None, public_key: str | None
) -> DeliveredProfile:
    """What was sealed. The signature is checked with the key in the file that you hold, or else with the one
    that the platform names.

    Raises PlatformError where it does not open, DpgateError where the signature is another's.
    """
    signer = _signer(key_file.read_text() if key_file else public_key)
    if signer is not None and not is_signed(sealed, context=request.context, by=signer):
        raise DpgateError(
            "the profile was not sealed by this platform's worker zone: somebody on the way replaced it. "
            "Nothing of it was written"
        )
    content = open_profile(sealed, private=request.private, context=request.context)
    try:
        return parse(DeliveredProfile, json.loads(content))
    except (ValueError, RecursionError, InvalidRequest):
        raise DpgateError("the profile is of another version of dpgate; install the platform's") from None


def forget(folder: Path) -> None:
    """The key has done its work."""
    (folder / FILE).unlink(missing_ok=True)


def dictionaries(found: DeliveredProfile) -> dict[str, dict[str, DictionaryEntry]]:
    """What sidecars say, as the results need it."""
    return {
        table: {column: said.entry for column, said in columns.items()}
        for table, columns in found.dictionaries.items()
    }


def _signer(pem: str | None) -> Ed25519PublicKey | None:
    if pem is None:
        return None
    try:
        key = load_pem_public_key(pem.encode())
    except ValueError:
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise DpgateError("this is no certificate key: it must be an Ed25519 public key (PEM)")
    return key
