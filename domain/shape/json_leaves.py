"""The leaves of a JSON text with their places: a strict reader (RFC 8259) of hostile text in linear time."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Literal, NoReturn

from domain.errors import PipelineError
from domain.shape.text import MAX_CELLS

MAX_DEPTH = 16
_LONGEST_POINTER = 1000  # every leaf has one: long keys times many leaves would fill the memory
_LONGEST_NUMBER = 40
_LONGEST_WHOLE = 20

Kind = Literal["number", "odd", "label", "list", "object"]

_SPACE = re.compile(r"[ \t\n\r]*+")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][+-]?[0-9]++)?")
_ODD = re.compile(r"-?Infinity|NaN")
_WORD = re.compile(r"true|false|null")


@dataclass(frozen=True)
class Leaf:
    """A value without parts. `odd`: a number that is not finite, or of too many digits. `label`: text, true,
    false or null. `list` and `object`: empty ones."""

    pointer: str
    kind: Kind
    start: int
    end: int
    text: str


def read_leaves(file: str, text: str) -> list[Leaf]:
    """Every leaf in the order of the text.

    Raises PipelineError for what is no JSON, for a key that stands twice, for more than MAX_DEPTH levels and
    for more than MAX_CELLS leaves.
    """
    reader = _Reader(file, text)
    reader.value("", depth=0)
    if reader.at != len(text):
        reader.refuse("goes on after its value")
    return reader.leaves


class _Reader:
    """A position in a text and the leaves before it."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.text, self.at = file, text, 0
        self.leaves: list[Leaf] = []
        self._space()

    def value(self, pointer: str, *, depth: int) -> None:
        if depth > MAX_DEPTH:
            self.refuse(f"is nested more than {MAX_DEPTH} deep")
        if len(pointer) > _LONGEST_POINTER:
            self.refuse(f"holds keys of more than {_LONGEST_POINTER} characters")
        opening = self.text[self.at : self.at + 1]
        if opening == "{":
            self._object(pointer, depth)
        elif opening == "[":
            self._list(pointer, depth)
        else:
            self._leaf(pointer)
        self._space()

    def refuse(self, problem: str) -> NoReturn:
        raise PipelineError(f"{self.file} {problem}")

    def _object(self, pointer: str, depth: int) -> None:
        start, keys = self.at, set[str]()
        self._take("{")
        while not self._closes("}", is_first=not keys):
            key = self._key()
            if key in keys:
                self.refuse("holds one key twice in one object")
            keys.add(key)
            self._space()
            self._take(":")
            self._space()
            self.value(f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}", depth=depth + 1)
        if not keys:
            self._add(pointer, "object", start)

    def _list(self, pointer: str, depth: int) -> None:
        start, items = self.at, 0
        self._take("[")
        while not self._closes("]", is_first=not items):
            self.value(f"{pointer}/{items}", depth=depth + 1)
            items += 1
        if not items:
            self._add(pointer, "list", start)

    def _closes(self, end: str, *, is_first: bool) -> bool:
        """Whether the list or object ends here; else passes the comma before its next item."""
        self._space()
        if self.text[self.at : self.at + 1] == end:
            self.at += 1
            return True
        if not is_first:
            self._take(",")
            self._space()
        return False

    def _leaf(self, pointer: str) -> None:
        kinds: tuple[tuple[re.Pattern[str], Kind], ...] = (
            (_STRING, "label"),
            (_WORD, "label"),
            (_ODD, "odd"),
            (_NUMBER, "number"),
        )
        for pattern, kind in kinds:
            if found := pattern.match(self.text, self.at):
                start, self.at = self.at, found.end()
                long = _LONGEST_NUMBER if found.re is _NUMBER and (found[1] or found[2]) else _LONGEST_WHOLE
                is_odd = kind == "number" and len(found[0].lstrip("-")) > long
                self._add(pointer, "odd" if is_odd else kind, start)
                return
        self.refuse("is not valid JSON")

    def _add(self, pointer: str, kind: Kind, start: int) -> None:
        if len(self.leaves) == MAX_CELLS:
            self.refuse(f"has more than {MAX_CELLS} values")
        self.leaves.append(Leaf(pointer, kind, start, self.at, self.text[start : self.at]))

    def _key(self) -> str:
        found = _STRING.match(self.text, self.at)
        if not found:
            self.refuse("is not valid JSON")
        self.at = found.end()
        key = str(json.loads(found[0]))
        try:
            key.encode()
        except UnicodeEncodeError:  # half of a surrogate pair
            self.refuse("holds a key that is no text")
        return key

    def _take(self, character: str) -> None:
        if self.text[self.at : self.at + 1] != character:
            self.refuse("is not valid JSON")
        self.at += 1

    def _space(self) -> None:
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at
