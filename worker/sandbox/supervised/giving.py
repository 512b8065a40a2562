"""What a run is given, in the form in which its supervisor takes it."""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worker.sandbox.memory_file import memory_file, packed
from worker.sandbox.parts import Bound, Parts, skeleton
from worker.sandbox.scratch import Scratch, remove_tree
from worker.view import View

from .argv import BLOCKS, ROOTS


@dataclass(frozen=True)
class Given:
    """Memory files, by descriptor; -1: none. Without a block, `folder` is the name of a staged one."""

    block: int = -1
    folder: str | None = None
    before: int = -1
    parts: int = -1

    def request(self) -> tuple[dict[str, Any], list[int]]:
        """The message, and the descriptors in the order in which the supervisor takes them."""
        request = {"view": self.folder, "before": self.before >= 0, "parts": self.parts >= 0}
        return request, [fd for fd in (self.block, self.before, self.parts) if fd >= 0]


class Giver:
    """What all runs of a slot share: where their blocks are staged, and for whom."""

    def __init__(self, scratch: Scratch, blocks: Path, parts: Parts, *, user: int) -> None:
        self._scratch, self._blocks, self._parts, self._user = scratch, blocks, parts, user

    @contextmanager
    def given(
        self, block: Mapping[str, bytes], before: Mapping[str, bytes], *, largest_copy: int
    ) -> Iterator[Given]:
        """A plain block above `largest_copy` bytes is staged; a View is composed of its parts."""
        with ExitStack() as held:
            descriptor = held.enter_context(packed(before)) if before else -1
            if isinstance(block, View) and block.parts:
                yield self._composed(block, descriptor, held, largest_copy)
            elif sum(map(len, block.values())) > largest_copy:
                folder = self._scratch.stage(block, owner=self._user, within=self._blocks)
                held.callback(remove_tree, folder)
                yield Given(folder=folder.name, before=descriptor)
            else:
                yield Given(held.enter_context(packed(block)), before=descriptor)

    def _composed(self, view: View, before: int, held: ExitStack, largest_copy: int) -> Given:
        mounts = [self._mount(bound) for bound in self._parts.ready(view.parts)]
        parts = held.enter_context(memory_file(json.dumps(mounts).encode()))
        if sum(map(len, view.files.values())) <= largest_copy:
            return Given(held.enter_context(packed(view.files)), before=before, parts=parts)
        folder = skeleton(view, self._scratch, owner=self._user, within=self._blocks)
        held.callback(remove_tree, folder)
        return Given(folder=folder.name, before=before, parts=parts)

    def _mount(self, bound: Bound) -> tuple[str, str, bool]:
        """From where in the supervisor's view, to which place of the input, and whether it is a file."""
        if bound.root is None:
            source = f"{BLOCKS}/{bound.source.relative_to(self._blocks)}"
        else:
            source = f"{ROOTS}/{bound.root}/{bound.source.relative_to(self._parts.roots[bound.root])}"
        return source, bound.place, bound.is_file
