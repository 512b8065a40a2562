"""Where a pipeline runs on a twin: a sandbox, and what to order of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from worker.order import for_participants
from worker.sandbox.protocol import Sandbox, Slot, SlotOrder


@dataclass(frozen=True)
class TwinSlots:
    """One pipeline's order, in a slot of this number."""

    sandbox: Sandbox
    order: SlotOrder
    slot: int = 0
    images_with: Callable[[str], Sequence[str]] = lambda _name: ()
    """By the name of a library or a command: what else its author could name."""

    def for_groups(self) -> Slot:
        return self.sandbox.open_slot(self.order, slot=self.slot)

    def for_participants(self) -> Slot:
        return self.sandbox.open_slot(for_participants(self.order), slot=self.slot)
