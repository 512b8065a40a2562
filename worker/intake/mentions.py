"""Texts that speak of a person whose they are not."""

from __future__ import annotations

import io
import json
import re
import unicodedata
from collections.abc import Iterable
from itertools import groupby
from typing import Any, BinaryIO

from domain.dataset import Declaration, ImportProblem
from domain.people_in_paths import is_text, owners, words_of
from worker.intake.names import SIGNS, Names, is_of_a_name
from worker.intake.places import People, Places
from worker.intake.refusal import ImportRefused
from worker.intake.text_table import TextTable
from worker.intake.tree import Tree

DESCRIPTION = "dataset_description.json"
_MOST_DESCRIPTION = 2**20
_SHORTEST = 3
_MOST_WORDS = 6
"""Of a name that is looked for in a text."""
_END = ".'\N{RIGHT SINGLE QUOTATION MARK}\N{MIDDLE DOT}"


def check_texts(tree: Tree, places: Places, declaration: Declaration, people: People) -> None:
    """Raises ImportRefused for a public text that names anybody, and for a person's that names another."""
    for public in declaration.public_files:
        if not public.as_delivered and is_text(public.path):
            _check(io.BytesIO(public.content), public.path, people)
    own = (place for paths in places.of_person.values() for place in paths)
    for place in (*places.shared, *own):
        if is_text(place) and place in tree.files:
            with tree.path(place).open("rb") as file:
                _check(file, place, people)


def check_public_words(declaration: Declaration, names: Names) -> None:
    """The same where people are only in tables: a name as a word of its own, unless it is a mere number."""
    for public in declaration.public_files:
        if not is_text(public.path):
            continue
        text = unicodedata.normalize("NFC", public.content.decode("utf-8", "replace"))
        words = [word for word in _names_in(text) if len(word) >= _SHORTEST and not word.isdigit()]
        known = names.known(words)
        if known.any():
            detail = f"its text holds {words[int(known.argmax())]!r}, which is somebody's name"
            raise ImportRefused(ImportProblem.PERSON_MENTIONED, place=public.path, detail=detail)


def _names_in(text: str) -> list[str]:
    """Whatever in a text may be a name: words, their parts, and some words in a row."""
    found: list[str] = []
    row: list[str] = []
    for is_word, letters in groupby(text, is_of_a_name):
        piece = "".join(letters)
        if is_word:
            row = [*row[1 - _MOST_WORDS :], piece]
            found += (_trimmed(" ".join(row[start:])) for start in range(len(row)))
            found += map(_trimmed, re.split(f"[{_END[1:]}]", piece))
        elif piece.strip():
            row = []
    return found


def _trimmed(words: str) -> str:
    """Without the signs around them that names neither begin nor end with."""
    return words.lstrip(SIGNS).rstrip(_END)


def check_cells(tables: Iterable[TextTable], people: People) -> None:
    """Raises ImportRefused for a row in which a cell beside the person's names another person."""
    for table in tables:
        for line, person, label in table.mentions():
            if people.mentioned(f"sub-{label}", but=owners(person)):
                detail = f"line {line}: sub-{label} in a row of {person}"
                raise ImportRefused(ImportProblem.PERSON_MENTIONED, place=table.table.path, detail=detail)


def check_description(tree: Tree, declaration: Declaration) -> None:
    """Raises ImportRefused unless the tree says that it is BIDS: as delivered, or by its public text."""
    public = next((file for file in declaration.public_files if file.path == DESCRIPTION), None)
    if DESCRIPTION in tree.files and tree.files[DESCRIPTION] <= _MOST_DESCRIPTION:
        content = tree.path(DESCRIPTION).read_bytes()
    elif public is not None:
        content = public.content
    else:
        raise ImportRefused(
            ImportProblem.NOT_BIDS, place=DESCRIPTION, detail="it is missing, or far too long"
        )
    lacking = [name for name in ("Name", "BIDSVersion") if not _has_text(_object(content), name)]
    if lacking:
        detail = f"it lacks {' and '.join(lacking)}"
        raise ImportRefused(ImportProblem.NOT_BIDS, place=DESCRIPTION, detail=detail)


def _check(file: BinaryIO, place: str, people: People) -> None:
    of = owners(place)
    for words in words_of(file):
        if named := people.mentioned(words, but=of):
            raise ImportRefused(ImportProblem.PERSON_MENTIONED, place=place, detail=f"its text names {named}")


def _object(content: bytes) -> dict[str, Any]:
    try:
        read = json.loads(content)
    except (ValueError, RecursionError):
        read = None
    return read if isinstance(read, dict) else {}


def _has_text(read: dict[str, Any], name: str) -> bool:
    return isinstance(read.get(name), str) and bool(read[name].strip())
