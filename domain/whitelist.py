"""The whitelist: one relative path a line, of the group-level files that may leave. Reads hostile text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from domain.formats import KIB, suffixes
from domain.model import InsidePath, Model, find_inside_another

FILE = "whitelist.txt"
MAX_CHARACTERS = 64 * KIB


class _Entry(Model):
    path: InsidePath


def read_whitelist(
    text: str, *, name: str = "whitelist", endings: tuple[str, ...] | None = None
) -> tuple[str, ...]:
    """The paths, in order. `#` in column 0 starts a comment; empty lines are passed over.

    Raises ValueError with the number of the first line that is not a plain relative path of a supported
    kind: `..`, `.`, an absolute path, a backslash, a control character, white space around it, a path twice,
    a path below another one, another suffix; and when no line names a file.
    """
    return tuple(_lines_of(text, name, endings or suffixes()))


def check_whitelist(text: str, files: Iterable[str], *, name: str = FILE) -> None:
    """Raises ValueError, naming the line or the file, unless the lines are exactly these output files."""
    lines = _lines_of(text, name, suffixes())
    declared = list(files)
    for path, number in lines.items():
        if path not in declared:
            raise ValueError(
                f"{name}, line {number}: {path} is not among the outputs of dpgate.yaml; "
                "declare it there, with bounds, or remove the line"
            )
    for path in declared:
        if path not in lines:
            raise ValueError(
                f"{path} is an output in dpgate.yaml and not in {name}; add the line, or remove the output"
            )


def _lines_of(text: str, name: str, endings: tuple[str, ...]) -> dict[str, int]:
    """The number of its line by path."""
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"{name} is longer than {MAX_CHARACTERS} characters")
    found: dict[str, int] = {}
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        if line.startswith("#") or not line.strip():
            continue
        problem = _problem(line, endings) or (f"repeats line {found[line]}" if line in found else None)
        if problem:
            raise ValueError(f"{name}, line {number}, {problem}")
        found[line] = number
    if not found:
        raise ValueError(f"{name} names no file; write one relative path on each line")
    if (inside := find_inside_another(list(found))) is not None:
        raise ValueError(f"{name}, line {found[inside]}, lies below another line's path, which is a file")
    return found


def _problem(line: str, endings: tuple[str, ...]) -> str | None:
    if line.startswith("\N{ZERO WIDTH NO-BREAK SPACE}"):
        return "starts with a byte order mark; save the file as UTF-8 without one"
    if any(unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp") for character in line):
        return "holds a control character"
    if line != line.strip():
        return "has white space before or after the path"
    try:
        _Entry(path=line)
    except ValueError:
        return "is not a relative path inside the output folder ('..', '.', '//' and '\\' are refused)"
    if not line.endswith(endings):
        return f"names a kind of file that cannot be noised; supported are {', '.join(endings)}"
    return None
