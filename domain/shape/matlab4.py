"""MATLAB's oldest format, -v4: matrices of numbers and texts, one after the other."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

from domain.errors import PipelineError
from domain.shape.matlab_reading import Parsed, Reading, array, text_of
from domain.shape.matlab_tree import Node, Numbers, Text, Variable
from formats.byte_cursor import ByteCursor, Order

_CODES = ("d", "f", "i", "h", "H", "B")
_FULL, _TEXT, _SPARSE = 0, 1, 2
_LONGEST_NAME = 64  # with the NUL behind it


def read(content: bytes) -> Parsed:
    """Raises PipelineError for anything that is not such a file.

    The stored type of a matrix is the smallest that holds its values, and says nothing of its class.
    """
    cursor = ByteCursor(content, order=_order_of(content))
    reading, variables = Reading(), []
    while cursor.left:
        variables.append(_matrix(cursor, reading))
    return reading.finish("4", variables)


def _order_of(content: bytes) -> Order:
    # the first number is 0 to 4052, with a thousand added where bytes are in the other order
    return "little" if len(content) >= 4 and int.from_bytes(content[:4], "little") < 1000 else "big"


def _matrix(cursor: ByteCursor, reading: Reading) -> Variable:
    kind, rows, columns = (cursor.signed(4) for _ in range(3))
    imaginary, named = cursor.signed(4), cursor.signed(4)
    machine, rest = divmod(kind, 1000)
    stored, full = divmod(rest, 10)
    if machine != (0 if cursor.order == "little" else 1) or stored % 10 >= len(_CODES) or stored > 9:
        raise PipelineError("it is no MAT-file")
    if full not in (_FULL, _TEXT):
        raise PipelineError("it holds a sparse array; write full(...)")
    if imaginary:
        raise PipelineError("it holds complex numbers; write real(...) and imag(...) as two arrays")
    if not 0 < named <= _LONGEST_NAME:
        raise PipelineError("it is no MAT-file")
    name = cursor.take(named).rstrip(b"\0").decode("ascii", errors="replace")
    count = reading.enter((rows, columns), depth=1)
    if full == _FULL:
        reading.check_room(count)
    code = _CODES[stored]
    sign = "<" if cursor.order == "little" else ">"
    values = struct.unpack(f"{sign}{count}{code}", cursor.take(count * struct.calcsize(f"<{code}")))
    dims = (rows, columns)
    node = text_of(dims, values) if full == _TEXT else reading.add("double", dims, values)
    return array(Variable, name=name, value=node)


def write(variables: Sequence[Variable], numbers: Iterator[float]) -> bytes:
    """The file with these numbers. Raises ValueError for arrays that the format does not have."""
    return b"".join(_packed(variable.name, variable.value, numbers) for variable in variables)


def _packed(name: str, node: Node, numbers: Iterator[float]) -> bytes:
    rows, columns = node.dims
    if isinstance(node, Numbers):
        kind, count = _FULL, rows * columns
        body = struct.pack(f"<{count}d", *(next(numbers) for _ in range(count)))
    elif isinstance(node, Text):
        units = memoryview(node.text.encode("utf-16-le")).cast("H")
        kind, body = 10 * _CODES.index("H") + _TEXT, units.tobytes()
    else:
        raise ValueError("a MAT-file of version 4 holds matrices of numbers and texts only")
    return struct.pack("<5i", kind, rows, columns, 0, len(name) + 1) + name.encode() + b"\0" + body
