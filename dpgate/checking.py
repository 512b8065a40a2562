"""A data set against its declaration, where the data are: a rights holder may see all of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from domain.dataset import Declaration
from domain.dataset.person_size import check_most_rows, size_sentence, unstated
from domain.errors import InvalidRequest
from dpgate.errors import DpgateError

MADE_UP = bytes(32)
"""A key in place of the zone's, for pseudonyms of the same length: nothing written with it is kept."""

_NEARER = "A public number nearer to the truth costs less."


@dataclass(frozen=True)
class Checked:
    """How many people there are; and of how many an import would keep less, by table, and of `files`."""

    people: int
    cut: Mapping[str, int]


def check_locally(data: Path, declared: Declaration, *, compares: bool = False) -> Checked:
    """Raises InvalidRequest with place and detail: the rights holder may see their own data.

    `compares` reads everything, and compares it with the checksums that came with it.
    """
    from dpgate.delivery.source import MAX_FILE_BYTES
    from worker.intake import ImportRefused, check_delivery
    from worker.intake.decisions import Decisions

    if not data.is_dir():
        raise DpgateError(f"there is no folder {data}")
    check_most_rows(declared)
    try:
        found = check_delivery(
            data,
            declared,
            max_file_bytes=MAX_FILE_BYTES,
            is_finished=False,
            decisions=Decisions(MADE_UP),
        )
        if compares and found.checksums is not None:
            found.verify()
        return Checked(len(found.people), found.cut(declared))
    except ImportRefused as refused:
        detail = f"{refused.problem}." + (f" ({refused.detail})" if refused.detail else "")
        raise InvalidRequest(refused.place, detail) from None


def about_size(declared: Declaration, people: int) -> Iterator[str]:
    """What the nominal size costs that is not the number of people, for the rights holder alone."""
    slots = declared.nominal_size
    named = f"nominal_size is {slots:,} and there are {people:,} people"
    if people < slots:
        share = f"{(slots - people) / slots:.1%}"
        yield (
            f"{named}: {share} of the slots stay free, and a mean of blocks of one ends {share} of the way "
            f"to the middle of its bounds. {_NEARER}"
        )
    elif people > slots:
        yield (
            f"{named}: {(people - slots) / people:.1%} of them are left out of a release, at random, and "
            f"noise is {people / slots - 1:.1%} wider than it could be. {_NEARER}"
        )


def about_cuts(declared: Declaration, cut: Mapping[str, int]) -> Iterator[str]:
    """What an import will keep less of, in words for the rights holder alone."""
    for place, people in cut.items():
        what = "bytes of files than most_bytes" if place == "files" else f"rows in {place} than most_rows"
        who = "1 person has" if people == 1 else f"{people:,} people have"
        yield f"{who} more {what} says; an import keeps as much as it says, by lot."
    if declared.policy.timing.mode == "padded" and unstated(declared):
        yield size_sentence(declared)
