"""Read what the in-sandbox runner sent. A payload could in principle have taken the runner over, so this is
hostile input: fixed layout, every length checked against what was ordered, nothing left over, or the run is
broken.

Layout: HELLO, outcome (1 byte), level (1), exit code (2, signed); if completed, the number of outputs (4) and
each as its length (4) and bytes, in the order in which they were declared; or, of an order for a tree, what
sandbox_images/output_tree.py frames. Integers are big-endian.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sandbox_images.output_tree import DEEPEST, NotPlain, check_length, check_name

from .protocol import Cause, Limits, SlotOrder

HELLO = b"dpgate1\n"
_CAUSES = (Cause.COMPLETED, Cause.EXIT, Cause.SIGNAL, Cause.START, Cause.OUTPUT)  # by outcome byte


class BrokenFrame(Exception):
    """Not what our runner sends."""


@dataclass(frozen=True)
class Frame:
    cause: Cause
    level: str
    exit_code: int
    outputs: Mapping[str, bytes] | None


def longest_frame(order: SlotOrder) -> int:
    """No honest message is longer, so the worker need not hold more."""
    if order.tree:
        return len(HELLO) + 4 + longest_tree(order.limits)
    return len(HELLO) + 4 + 4 + len(order.outputs) * (4 + order.limits.file_bytes)


def longest_tree(limits: Limits) -> int:
    return 4 + limits.output_bytes + limits.inodes * (4 + 8)


def parse_tree(content: bytes, limits: Limits) -> dict[str, bytes]:
    """The files of a framed tree, in the order of their paths. BrokenFrame unless output_tree.py could have
    made it under these limits.
    """
    reader = _Reader(content)
    files = _tree(reader, limits)
    reader.check_end()
    return files


def parse_frame(message: bytes, order: SlotOrder) -> Frame:
    reader = _Reader(message)
    if reader.take(len(HELLO)) != HELLO:
        raise BrokenFrame
    outcome, level = reader.take(1)[0], reader.take(1)[0]
    exit_code = int.from_bytes(reader.take(2), "big", signed=True)
    if outcome >= len(_CAUSES) or level >= len(order.levels):
        raise BrokenFrame
    completed = _CAUSES[outcome] is Cause.COMPLETED
    outputs = None
    if completed:
        outputs = _tree(reader, order.limits) if order.tree else _outputs(reader, order)
    reader.check_end()
    return Frame(_CAUSES[outcome], order.levels[level], exit_code, outputs)


def _outputs(reader: "_Reader", order: SlotOrder) -> dict[str, bytes]:
    if reader.number() != len(order.outputs):
        raise BrokenFrame
    outputs = {}
    for path in order.outputs:
        length = reader.number()
        if length > order.limits.file_bytes:
            raise BrokenFrame
        outputs[path] = reader.take(length)
    return outputs


def _tree(reader: "_Reader", limits: Limits) -> dict[str, bytes]:
    count, left, files = reader.number(), limits.output_bytes, dict[str, bytes]()
    if count > limits.inodes:
        raise BrokenFrame
    for _ in range(count):
        name = reader.take(reader.number(most=left))
        content = reader.take(reader.number(8, most=left - len(name)))
        left -= len(name) + len(content)
        path = _path(name)
        if files and path <= next(reversed(files)):  # neither twice nor in another order than ours
            raise BrokenFrame
        files[path] = content
    if any(folder in files for path in files for folder in _folders(path)):
        raise BrokenFrame
    return files


def _path(name: bytes) -> str:
    try:
        path = name.decode()
        steps = path.split("/")
        for step in steps:
            check_name(step)
        check_length(path)
    except (UnicodeDecodeError, NotPlain):
        raise BrokenFrame from None
    if len(steps) > DEEPEST:
        raise BrokenFrame
    return path


def _folders(path: str) -> list[str]:
    return [path[:position] for position, letter in enumerate(path) if letter == "/"]


class _Reader:
    def __init__(self, message: bytes) -> None:
        self._message, self._position = message, 0

    def take(self, count: int) -> bytes:
        piece = self._message[self._position : self._position + count]
        if len(piece) != count:
            raise BrokenFrame
        self._position += count
        return piece

    def number(self, size: int = 4, *, most: int | None = None) -> int:
        number = int.from_bytes(self.take(size), "big")
        if most is not None and number > most:
            raise BrokenFrame
        return number

    def check_end(self) -> None:
        if self._position != len(self._message):
            raise BrokenFrame
