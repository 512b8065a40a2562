"""What is proposed for a file, and what most people's files say of it.

Of what most headers say nothing goes on unless FEW or more agree; a word of theirs never does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from domain.errors import PipelineError
from dpgate.tree_spec.places import FEW, Group

MOST_LOOKED_AT = 500
LineT = TypeVar("LineT", bound=Hashable)


@dataclass(frozen=True)
class Proposal:
    """Fields for a person file beside its path; `notes` are for the rights holder alone."""

    fields: Mapping[str, Any]
    notes: tuple[str, ...] = ()


def agreed(group: Group, read: Callable[[str, Path], LineT]) -> tuple[LineT | None, str]:
    """What most files say, if FEW or more say the same; and a sentence on the others."""
    found: Counter[LineT] = Counter()
    unread: list[str] = []
    for path in list(group.of.values())[:MOST_LOOKED_AT]:
        try:
            found[read(path.name, path)] += 1
        except (PipelineError, ValueError) as error:
            # only what the readers of headers say themselves is without a word of the file
            unread.append(f": {error}" if type(error) is ValueError else "")
    ranked = found.most_common(1)
    failed = f"{len(unread)} headers could not be read{unread[0]}" if unread else ""
    if not ranked or ranked[0][1] < FEW:
        nothing = f"no {FEW} people have the same readable header: declare it by hand"
        return None, "; ".join(filter(None, (nothing, failed)))
    most, times = ranked[0]
    others = sum(found.values()) - times
    said = f"{others} people have another header" if others else ""
    return most, "; ".join(filter(None, (said, failed)))


def head_of(path: Path, size: int) -> bytes:
    """The first bytes."""
    with path.open("rb") as file:
        return file.read(size)
