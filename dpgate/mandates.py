"""A rights holder's own side of mandates: the key that the platform never has, and what was signed with it.

They lie beside the logins, in a folder for its owner alone. Whoever copies it can sign in their place, unless
the key is locked with a passphrase; whoever loses it can sign no more, and has an operator enrol a new key
(`dpgate ledger enrol`).
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from domain.approval import APPROVAL_SUFFIX, JobApproval, approval_in, request_digest
from domain.dataset import Declaration
from domain.job import AnyRequest
from domain.mandate import (
    SUFFIX,
    CustodyKey,
    ErasureOrder,
    Mandate,
    declaration_digest,
    mandate_in,
    signed_in,
)
from domain.model import canonical
from domain.policy import Policy
from dpgate.credentials import DEFAULT, credentials_file
from dpgate.errors import DpgateError
from dpgate.locked_key import ROUNDS, LockedKey, is_locked, lock, read, unlock
from store.envelopes import key_id, sign
from store.full_disk import names_full_disk
from store.keys import write_once
from worker.mandates import key_file

DAYS = 365
_KEY = "rights-holder.key"
_DELIVERIES = "deliveries"
_ORDER = ".erasure"


@dataclass(frozen=True)
class Custody:
    """The folder with the key and the newest mandate of each data set."""

    folder: Path
    # for the passphrase of a locked key, with each signature
    ask: Callable[[], str] | None = None

    @classmethod
    def own(cls, profile: str = DEFAULT, *, ask: Callable[[], str] | None = None) -> Custody:
        """Of this user, for the platform that a login is kept for."""
        return cls(credentials_file().parent / "custody" / profile, ask)

    @property
    def public(self) -> str:
        """Raw, in base64; the first look makes the key. A locked one says it without its passphrase."""
        locked = self._locked()
        raw = locked.public if locked else self._private().public_key().public_bytes_raw()
        return base64.b64encode(raw).decode()

    @property
    def is_locked(self) -> bool:
        return self._locked() is not None

    def check_opens(self) -> None:
        """Raises DpgateError where nothing could be signed: before anything else is done."""
        self._private()

    def lock(self, passphrase: str, *, rounds: int = ROUNDS) -> None:
        """From now on each signature needs the passphrase; a locked key is opened with its present one."""
        key = self._private()
        public = key.public_key().public_bytes_raw()
        _write(self.folder / _KEY, lock(key.private_bytes_raw(), public, passphrase, rounds=rounds))

    def enrol_with(self, folder: Path) -> None:
        """Put the public half beside a delivery: from its import on, its data are used under mandates."""
        _write(key_file(folder), canonical(CustodyKey(key=self.public).model_dump(mode="json")))

    def newest(self, dataset: str) -> Mandate | None:
        """What was signed last for a data set's name."""
        path = self.folder / f"{dataset}.json"
        if not path.exists():
            return None
        try:
            return mandate_in(json.loads(path.read_bytes()))
        except (ValueError, KeyError, TypeError):
            raise DpgateError(f"{path} holds no mandate any more; restore it from a copy") from None

    def first_for(
        self, declared: Declaration, *, version: int, delivery: str, days: int = DAYS
    ) -> dict[str, Any]:
        """Sign what a declaration allows, for the version that was made of a delivery."""
        before = self.newest(declared.name)
        approvers = before.approvers if before else {}
        cohort = declared.cohort or (before.cohort if before else declared.name)
        return self._sign(
            before,
            dataset=declared.name,
            version=version,
            delivery=delivery,
            declaration=declaration_digest(declared),
            policy=declared.policy,
            caps=declared.caps,
            cohort=cohort,
            approvers=approvers,
            days=days,
        )

    def next_for(
        self,
        before: Mandate,
        *,
        policy: Policy,
        days: int = DAYS,
        approvers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Sign another policy, or the same for longer, for what the newest mandate is about; `approvers`
        instead of those that it names, if any are given."""
        named = before.approvers if approvers is None else dict(approvers)
        kept = ("dataset", "version", "delivery", "declaration", "caps", "cohort")
        return self._sign(
            before,
            policy=policy,
            approvers=named,
            days=days,
            **{name: getattr(before, name) for name in kept},
        )

    def approve(
        self, job: str, *, dataset: str, version: int, author: str, request: AnyRequest
    ) -> dict[str, Any]:
        """Sign that this very job may run, as one whom a mandate names, or who signed it."""
        approval = JobApproval(
            dataset=dataset, version=version, job=job, author=author, request=request_digest(request)
        )
        return sign(approval.as_statement(), key=self._private())

    def to_erase(self, dataset: str) -> dict[str, Any] | None:
        """Sign that a data set is to be erased; again finds what was signed. None where no mandate was."""
        before = self.newest(dataset)
        if before is None:
            return None
        known = self._ordered(dataset)
        if known is not None and known[0].sequence > before.sequence:
            return known[1]
        order = ErasureOrder(
            dataset=dataset,
            delivery=before.delivery,
            sequence=before.sequence + 1,
            previous=before.digest,
        )
        envelope = sign(order.as_statement(), key=self._private())
        _write(self.folder / f"{dataset}{_ORDER}", canonical(envelope))
        return envelope

    def _ordered(self, dataset: str) -> tuple[ErasureOrder, dict[str, Any]] | None:
        path = self.folder / f"{dataset}{_ORDER}"
        if not path.exists():
            return None
        try:
            envelope = json.loads(path.read_bytes())
            found = signed_in(envelope)
        except (ValueError, KeyError, TypeError):
            found = None
        if not isinstance(found, ErasureOrder):
            raise DpgateError(f"{path} holds no order any more; restore it from a copy")
        return found, envelope

    @property
    def deliveries(self) -> Path | None:
        """Where the newest one was delivered to."""
        path = self.folder / _DELIVERIES
        return Path(path.read_text(encoding="utf-8")) if path.exists() else None

    def deliver(self, envelope: dict[str, Any], deliveries: Path) -> Path:
        """Into the worker zone's deliveries folder; beside the key where there is none: bring it there."""
        signed = signed_in(envelope)
        return self._put(f"{signed.dataset}.{signed.sequence}{SUFFIX}", envelope, deliveries)

    def deliver_approval(self, envelope: dict[str, Any], deliveries: Path) -> Path:
        """The same for an approval; those of several approvers lie beside each other."""
        signed = approval_in(envelope)
        name = f"{signed.dataset}.{signed.job}.{key_id(self.public)[:16]}{APPROVAL_SUFFIX}"
        return self._put(name, envelope, deliveries)

    def _put(self, name: str, envelope: dict[str, Any], deliveries: Path) -> Path:
        place = deliveries if deliveries.is_dir() else self.folder
        if place == deliveries:
            _write(self.folder / _DELIVERIES, str(deliveries.absolute()).encode())
        path = place / name
        _write(path, canonical(envelope))
        return path

    def _sign(self, before: Mandate | None, *, days: int, **fields: Any) -> dict[str, Any]:
        last: Mandate | ErasureOrder | None = before
        known = None if before is None else self._ordered(before.dataset)
        if before is not None and known is not None and known[0].sequence > before.sequence:
            last = known[0]
        self._check_enough(fields["approvers"], fields["policy"])
        mandate = Mandate(
            sequence=last.sequence + 1 if last else 1,
            previous=last.digest if last else None,
            not_after=datetime.now(UTC).replace(microsecond=0) + timedelta(days=days),
            **fields,
        )
        envelope = sign(mandate.as_statement(), key=self._private())
        _write(self.folder / f"{mandate.dataset}.json", canonical(envelope))
        return envelope

    def _check_enough(self, approvers: Mapping[str, str], policy: Policy) -> None:
        """Before a mandate under which no job could run."""
        if approvers and len(set(approvers.values())) < policy.votes:
            raise DpgateError(
                f"the policy asks for {policy.votes} votes: name as many approvers, each with a key"
            )

    def _private(self) -> Ed25519PrivateKey:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self.folder / _KEY
        if not path.exists():
            key = Ed25519PrivateKey.generate()
            with names_full_disk(self.folder):
                is_ours = write_once(path, base64.b64encode(key.private_bytes_raw()))
            if is_ours:
                return key
        locked = self._locked()
        try:
            raw = base64.b64decode(path.read_bytes()) if locked is None else self._opened(locked)
            return Ed25519PrivateKey.from_private_bytes(raw)
        except ValueError:
            raise DpgateError(
                f"{path} holds no whole key: put its copy back. If nothing was ever signed with it, as where "
                "the disk was full when it was made, remove the file and run the same command again"
            ) from None

    def _locked(self) -> LockedKey | None:
        path = self.folder / _KEY
        content = path.read_bytes() if path.exists() else b""
        return read(content) if is_locked(content) else None

    def _opened(self, locked: LockedKey) -> bytes:
        if self.ask is None:
            raise DpgateError("your key is locked with a passphrase, and nobody can be asked for it here")
        return unlock(locked, self.ask())


def _write(path: Path, content: bytes) -> None:
    """A new file in place of the old one, for its owner alone: nobody reads half of it."""
    new = path.with_name(f".{path.name}.new")
    new.unlink(missing_ok=True)
    with (
        names_full_disk(path.parent),
        os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file,
    ):
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    new.rename(path)
