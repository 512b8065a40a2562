"""What the participant level of a rehearsal wrote, in memory, until the rehearsal ends."""

from __future__ import annotations

from domain.errors import PipelineError
from worker.levels import Tree

MAX_BYTES = 256 * 2**20


class PassingOutputs:
    """Outcomes by name; together they take a bounded part of the worker's memory."""

    def __init__(self) -> None:
        self._kept: dict[bytes, Tree | None] = {}
        self._size = 0

    def status(self, name: bytes) -> bool | None:
        return None if name not in self._kept else self._kept[name] is not None

    def size(self, name: bytes) -> int:
        return sum(map(len, (self._kept[name] or {}).values()))

    def read(self, name: bytes) -> Tree:
        return self._kept[name] or {}

    def keep(self, name: bytes, tree: Tree | None) -> None:
        """Raises PipelineError where all outcomes together become too large."""
        if name in self._kept:
            return
        self._size += sum(map(len, (tree or {}).values()))
        if self._size > MAX_BYTES:
            raise PipelineError(
                f"the participant level wrote more than {MAX_BYTES >> 20} MiB for all people of the twin "
                "together; write less, or run on your own machine: dpgate run"
            )
        self._kept[name] = tree
