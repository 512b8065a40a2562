"""Ask a keeper: the worker's side of sandbox_images/keeper/pipes.py.

What a keeper sends is the word of trusted code, but it carries what a run wrote, so every length is checked
against what was asked for.
"""

from collections.abc import Mapping

from worker.sandbox.core.scratch import check_relative_path
from worker.sandbox.docker_engine.frame import BrokenFrame, longest_tree, parse_tree
from worker.sandbox.protocol import KIB, MIB, Limits, SandboxUnavailable, SlotOrder
from worker.view import Part

from .stream import Stream

HELLO = b"dpgate keeper 2\n"
_CODE, _BLOCK, _BEFORE = b"C", b"B", b"O"
_KEEP, _KEPT, _PLACE, _DROP = b"K", b"F", b"P", b"X"
_COLLECT, _TREE, _CLEAR = b"G", b"T", b"D"
_DONE, _NO_OUTPUT = 0, 1
_FOLDER, _FILE = b"d", b"f"
_PIECE = 512 * KIB
_ONLY = "file"  # what the keeper calls a part that is one file


class Asking:
    """`largest`: the bytes of one list of files. Use it from one thread."""

    def __init__(self, stream: Stream, *, largest: int) -> None:
        self._stream, self._largest = stream, largest

    def greet(self) -> None:
        if self._stream.receive(len(HELLO)) != HELLO:
            raise SandboxUnavailable("the keeper's container does not run our keeper")

    # --- before a run

    def put_code(self, files: Mapping[str, bytes]) -> None:
        self._put(_CODE, 0, files)

    def put_block(self, run: int, files: Mapping[str, bytes]) -> None:
        self._put(_BLOCK, run, files)

    def put_before(self, run: int, files: Mapping[str, bytes]) -> None:
        """They fit; see worker/sandbox/core/orders.py."""
        self._send_files(_BEFORE, run, files)

    def keep(self, number: int, part: Part) -> None:
        """Under a number that no part has."""
        left = part.size
        for name, opener in part.files.items():
            path = _item(_checked(name or _ONLY))
            try:
                with opener() as file:
                    piece = file.read(min(_PIECE, left + 1))
                    while True:  # an empty file too is told of
                        left -= len(piece)
                        if left < 0:
                            raise SandboxUnavailable("a part of a view is larger than it says")
                        self._ask(_KEEP, number, path + piece)
                        if not (piece := file.read(min(_PIECE, left + 1))):
                            break
            except OSError as error:  # its own text would name a file, and that may hold a person's id
                raise SandboxUnavailable(f"a part of a view cannot be read: {error.strerror}") from None
        self._ask(_KEPT, number, b"")
        self._answer(0)

    def place(self, run: int, number: int, part: Part) -> None:
        self._ask(
            _PLACE, run, _number(number, 4) + (_FILE if part.is_file else _FOLDER) + _checked(part.place)
        )
        self._answer(0)

    def drop(self, number: int) -> None:
        self._ask(_DROP, number, b"")
        self._answer(0)

    # --- after a run

    def collect(self, run: int, order: SlotOrder) -> dict[str, bytes] | None:
        """None if an output is missing, too large or not plain. After the run's death."""
        return self._tree(run, order.limits) if order.tree else self._named(run, order)

    def clear(self, run: int) -> None:
        self._ask(_CLEAR, run, b"")
        self._answer(0)

    def _named(self, run: int, order: SlotOrder) -> dict[str, bytes] | None:
        wanted = b"".join(_item(path.encode()) for path in order.outputs)
        self._ask(_COLLECT, run, _number(order.limits.file_bytes, 8) + wanted)
        status, content = self._answer(len(order.outputs) * (4 + order.limits.file_bytes))
        return _outputs(content, order) if status == _DONE else None

    def _tree(self, run: int, limits: Limits) -> dict[str, bytes] | None:
        self._ask(_TREE, run, _number(limits.output_bytes, 8) + _number(limits.inodes, 8))
        status, content = self._answer(longest_tree(limits))
        if status != _DONE:
            return None
        try:
            return parse_tree(content, limits)
        except BrokenFrame:
            raise SandboxUnavailable("a keeper broke its protocol") from None

    def _put(self, operation: bytes, run: int, files: Mapping[str, bytes]) -> None:
        if _length(files) > self._largest:  # of code: that a block is not, the slot has seen
            raise SandboxUnavailable(
                f"what is sent at once does not fit into the {self._largest // MIB} MiB of block_bytes: "
                "raise DPGATE_DOCKER_BLOCK_MIB, and --block-mib of the proxy"
            )
        self._send_files(operation, run, files)

    def _send_files(self, operation: bytes, run: int, files: Mapping[str, bytes]) -> None:
        self._stream.send(_head(operation, run, _length(files)))
        waiting = bytearray()
        for path, content in files.items():
            waiting += _item(_checked(path)) + _number(len(content), 4)
            if len(waiting) + len(content) > _PIECE:
                self._stream.send(bytes(waiting))
                self._stream.send(content)
                waiting.clear()
            else:
                waiting += content
        self._stream.send(bytes(waiting))
        self._answer(0)

    def _ask(self, operation: bytes, number: int, content: bytes) -> None:
        self._stream.send(_head(operation, number, len(content)) + content)

    def _answer(self, longest: int) -> tuple[int, bytes]:
        status = self._stream.receive(1)[0]
        length = int.from_bytes(self._stream.receive(8), "big")
        if status not in (_DONE, _NO_OUTPUT) or length > longest:
            raise SandboxUnavailable("a keeper broke its protocol")
        return status, self._stream.receive(length)


def _outputs(content: bytes, order: SlotOrder) -> dict[str, bytes]:
    outputs, position = {}, 0
    for path in order.outputs:
        end = position + 4 + int.from_bytes(content[position : position + 4], "big")
        outputs[path] = content[position + 4 : end]
        position = end
    if position != len(content) or any(len(each) > order.limits.file_bytes for each in outputs.values()):
        raise SandboxUnavailable("a keeper broke its protocol")
    return outputs


def _length(files: Mapping[str, bytes]) -> int:
    return sum(8 + len(path.encode()) + len(content) for path, content in files.items())


def _head(operation: bytes, number: int, length: int) -> bytes:
    return operation + _number(number, 4) + _number(length, 8)


def _checked(path: str) -> bytes:
    check_relative_path(path)
    return path.encode()


def _item(content: bytes) -> bytes:
    return _number(len(content), 4) + content


def _number(value: int, size: int) -> bytes:
    return value.to_bytes(size, "big")
