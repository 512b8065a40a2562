"""Read what the in-sandbox runner sent. A payload could in principle have taken the runner over, so this is
hostile input: fixed layout, every length checked against what was ordered, nothing left over, or the run is
broken.

Layout: HELLO, outcome (1 byte), level (1), exit code (2, signed); if completed, the number of outputs (4) and
each as its length (4) and bytes, in the order in which they were declared. Integers are big-endian.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from .protocol import Cause, SlotOrder

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
    return len(HELLO) + 4 + 4 + len(order.outputs) * (4 + order.limits.file_bytes)


def parse_frame(message: bytes, order: SlotOrder) -> Frame:
    reader = _Reader(message)
    if reader.take(len(HELLO)) != HELLO:
        raise BrokenFrame
    outcome, level = reader.take(1)[0], reader.take(1)[0]
    exit_code = int.from_bytes(reader.take(2), "big", signed=True)
    if outcome >= len(_CAUSES) or level >= len(order.levels):
        raise BrokenFrame
    completed = _CAUSES[outcome] is Cause.COMPLETED
    outputs = _outputs(reader, order) if completed else None
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


class _Reader:
    def __init__(self, message: bytes) -> None:
        self._message, self._position = message, 0

    def take(self, count: int) -> bytes:
        piece = self._message[self._position : self._position + count]
        if len(piece) != count:
            raise BrokenFrame
        self._position += count
        return piece

    def number(self) -> int:
        return int.from_bytes(self.take(4), "big")

    def check_end(self) -> None:
        if self._position != len(self._message):
            raise BrokenFrame
