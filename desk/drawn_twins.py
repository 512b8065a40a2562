"""Twins as archives: drawn one at a time, within a public limit of size, and kept for those who ask again.

Drawing looks at the declaration and at released counts, never at data. It takes the gateway one core for a
while; so one thread draws, a few wait for it, each for another user and not for long, and all others are told
at once to come back: threads that wait are missing to everybody else. Who asks for a twin that is kept waits
for nobody.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

from domain.dataset import Declaration
from domain.errors import InvalidRequest, TooLarge, TooMany
from domain.twin.basis import BLANK, TwinBasis
from domain.twin.counts import TableCounts
from store.kept import Kept
from twins.drawn import MAX_BYTES, size_of_twin
from twins.drawn.draw import draw_twin

WAIT_S = 60
MOST_WAITING = 4
_one_at_a_time = Lock()
_waiting: set[str] = set()
_counting = Lock()


@dataclass(frozen=True)
class Drawing:
    """One twin: equal drawings give equal bytes. The counts follow from the basis."""

    declaration: Declaration
    basis: TwinBasis = BLANK
    counts: Mapping[str, TableCounts] = field(default_factory=dict, compare=False)
    seed: int = 0
    people: int | None = None


_kept: Kept[Drawing, bytes] = Kept(4)


def zipped_twin(drawing: Drawing, *, user: str) -> bytes:
    """The twin as a zip archive. Raises TooLarge for one that is too much to make here, TooMany where others
    are being made for too long, enough people wait, or this user waits for another one."""
    check_size(drawing)
    if (kept := _kept.find(drawing)) is not None:
        return kept
    with _turn(user):
        # somebody may have asked for the same just before
        return _kept.find(drawing) or _kept.keep(drawing, _zipped(drawing))


@contextmanager
def _turn(user: str) -> Iterator[None]:
    """To draw alone."""
    if not _one_at_a_time.acquire(blocking=False):
        _wait(user)
    try:
        yield
    finally:
        _one_at_a_time.release()


def _wait(user: str) -> None:
    """Until the turn is this user's."""
    with _counting:
        if user in _waiting:
            raise _busy("you wait for a twin already.")
        if len(_waiting) >= MOST_WAITING:
            raise _busy("many twins are being waited for.")
        _waiting.add(user)
    try:
        if not _one_at_a_time.acquire(timeout=WAIT_S):
            raise _busy("other twins are being made.")
    finally:
        with _counting:
            _waiting.discard(user)


def _busy(problem: str) -> TooMany:
    return TooMany("twin", problem, "Try again soon.", retry_after_s=WAIT_S)


def check_size(drawing: Drawing) -> None:
    if drawing.people is not None and drawing.people < 1:
        raise InvalidRequest("people", "must be at least 1.", "Leave it out for the declared number.")
    size = size_of_twin(drawing.declaration, drawing.people)
    if size > MAX_BYTES:
        raise TooLarge(
            "twin",
            f"the twin would take about {size >> 20} MiB; at most {MAX_BYTES >> 20} MiB are made here.",
            "Ask for fewer people, or ask the rights holder for a part of it.",
        )


def _zipped(drawing: Drawing) -> bytes:
    content = io.BytesIO()
    files = draw_twin(
        drawing.declaration, drawing.basis, drawing.counts, seed=drawing.seed, people=drawing.people
    )
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in sorted(files.items()):
            # a fixed time, so that equal drawings give equal bytes
            archive.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), text)
    return content.getvalue()
