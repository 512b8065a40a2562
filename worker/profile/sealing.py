"""All tables of a delivery as one document, sealed for the rights holder within a time and a length.

Whatever depends on the data is inside: also that a table could not be read, took too long or is too large.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from domain.model import canonical
from domain.profile_request import ProfileOnRecord, context_of
from store.profile_box import TooLong, seal_profile
from twins.profile import NoTable
from twins.profile.document import WARNING, DeliveredProfile, DictionaryColumn, ProfileDocument, ProfiledTable
from twins.profile.unit import find_unit
from worker.profile.places import Found, Source, find_tables, read_dictionary
from worker.profile.tables import left_out, profile_source
from worker.sandbox.protocol import SandboxUnavailable

NO_TIME = "there was no time left for it; profile it by itself, or where it lies: dpgate twin profile DATA"
TOO_LONG = "its profile is too long to be sealed here; profile it where it lies: dpgate twin profile DATA"
_SHORTEST_S = 1.0


def profile_delivery(folder: Path, profile: ProfileOnRecord, *, until: float) -> DeliveredProfile:
    """`until` on the monotonic clock; tables that are not read by then are left out, and say so.

    Raises SandboxUnavailable where nothing can be confined.
    """
    try:
        found = find_tables(folder)
    except NoTable as nothing:
        # the folder's name is the delivery's number: no secret, and nothing that helps
        found = Found(folder, False, (), (str(nothing).replace(str(folder), "the delivery"),))
    tables = [_one(source, profile.people, until) for source in found.sources]
    unknown = sorted(set(profile.people) - {source.name for source in found.sources})
    wanted = {name: column for name, column in profile.people.items() if name not in unknown}
    unit = find_unit({table.name: table.found for table in tables if table.found is not None}, wanted)
    document = ProfileDocument(
        warning=WARNING,
        layout="bids" if found.is_bids else "tables",
        unit=unit.table,
        sandboxed=True,
        tables=tuple(table.model_copy(update={"person": unit.people.get(table.name)}) for table in tables),
        notes=(*found.notes, *(f"There is no table {name}." for name in unknown)),
    )
    return DeliveredProfile(
        name=profile.name,
        document=document,
        dictionaries={source.name: _dictionary(source) for source in found.sources},
    )


def sealed_for(found: DeliveredProfile, profile: ProfileOnRecord, *, signing: Ed25519PrivateKey) -> bytes:
    """Sealed to the key that was asked for. The largest tables give way until the rest fits."""
    context = context_of(profile.id, profile.name, profile.delivery)
    while True:
        content = canonical(found.model_dump(mode="json"))
        try:
            return seal_profile(content, key=profile.key, context=context, signing=signing)
        except TooLong:
            found = _without_the_largest(found)


def _one(source: Source, people: Mapping[str, str], until: float) -> ProfiledTable:
    left_s = until - time.monotonic()
    if left_s < _SHORTEST_S:
        return left_out(source, NO_TIME)
    try:
        return profile_source(source, person=people.get(source.name), wall_s=left_s)
    except SandboxUnavailable:
        raise
    except Exception as error:
        # that a table breaks its reader is a fact about the data: it must not become a visible failure
        return left_out(source, f"the worker could not read it ({type(error).__name__})")


def _dictionary(source: Source) -> dict[str, DictionaryColumn]:
    return {name: DictionaryColumn.of(entry) for name, entry in read_dictionary(source).items()}


def _without_the_largest(found: DeliveredProfile) -> DeliveredProfile:
    """With the sentence why in place of the longest of its tables, and without that table's dictionary."""
    sizes = {table.name: len(canonical(table.model_dump(mode="json"))) for table in found.document.tables}
    largest = max(sizes, key=lambda name: sizes[name])
    tables = tuple(
        table.model_copy(update={"found": None, "refused": TOO_LONG}) if table.name == largest else table
        for table in found.document.tables
    )
    return found.model_copy(
        update={
            "document": found.document.model_copy(update={"tables": tables}),
            "dictionaries": {name: one for name, one in found.dictionaries.items() if name != largest},
        }
    )
