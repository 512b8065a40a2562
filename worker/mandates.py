"""Mandates in the worker zone: whose key counts for which data, which mandate is in force, what it allows,
and whether these data may be erased.

Both come through the deliveries folder, from whoever delivers. The gateway has no hand in it: what its rows
say of a policy, a cap or a declaration holds for guarded data as far as a mandate says the same.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from domain.admission import check_policy
from domain.approval import APPROVAL_SUFFIX
from domain.dataset import Dataset
from domain.errors import RequestError
from domain.job import Job, Reason
from domain.mandate import SUFFIX, CustodyKey, Mandate, declaration_digest, mandate_in, signed_in
from domain.model import parse
from store.envelopes import is_signed, key_id
from store.zone_ledger import Entry, Kind, Page
from worker import approvals
from worker.intake.beside import read_beside
from worker.zone import WorkerZone

log = logging.getLogger(__name__)
KEY_SUFFIX = ".custody"
_MOST_BYTES = 2**20


@dataclass(frozen=True)
class Guard:
    """A delivery's key, the newest mandate that it signed for the data set's name, and whether it has signed
    since both that these data are to be erased. `imported_as`: under which name the delivery came."""

    delivery: str
    imported_as: str
    declaration: str
    key: str
    mandate: Mandate | None
    is_ordered: bool


def key_file(folder: Path) -> Path:
    """Beside the delivery, as the key of a profile is."""
    return folder.with_name(folder.name + KEY_SUFFIX)


def delivered_key(folder: Path) -> str | None:
    """The key that came with a delivery, if one did. Raises InvalidRequest for a file that is none."""
    found = _read(key_file(folder))
    return None if found is None else parse(CustodyKey, found).key


def enrol(zone: WorkerZone, dataset: Dataset, *, delivery: str, snapshot: str, key: str) -> bool:
    """At the import: from now on these data are used under mandates of this key alone. False where the
    delivery was imported before and became other data, or under another declaration: those would have no key.
    """
    body = {
        "delivery": delivery,
        "dataset": dataset.name,
        "snapshot": snapshot,
        "declaration": _declared(dataset),
    }
    with zone.ledger.writing() as page:
        earlier = [entry.body for entry in page.having(Kind.ENROLLED) if entry.body["delivery"] == delivery]
        if any(entry[name] != body[name] for entry in earlier for name in body):
            return False
        add_key(page, body, key=key)
    return True


def add_key(page: Page, delivered: Mapping[str, str], *, key: str) -> bool:
    """The newest key of a delivery counts. False when it is known."""
    return page.add(Kind.ENROLLED, f"{delivered['delivery']} {key_id(key)}", {**delivered, "key": key})


def take_in(zone: WorkerZone, name: str = "*") -> None:
    """Mandates for this data set, or all, orders to erase it, and approvals of jobs, that lie in the
    deliveries folder, in their order. One that no enrolled key signed, or whose number is not above the
    newest, changes nothing."""
    for path in sorted(zone.settings.deliveries_folder.glob(f"{name}.*{SUFFIX}"), key=_sequence):
        if (envelope := _read(path)) is None:
            continue  # another process took it
        with zone.ledger.writing() as page:
            if _accept(page, envelope):
                log.info("mandate %s: in force", path.name)
            else:
                log.error("mandate %s: not signed by the key of its delivery, or not a newer one", path.name)
        _remove(path)
    # after the mandates, which say whose keys count for them
    for path in sorted(zone.settings.deliveries_folder.glob(f"{name}.*{APPROVAL_SUFFIX}")):
        if (envelope := _read(path)) is not None:
            with zone.ledger.writing() as page:
                if not approvals.accept(page, envelope):
                    log.info("approval %s: of no key that a mandate for these data names", path.name)
            _remove(path)


def why_not_allowed(
    zone: WorkerZone, page: Page, job: Job, dataset: Dataset, *, spent: Mapping[str, int]
) -> Reason | None:
    """Whether a mandate in force allows the charge; `spent` is of the cohort, the job's cost included."""
    found = guards(page, dataset)
    if not found:
        return Reason.MANDATE_MISSING if zone.settings.mandates == "required" else None
    refusals = [_of_one(page, guard, job, dataset, spent=spent, now=zone.now()) for guard in found]
    return None if None in refusals else refusals[-1]


def why_not_released(zone: WorkerZone, page: Page, dataset: Dataset) -> Reason | None:
    """Before a draw: what was charged under a mandate waits when none is in force any more."""
    found = [guard.mandate for guard in guards(page, dataset)]
    if not found or any(mandate and not mandate.is_over(zone.now()) for mandate in found):
        return None
    return Reason.MANDATE_EXPIRED if any(found) else Reason.MANDATE_MISSING


