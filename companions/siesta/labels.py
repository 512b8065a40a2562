"""Texts of a result that leave as they are: whether one of them is a number to whoever reads it."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from domain.shape import FileShape, JsonShape, MatlabShape, TextShape

_SIGNS = str.maketrans(
    {**dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"), "\u00b7": ".", "\u066b": ".", "\u066c": ","}
)
_UNSEEN = {"Cf", "Mn", "Me"}  # marks of order and of joining, accents
_BETWEEN = re.compile(r"[\s,;()\[\]{}/\u2044|*\u2020\u2021\u00a7'\"\u2019\u00b1]|\+/-")
_FORTRAN = re.compile(r"(?<=[\d.])[dD](?=[+-]?\d)")


def tells_number(text: str) -> bool:
    """Whether it is numbers alone to whoever reads it: `12,5`, `3.1 ± 0.4`, `1/3`, `0.03*`, `"7"`, `1.5D+02`,
    `(-42, 8, 30)`, one of more digits than any that is noised, in digits of another script, or with a mark of
    byte order in front. Words, units, shares in percent, dates and ranges are texts."""
    plain = unicodedata.normalize("NFKC", text.translate(_SIGNS)).translate(_SIGNS)
    seen = "".join(letter for letter in plain if unicodedata.category(letter) not in _UNSEEN)
    parts = [_FORTRAN.sub("e", part) for part in _BETWEEN.split(seen) if part]
    return bool(parts) and all(map(_is_figure, parts))


def number_in_disguise(shape: FileShape) -> str | None:
    """The first text of a file that tells a number, if there is one. Keys of JSON are no such texts: they
    count rows."""
    return next(filter(tells_number, _texts(shape)), None)


def _is_figure(part: str) -> bool:
    try:
        float(part)  # of any script and length, and with 1_000
    except ValueError:
        return False
    return any(map(str.isdecimal, part))  # nan and inf are words


def _texts(shape: FileShape) -> Iterator[str]:
    if isinstance(shape, TextShape):
        yield from (cell for row in shape.rows for cell in row if cell is not None)
    elif isinstance(shape, JsonShape):
        yield from _leaves(json.loads(shape.write(shape.filled)))
    elif isinstance(shape, MatlabShape):
        yield from (each["text"] for each in _parts(shape.model_dump()) if each.get("kind") == "text")


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _leaves(each)


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for each in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    ):
        yield from _parts(each)
