"""The names of a table's columns, from the first line of a file: names only, since data never come here.

More than one line is refused before any of it is looked at, and so is a line that looks like a row of values.
No message repeats what was sent.
"""

from __future__ import annotations

import csv
import re

from domain.dataset.column import ONE_LINE
from domain.dataset.table import repeated
from domain.errors import InvalidRequest

MAX_BYTES = 64 * 1024
MAX_NAMES = 5000
MAX_NAME = 200
_VALUE = re.compile(
    r"[+-]?\d+([.,]\d+)?([eE][+-]?\d+)?"  # a number
    r"|\d{4}-\d\d?-\d\d?.*|\d\d?[./]\d\d?[./]\d{2,4}"  # a day
    r"|sub-[A-Za-z0-9+]+"  # somebody in a BIDS tree
    r"|[^@\s]+@[^@\s]+\.[A-Za-z]+",  # an e-mail address
)
_ROWS = (
    "has more than one line; none of it was read or kept.",
    "Send the first line alone, the one with the names: data never pass this website.",
)


def column_names(content: bytes, *, field: str = "names") -> tuple[str, ...]:
    """The names in a line, between tabs, semicolons, commas or bars. Raises InvalidRequest."""
    if len(content) > MAX_BYTES:
        raise InvalidRequest(
            field, "is too large for a line of names; none of it was read or kept.", _ROWS[1]
        )
    line = content.removeprefix(b"\xef\xbb\xbf").removesuffix(b"\n").removesuffix(b"\r")
    if b"\n" in line or b"\r" in line:
        raise InvalidRequest(field, *_ROWS)
    names = _split(_text(line, field), field)
    _check(names, field)
    return names


def line_dialect(content: bytes) -> dict[str, str]:
    """What the line shows of its table's dialect, where that is not the usual one: its separator, and that it
    is no UTF-8. How numbers and days are written no line of names shows."""
    line = content.removeprefix(b"\xef\xbb\xbf")
    mark = _delimiter(line.decode("latin-1"))
    found = {"delimiter": _NAMED[mark]} if mark in _NAMED else {}
    return found if _is_utf8(line) else found | {"encoding": "windows-1252"}


def check_marks(path: str, content: bytes) -> None:
    """Raises ValueError for a table whose first line has other marks between its names than those of its
    ending: read as it is, it would be one column, and nobody would see what is in it."""
    line = content[:MAX_BYTES].partition(b"\n")[0].decode("latin-1")
    usual, word = ("\t", "tabs") if path.endswith(".tsv") else (",", "commas")
    mark = _delimiter(line)
    if usual not in line and mark in line:
        shown = {"\t": "tabs", ",": "commas"}.get(mark, f"{mark!r}")
        raise ValueError(
            f"{path} has {shown} between the names of its columns where {word} belong; save it with {word} "
            "between its cells, as UTF-8 and with decimal points"
        )


_NAMED = {";": ";", "\t": "tab", "|": "|"}


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _text(line: bytes, field: str) -> str:
    """Windows-1252 has all letters of Latin-1."""
    try:
        if _is_utf8(line):
            return line.decode("utf-8")
        if b"\0" not in line and not line.startswith((b"\xff\xfe", b"\xfe\xff")):
            return line.decode("cp1252")
    except UnicodeDecodeError:
        pass
    raise InvalidRequest(field, "is no text in UTF-8 or Windows-1252.", "Copy the line and paste it.")


def _delimiter(text: str) -> str:
    return next((mark for mark in "\t;,|" if mark in text), ",")


def _split(text: str, field: str) -> tuple[str, ...]:
    delimiter = _delimiter(text)
    try:
        (cells,) = csv.reader([text], delimiter=delimiter, strict=True) if text.strip() else ([],)
    except csv.Error:
        raise InvalidRequest(
            field, "has a quote in the wrong place.", "Write one name after the other."
        ) from None
    return tuple(cell.strip() for cell in cells)


def _check(names: tuple[str, ...], field: str) -> None:
    if not names:
        raise InvalidRequest(field, "is empty.", "Paste the line with the names of the columns.")
    if len(names) > MAX_NAMES:
        raise InvalidRequest(field, f"has more than {MAX_NAMES} names.", "Declare fewer columns.")
    for place, name in enumerate(names, start=1):
        if not name or len(name) > MAX_NAME or not re.fullmatch(ONE_LINE, name):
            raise InvalidRequest(
                field, f"name {place} is empty or too long.", f"Each has 1 to {MAX_NAME} characters."
            )
        if _VALUE.fullmatch(name):
            raise InvalidRequest(
                field,
                f"cell {place} looks like a value, not like a name; none of it was kept.",
                "Send the line with the names of the columns, never a row of data.",
            )
    if repeated(names):
        raise InvalidRequest(field, "has the same name twice.", "Rename one of the columns.")
