"""Where a BIDS tree speaks of a person: `sub-XX` in a path, in a text, and in the columns of a table.

A person is `sub-` and a label of letters, digits and plus signs; `sub-1` and `sub-10` are two people.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import BinaryIO

from formats.delimited import Delimited, Row

PERSON = re.compile(r"sub-([A-Za-z0-9+]+)")
MISSING = ("", "n/a")
NOBODY = "sub-XX"

_MENTION = re.compile(r"sub-([A-Za-z0-9+]+)", re.IGNORECASE)
_ID_HEADERS = {
    "participantid", "participant", "participantlabel", "participantkey",
    "subjectid", "subject", "subjectlabel", "subjectkey", "srcsubjectid", "sub", "subid", "sublabel",
    "patientid", "patient", "personid", "person", "bidsid",
}  # fmt: skip

_TEXT = (
    ".json", ".tsv", ".csv", ".txt", ".md", ".rst", ".html", ".xml", ".yaml", ".yml", ".cff", ".bidsignore",
)  # fmt: skip
_WORD = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-"
_PIECE = 2**20


def label_of(person: str) -> str:
    """`XX` for `sub-XX` and for `XX`."""
    return person.removeprefix("sub-")


def place_of(person: str, path: str) -> str:
    """The folder named like the person, wherever it is, or else the file itself."""
    steps = path.split("/")
    for folder in (person, f"sub-{label_of(person)}"):
        if folder in steps:
            return "/".join(steps[: steps.index(folder) + 1])
    return path


def owners(path: str) -> frozenset[str]:
    """Labels of the people that a path names exactly: `sub-01` as a folder, or as a part of a name between
    _ and . signs."""
    tokens = (token for part in PurePosixPath(path).parts for token in re.split(r"[_.]", part))
    return frozenset(match.group(1) for token in tokens if (match := PERSON.fullmatch(token)))


def mentions(text: str) -> Iterator[str]:
    """The label behind every `sub-`, in whatever case and wherever it stands."""
    return (match.group(1) for match in _MENTION.finditer(text))


def without_labels(text: str) -> str:
    """The same text, in which every `sub-XX` is one and the same, whoever it was."""
    return _MENTION.sub(NOBODY, text)


def announces_people(header: str) -> bool:
    """Whether a column's name says that it holds people, without regard to case, spaces and signs."""
    return re.sub(r"[^a-z]", "", header.casefold()) in _ID_HEADERS


def id_columns(header: Row, rows: Sequence[Row]) -> list[int]:
    """Columns that say whose row it is: by their header, or because every cell reads `sub-XX`."""
    return [
        column
        for column, name in enumerate(header.cells)
        if announces_people(name) or (rows and all(PERSON.fullmatch(row.cells[column]) for row in rows))
    ]


def id_columns_of(table: Delimited, knows_all: Callable[[Sequence[str]], bool]) -> list[int]:
    """The same where the people are known: also a column in which every cell is one of them."""
    known = {
        column
        for column in range(len(table.header.cells))
        if table.rows and knows_all([row.cells[column].strip() for row in table.rows])
    }
    return sorted(known | set(id_columns(table.header, table.rows)))


def is_text(path: str) -> bool:
    """Whether a file's name says that it holds plain text, which may speak of people."""
    name = path.rsplit("/", 1)[-1]
    return name.endswith(_TEXT) or "." not in name


def words_of(file: BinaryIO) -> Iterator[str]:
    """A text in pieces that end where no word goes on, so that `sub-1` is never the start of `sub-10`."""
    held = b""
    for piece in iter(lambda: file.read(_PIECE), b""):
        held += piece
        end = len(held.rstrip(_WORD)) or len(held)
        yield held[:end].decode("utf-8", "replace")
        held = held[end:]
    yield held.decode("utf-8", "replace")
