"""Inputs of a slot's runs: a small one by a memory file, a large one staged or composed of its parts."""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from worker.sandbox.core.given import BLOCKS, ROOTS, VIEW_ABOVE_BYTES, Given
from worker.sandbox.core.memory_file import memory_file, packed
from worker.sandbox.core.scratch import Scratch, check_relative_path, remove_tree
from worker.sandbox.parts import Bound, Parts, read_if_small, skeleton
from worker.view import View


class ViewGiver:
    """What all runs of a slot share: where their inputs are staged, and for whom."""

    def __init__(self, scratch: Scratch, blocks: Path, parts: Parts, *, user: int) -> None:
        self._scratch, self._blocks, self._parts, self._user = scratch, blocks, parts, user

    @property
    def roots(self) -> tuple[Path, ...]:
        return self._parts.roots

    def takes(self, block: Mapping[str, bytes]) -> bool:
        return self._parts.hold(block)

    def checked(self, block: Mapping[str, bytes]) -> Mapping[str, bytes]:
        block = read_if_small(block)
        for name in () if isinstance(block, View) else block:
            check_relative_path(name)
        return block

    @contextmanager
    def given(self, block: Mapping[str, bytes], before: Mapping[str, bytes]) -> Iterator[Given]:
        """A large plain block is staged; a View is composed of its parts."""
        with ExitStack() as held:
            descriptor = held.enter_context(packed(before)) if before else -1
            if isinstance(block, View) and block.parts:
                yield self._composed(block, descriptor, held)
            elif sum(map(len, block.values())) > VIEW_ABOVE_BYTES:
                folder = self._scratch.stage(block, owner=self._user, within=self._blocks)
                held.callback(remove_tree, folder)
                yield Given(folder=folder.name, before=descriptor)
            else:
                yield Given(held.enter_context(packed(block)), before=descriptor)

    def _composed(self, view: View, before: int, held: ExitStack) -> Given:
        mounts = [self._mount(bound) for bound in self._parts.ready(view.parts)]
        parts = held.enter_context(memory_file(json.dumps(mounts).encode()))
        if sum(map(len, view.files.values())) <= VIEW_ABOVE_BYTES:
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
