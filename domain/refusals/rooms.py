"""All rooms of the catalogue, in the order in which people meet them."""

from __future__ import annotations

from types import ModuleType

from domain.refusals import admission, fields, jobs, rights
from domain.refusals.fields import Refusal

ROOMS: dict[str, ModuleType] = {
    "A field of a request": fields,
    "What somebody may not do": rights,
    "What the policy of a data set does not admit": admission,
    "Jobs, rehearsals, projects and budgets": jobs,
}


def of(room: ModuleType) -> tuple[Refusal, ...]:
    """The refusals of one room, as they are written down."""
    return tuple(found for found in vars(room).values() if isinstance(found, Refusal))


def catalogue() -> dict[str, Refusal]:
    """Every refusal by its code."""
    found = [refusal for room in ROOMS.values() for refusal in of(room)]
    by_code = {refusal.code: refusal for refusal in found}
    assert len(by_code) == len(found), "two refusals have one code"
    return by_code
