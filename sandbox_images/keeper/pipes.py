"""The wire to the worker, over standard input and output.

Request: operation (1 byte), number of a run or of a part (4), length (8), then as many bytes. Answer: status
(1), length (8), bytes. Integers are big-endian. A list is length (4) and bytes, one after the other.
"""

import os
import sys

PIECE = 64 * 1024
MOST_NAMES = 1 << 20  # bytes of a path


class Request:
    """Its head is read by making it, its content by these methods: never more than it said to hold."""

    def __init__(self):
        self.left = 13
        self.operation, self.number = self.take(1), self.integer(4)
        self.left = self.integer(8)

    def some(self, count):
        """At least one byte and at most `count`."""
        if not 0 < count <= self.left:
            sys.exit("a request is shorter than it should be")
        piece = os.read(0, min(count, PIECE))
        if not piece:
            os._exit(0)  # the worker has closed this batch, or is gone
        self.left -= len(piece)
        return piece

    def take(self, count):
        content = b""
        while len(content) < count:
            content += self.some(count - len(content))
        return content

    def integer(self, size):
        return int.from_bytes(self.take(size), "big")

    def item(self):
        length = self.integer(4)
        if length > MOST_NAMES:
            sys.exit("too long")
        return self.take(length)

    def to_file(self, descriptor, count):
        """So many bytes, straight from the pipe into the file."""
        while count:
            piece = self.some(count)
            count -= len(piece)
            while piece:
                piece = piece[os.write(descriptor, piece) :]


def answer(status, pieces):
    send(bytes([status]) + sum(map(len, pieces)).to_bytes(8, "big"))
    for piece in pieces:
        send(piece)


def send(message):
    left = memoryview(message)
    while left:
        left = left[os.write(1, left) :]
