"""A scrambled folder as a rights holder makes it, with its leak report beside it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from companions.scramble.agreement import agree
from companions.scramble.folder import Folder, read_folder
from companions.scramble.methods import Wishes
from companions.scramble.run import Order, scramble
from domain.scrambled import Offer
from domain.scrambled_archive import pack

ORIGINAL = "participant_id\tage\tsex\n" + "".join(
    f"sub-{number:03d}\t{20 + number}\t{'mf'[number % 2]}\n" for number in range(40)
)
# one person alone has it, and it is no number of anything else
RARE = "59"


def today() -> date:
    return datetime.now(UTC).date()


def scrambled_folder(place: Path, name: str = "scrambled", *, days: int = 30, **changes: Any) -> Path:
    """A new one below `place`, whose last day is so many days from now."""
    source = place / f"{name}-original"
    source.mkdir(parents=True)
    (source / "participants.tsv").write_text(ORIGINAL)
    until = (today() + timedelta(days=days)).isoformat()
    signed = agree("A. Holder", "DTA 12", until, today=min(today(), date.fromisoformat(until)))
    order = Order(source, place / name, Wishes(**{"method": "permute", **changes}), signed)
    scramble(order, today=min(today(), signed.expires))
    return place / name


def offered(place: Path, name: str = "scrambled", **changes: Any) -> Folder:
    """The same, as it is offered and sent."""
    return read_folder(scrambled_folder(place, name, **changes), None, today=today())


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def packed(folder: Path, **more: bytes) -> bytes:
    """Its archive, with some files more or others."""
    return pack({**files_of(folder), **more})


def given_offer(**changes: Any) -> Offer:
    """Of a folder that nobody has; two digests that differ."""
    fields = {
        "record": "1" * 64,
        "leak_report": "2" * 64,
        "method": "permute",
        "made": "2026-03-01",
        "agreement": {"signed_by": "A. Holder", "agreement": "DTA 12", "expires": "2026-04-01"},
        "parts": 1,
        **changes,
    }
    return Offer.model_validate(fields)
