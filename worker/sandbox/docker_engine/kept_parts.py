"""Which parts of views a slot's keeper holds, and under what number. Numbers only: the keeper has the bytes.

A part travels to the daemon when a view first asks for it, and stays as long as there is room, through all
batches of the slot. Those that no view has asked for lately go first.
"""

import secrets
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from worker.sandbox.capacity import FILE_OVERHEAD, room_of_parts
from worker.view import Part, View


@dataclass(frozen=True)
class Steps:
    """What the keeper must do, in this order, before the parts of a view lie in an input."""

    drop: list[int] = field(default_factory=list)
    keep: list[tuple[int, Part]] = field(default_factory=list)
    place: list[tuple[int, Part]] = field(default_factory=list)


class KeptParts:
    """Of one slot. After a failure in between, forget it: what the keeper holds is then unknown."""

    def __init__(self, most_bytes: int) -> None:
        self.volume = secrets.token_hex(16)  # in the name of the volume that holds them
        self._most_bytes, self._next = most_bytes, 0
        self._kept: OrderedDict[str, tuple[int, int]] = (
            OrderedDict()
        )  # by key: number, room; least wanted first

    def hold(self, view: View) -> bool:
        """Whether there is room for it, beside a copy of itself: no earlier view decides."""
        return _placed(view.parts) + len(view.files) * FILE_OVERHEAD <= self._most_bytes

    def steps_for(self, view: View) -> Steps:
        """Of a view that they `hold`."""
        steps, wanted = Steps(), {part.key for part in view.parts}
        for part in view.parts:
            if part.key not in self._kept:
                room = room_of_parts([part])
                steps.drop.extend(self._make_room(room, wanted))
                self._kept[part.key] = self._next, room
                steps.keep.append((self._next, part))
                self._next += 1
            self._kept.move_to_end(part.key)
            steps.place.append((self._kept[part.key][0], part))
        return steps

    def _make_room(self, room: int, wanted: set[str]) -> list[int]:
        dropped = []
        for key in [key for key in self._kept if key not in wanted]:
            if sum(each for _, each in self._kept.values()) + room <= self._most_bytes:
                break
            dropped.append(self._kept.pop(key)[0])
        return dropped


def _placed(parts: Sequence[Part]) -> int:
    """In an input two equal parts lie at two places."""
    return sum(room_of_parts([part]) for part in parts)
