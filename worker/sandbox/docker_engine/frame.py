"""Read a framed output folder, as sandbox_images/keeper/collecting.py makes it inside a container. A payload
could in principle have taken the container over, so this is hostile input: every length is checked against
what was ordered, and nothing may be left over.
"""

from sandbox_images.output_tree import DEEPEST, NotPlain, check_length, check_name
from worker.sandbox.protocol import Limits


class BrokenFrame(Exception):
    """Not what collecting.py makes."""


def longest_tree(limits: Limits) -> int:
    return 4 + limits.output_bytes + limits.inodes * (4 + 8)


def parse_tree(content: bytes, limits: Limits) -> dict[str, bytes]:
    """The files of a framed tree, in the order of their paths. BrokenFrame unless collecting.py could have
    made it under these limits.
    """
    reader = _Reader(content)
    files = _tree(reader, limits)
    reader.check_end()
    return files


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
