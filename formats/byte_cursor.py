"""Reading fixed-width integers from hostile bytes, one after the other, never past the end."""

from __future__ import annotations

from typing import Literal

from domain.errors import PipelineError

Order = Literal["little", "big"]


class ByteCursor:
    """A position in some bytes. Every method moves it, and raises PipelineError where too few are left."""

    def __init__(self, content: bytes | memoryview, *, order: Order = "little") -> None:
        self._content, self._order, self._at = memoryview(content), order, 0

    @property
    def order(self) -> Order:
        return self._order

    @property
    def position(self) -> int:
        return self._at

    @property
    def left(self) -> int:
        return len(self._content) - self._at

    def take(self, count: int) -> bytes:
        return bytes(self.view(count))

    def view(self, count: int) -> memoryview:
        """As `take`, without a copy: for parts that hold parts in turn."""
        if not 0 <= count <= self.left:
            raise PipelineError("it ends too early, or a length in it is wrong")
        start, self._at = self._at, self._at + count
        return self._content[start : self._at]

    def unsigned(self, width: int) -> int:
        """An integer of so many bytes."""
        return int.from_bytes(self.take(width), self._order)

    def signed(self, width: int) -> int:
        return int.from_bytes(self.take(width), self._order, signed=True)

    def expect(self, magic: bytes) -> None:
        """Raises PipelineError unless exactly these bytes follow."""
        if self.take(len(magic)) != magic:
            raise PipelineError("a part of it is not where another part says that it is")

    def skip_to_multiple(self, width: int) -> None:
        """Past the padding after something that fills up to a multiple; at the very end it may be missing."""
        self._at += min(-self._at % width, self.left)
