"""Whether a scrambled folder may still be used, and whether it is as it was handed over."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from companions.scramble.agreement import NOTE, RECORD, Record
from companions.siesta.tree import read_tree
from domain.model import parse
from dpgate.errors import DpgateError

MOST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Verdict:
    """`problems` are sentences about files; none are about values."""

    record: Record
    is_expired: bool
    problems: tuple[str, ...]

    @property
    def is_usable(self) -> bool:
        return not self.is_expired and not self.problems


def verify(folder: Path, *, today: date) -> Verdict:
    """Raises DpgateError for a folder without a record, InvalidRequest for a record that is none."""
    place = folder / RECORD
    if not place.is_file() or place.stat().st_size > MOST_BYTES:
        raise DpgateError(f"{folder} is no scrambled folder: it has no {RECORD}")
    try:
        content = json.loads(place.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise DpgateError(f"{place} is not JSON; have the folder handed over again") from None
    record = parse(Record, content, within=RECORD)
    there = read_tree(folder).files
    listed = {one.path: one.sha256 for one in record.files}
    problems = [f"{path} is gone" for path in sorted(set(listed) - set(there))]
    problems += [f"{path} was not handed over" for path in sorted(set(there) - set(listed) - {RECORD})]
    problems += [
        f"{path} was changed"
        for path in sorted(set(listed) & set(there))
        if hashlib.sha256(there[path].read_bytes()).hexdigest() != listed[path]
    ]
    if NOTE not in listed:
        problems.append(f"the record does not list {NOTE}")
    return Verdict(record, record.agreement.expires < today, tuple(problems))
