"""A batch of runs: its volumes, and the keeper that fills and reads them. The worker's side of keeper.py.

What a keeper sends is the word of trusted code, but it carries what a run wrote, so every length is checked
against what was asked for.
"""

import secrets
from collections.abc import Mapping
from contextlib import ExitStack, suppress

from worker.sandbox.protocol import SandboxUnavailable, SlotOrder
from worker.sandbox.scratch import check_relative_path

from .create_body import create_body
from .engine import CannotStart, Engine
from .keeper import keeper_part
from .settings import DockerSettings
from .volumes import Room, Volume, keeper_volumes, payload_volumes

HELLO = b"dpgate keeper 1\n"
_CODE, _BLOCK, _COLLECT, _CLEAR = b"C", b"B", b"G", b"D"
_DONE, _NO_OUTPUT = 0, 1


class Batch:
    """Everything that `settings.batch` runs of one slot need beside their own containers. Close it."""

    def __init__(
        self,
        engine: Engine,
        settings: DockerSettings,
        order: SlotOrder,
        *,
        user: int,
        environment: Mapping[str, str],
        core: str,
        labels: Mapping[str, str],
    ) -> None:
        self._engine, self._order, self._left = engine, order, list(reversed(range(settings.batch)))
        self._name, self._largest = secrets.token_hex(16), settings.block_bytes
        out = Room(order.limits.output_bytes, order.limits.inodes, user)
        self._volumes = keeper_volumes(self._name, settings.batch, input_bytes=self._largest, out=out)
        part = keeper_part(
            settings, user=user, volumes=self._volumes, environment=environment, core=core, labels=labels
        )
        with ExitStack() as undo:
            undo.callback(self._remove_volumes)
            self._container = engine.create(create_body(part))
            undo.callback(engine.remove, self._container)
            self._stream = engine.attach(self._container, stdin=True)
            undo.callback(self._stream.close)
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

    def put_block(self, run: int, block: Mapping[str, bytes]) -> None:
        self._put(_BLOCK, run, block)

    def collect(self, run: int) -> dict[str, bytes] | None:
        """The declared outputs; None if one is missing, too large or not plain. After the run's death."""
        order = self._order
        wanted = b"".join(_item(path.encode()) for path in order.outputs)
        self._ask(_COLLECT, run, _number(order.limits.file_bytes, 8) + wanted)
        longest = len(order.outputs) * (4 + order.limits.file_bytes)
        status, content = self._answer(longest)
        return _outputs(content, order) if status == _DONE else None

    def clear(self, run: int) -> None:
        """Give back what block and outputs hold of memory."""
        self._ask(_CLEAR, run, b"")
        self._answer(0)

    def close(self) -> None:
        self._undo.close()

    def _begin(self) -> None:
        try:
            self._engine.start(self._container)
        except CannotStart as error:
            raise SandboxUnavailable(f"the keeper's image cannot run Python: {error}") from error
        if self._stream.receive(len(HELLO)) != HELLO:
            raise SandboxUnavailable("the keeper's container does not run our keeper")
        self._put(_CODE, 0, self._order.code)

    def _put(self, operation: bytes, run: int, files: Mapping[str, bytes]) -> None:
        for path in files:
            check_relative_path(path)
        tree = b"".join(_item(path.encode()) + _item(content) for path, content in files.items())
        if len(tree) > self._largest:
            raise SandboxUnavailable(
                f"{len(tree)} bytes do not fit into the {self._largest} of block_bytes: raise that setting"
            )
        self._ask(operation, run, tree)
        self._answer(0)

    def _ask(self, operation: bytes, run: int, content: bytes) -> None:
        self._stream.send(operation + _number(run, 4) + _number(len(content), 8))
        self._stream.send(content)

    def _answer(self, longest: int) -> tuple[int, bytes]:
        status = self._stream.receive(1)[0]
        length = int.from_bytes(self._stream.receive(8), "big")
        if status not in (_DONE, _NO_OUTPUT) or length > longest:
            raise SandboxUnavailable("a keeper broke its protocol")
        return status, self._stream.receive(length)

    def _remove_volumes(self) -> None:
        for volume in self._volumes:
            self._engine.remove_volume(volume.name)


def _outputs(content: bytes, order: SlotOrder) -> dict[str, bytes]:
    outputs, position = {}, 0
    for path in order.outputs:
        end = position + 4 + int.from_bytes(content[position : position + 4], "big")
        outputs[path] = content[position + 4 : end]
        position = end
    if position != len(content) or any(len(each) > order.limits.file_bytes for each in outputs.values()):
        raise SandboxUnavailable("a keeper broke its protocol")
    return outputs


def _item(content: bytes) -> bytes:
    return _number(len(content), 4) + content


def _number(value: int, size: int) -> bytes:
    return value.to_bytes(size, "big")


def close_quietly(batch: Batch) -> None:
    """After a failure: what cannot be removed now, the next reaper removes."""
    with suppress(SandboxUnavailable):
        batch.close()