def is_erasure_signed(zone: WorkerZone, page: Page, name: str, data_key: str | None) -> bool:
    """Whether those whose keys guard what is sealed under the key of a data set have signed that it goes:
    each that was delivered under this name, whether or not it has signed a mandate yet. Equal data of others
    may lie here under keys and names of theirs."""
    names = () if data_key is None else zone.sealed.snapshots_under(data_key)
    found = _guards(page, name, snapshots=names)
    if not found:
        return zone.settings.mandates != "required"
    signers = [guard for guard in found if guard.mandate is not None or guard.imported_as == name] or found
    return all(guard.is_ordered for guard in signers)


def guards(page: Page, dataset: Dataset) -> list[Guard]:
    """Whose mandates count for the data of this version, whatever its name is."""
    return _guards(page, dataset.name, snapshots=[str(dataset.snapshot)])


def _guards(page: Page, name: str, *, snapshots: Collection[str]) -> list[Guard]:
    newest = {entry.body["delivery"]: entry for entry in page.having(Kind.ENROLLED)}
    return [_guard(page, entry, name) for entry in newest.values() if entry.body["snapshot"] in snapshots]


def _guard(page: Page, entry: Entry, name: str) -> Guard:
    signer = key_id(entry.body["key"])
    mandate = _newest(page, Kind.MANDATE, signer, name)
    order = _newest(page, Kind.ORDER, signer, name)
    # by the ledger's own numbers: what was delivered after the order was not meant by it
    is_last = order is not None and order.number > max(entry.number, mandate.number if mandate else 0)
    return Guard(
        entry.body["delivery"],
        entry.body.get("dataset", name),  # older entries do not say it: theirs is asked
        entry.body["declaration"],
        entry.body["key"],
        None if mandate is None else mandate_in(mandate.body),
        is_last,
    )


def _of_one(
    page: Page, guard: Guard, job: Job, dataset: Dataset, *, spent: Mapping[str, int], now: datetime
) -> Reason | None:
    mandate = guard.mandate
    if mandate is None or guard.is_ordered:
        return Reason.MANDATE_MISSING
    if mandate.is_over(now):
        return Reason.MANDATE_EXPIRED
    declared = dataset.declaration
    currencies = [currency for currency, _ in job.request.cost(declared)]
    same = (
        mandate.delivery == guard.delivery
        and mandate.version == dataset.version
        and mandate.cohort == dataset.cohort
        and mandate.declaration == guard.declaration == _declared(dataset)
        and mandate.policy == declared.policy
        and all(mandate.caps.get(currency, 0) >= spent[currency] for currency in currencies)
    )
    if not same or not _is_admitted(job, dataset):
        return Reason.MANDATE_DIFFERS
    is_signed_for = approvals.are_given(page, job, mandate, holder=guard.key)
    return None if is_signed_for else Reason.MANDATE_DIFFERS


def _is_admitted(job: Job, dataset: Dataset) -> bool:
    try:
        check_policy(job.request, dataset, through=job.through)
    except RequestError:
        return False
    return True


def _declared(dataset: Dataset) -> str:
    return declaration_digest(dataset.declaration)


def _newest(page: Page, kind: Kind, signer: str, name: str) -> Entry | None:
    found = [entry for entry in page.having(kind) if entry.subject.startswith(f"{signer} {name} ")]
    return found[-1] if found else None


def _accept(page: Page, envelope: dict[str, Any]) -> bool:
    try:
        signed = signed_in(envelope)
    except (ValueError, KeyError, TypeError):
        return False
    keys = [
        entry.body["key"] for entry in page.having(Kind.ENROLLED) if entry.body["delivery"] == signed.delivery
    ]
    if not keys or not is_signed(envelope, by=keys[-1]):
        return False
    kind = Kind.MANDATE if isinstance(signed, Mandate) else Kind.ORDER
    signer, name = key_id(keys[-1]), signed.dataset
    subject = f"{signer} {name} {signed.sequence}"
    if (known := page.find(kind, subject)) is not None and known.body == envelope:
        return True  # brought a second time
    before = [_newest(page, each, signer, name) for each in (Kind.MANDATE, Kind.ORDER)]
    numbers = [signed_in(entry.body).sequence for entry in before if entry is not None]
    if numbers and (signed.sequence <= max(numbers) or signed.previous is None):
        return False
    return page.add(kind, subject, envelope)


def _sequence(path: Path) -> int:
    number = path.name.removesuffix(SUFFIX).rpartition(".")[2]
    return int(number) if number.isascii() and number.isdigit() else 0


def _read(path: Path) -> dict[str, Any] | None:
    """A JSON object in a plain file; None where there is no file, and an empty one for anything else."""
    content = read_beside(path, most_bytes=_MOST_BYTES)
    if content is None:
        return None
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _remove(path: Path) -> None:
    """What cannot go, a folder of that name, keeps nobody else's from being read."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        log.error("%s stays in the deliveries folder: %s", ascii(path.name), type(error).__name__)
