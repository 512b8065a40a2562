"""A batch of runs: its volumes, and the keeper that fills and reads them."""

import secrets
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress

from worker.sandbox.parts import read_if_small
from worker.sandbox.protocol import SandboxUnavailable, SlotOrder
from worker.view import View

from .asking import Asking
from .create_body import create_body
from .engine import CannotStart, Engine
from .keeper import keeper_part
from .kept_parts import KeptParts
from .settings import DockerSettings
from .sizes import is_composed
from .volumes import Room, Volume, parts_volume, payload_volumes


class Batch:
    """Everything that `settings.batch` runs of one slot need beside their own containers. Close it.

    The volume of `kept` may be an earlier batch's: it lives as long as some keeper that has it mounted.
    """

    def __init__(
        self,
        engine: Engine,
        settings: DockerSettings,
        order: SlotOrder,
        kept: KeptParts,
        *,
        user: int,
        environment: Mapping[str, str],
        core: str,
        labels: Mapping[str, str],
    ) -> None:
        self._engine, self._order, self._kept = engine, order, kept
        self._left, self._name = list(reversed(range(settings.batch))), secrets.token_hex(16)
        self._settings = settings
        part = keeper_part(
            settings,
            batch=self._name,
            parts=kept.volume,
            runs=settings.batch,
            out=Room(order.limits.output_bytes, order.limits.inodes, user),
            environment=environment,
            core=core,
            labels=labels,
        )
        self._volumes = part.volumes
        with ExitStack() as undo:
            undo.callback(self._remove_volumes)
            self._container = engine.create(create_body(part))
            undo.callback(engine.remove, self._container)
            stream = engine.attach(self._container, stdin=True)
            undo.callback(stream.close)
            self._keeper = Asking(stream, largest=settings.block_bytes)
            self._begin()
            self._undo = undo.pop_all()

    @property
    def is_used_up(self) -> bool:
        return not self._left

    def next_run(self) -> int:
        """Of each run's volumes, this is the only use."""
        return self._left.pop()

    def mounts(self, run: int) -> tuple[Volume, ...]:
        return payload_volumes(self._name, run)

    def put(
        self, run: int, block: Mapping[str, bytes], before: Mapping[str, bytes], *, go_on: Callable[[], None]
    ) -> None:
        """The run's input and the begin of its output. `go_on` is asked between pieces, and may raise."""
        if isinstance(block, View) and is_composed(block, self._settings):
            self._put_parts(run, block, go_on)
            block = block.files
        self._keeper.put_block(run, read_if_small(block))
        if before:
            self._keeper.put_before(run, before)

    def collect(self, run: int) -> dict[str, bytes] | None:
        """The ordered outputs; None if there is something that cannot be one. After the run's death."""
        return self._keeper.collect(run, self._order)

    def clear(self, run: int) -> None:
        """Give back what input and outputs hold of memory."""
        self._keeper.clear(run)

    def close(self) -> None:
        self._undo.close()

    def _begin(self) -> None:
        try:
            self._engine.start(self._container)
        except CannotStart as error:
            raise SandboxUnavailable(f"the keeper's image cannot run Python: {error}") from error
        self._keeper.greet()
        self._keeper.put_code(self._order.code)

    def _put_parts(self, run: int, view: View, go_on: Callable[[], None]) -> None:
        """A request for each: then no answer takes long, however large the view."""
        steps = self._kept.steps_for(view)
        for number in steps.drop:
            self._keeper.drop(number)
        for number, part in steps.keep:
            go_on()
            self._keeper.keep(number, part)
        for number, part in steps.place:
            go_on()
            self._keeper.place(run, number, part)

    def _remove_volumes(self) -> None:
        """The one with the parts goes with the last keeper that has it."""
        lasting = parts_volume(self._kept.volume)
        for volume in self._volumes:
            if volume.name != lasting:
                self._engine.remove_volume(volume.name)


def close_quietly(batch: Batch) -> None:
    """After a failure: what cannot be removed now, the next reaper removes."""
    with suppress(SandboxUnavailable):
        batch.close()
