"""The shape of a JSON file: its text on the twin, with places where numbers belong.

A run may order the keys of an object as it likes, leave some out and add others: the numbers below a key that
it left out are missing. With a list of another length, or none of the twin's numbers, it failed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from domain.errors import PipelineError
from domain.formats import FORMATS
from domain.model import InsidePath
from domain.pipeline import OutputFile
from domain.shape.constants import HasConstants
from domain.shape.json_leaves import Leaf, read_leaves
from domain.shape.text import MAX_CELLS

MAX_FILE_BYTES = FORMATS["json"].most_bytes


class JsonShape(HasConstants):
    """One output file as the twin's own text, cut where a number belongs."""

    format: Literal["json"] = "json"
    file: Annotated[InsidePath, StringConstraints(pattern=r"\.json$")]
    parts: Annotated[
        tuple[Annotated[str, StringConstraints(max_length=MAX_FILE_BYTES)], ...],
        Field(min_length=1, max_length=MAX_CELLS + 1),
    ]

    @model_validator(mode="after")
    def _is_as_locked(self) -> JsonShape:
        try:
            parts = _parts(self.file, self.write(self.filled))
        except (PipelineError, UnicodeEncodeError):
            raise ValueError("the parts are no JSON file; type `dpgate run FOLDER`") from None
        if parts != self.parts:
            raise ValueError("the parts are not as a run on the twin locks them; type `dpgate run FOLDER`")
        return self

    @property
    def numbers(self) -> int:
        return len(self.parts) - 1

    @property
    def addresses(self) -> tuple[str, ...]:
        """JSON pointers (RFC 6901)."""
        return tuple(leaf.pointer for leaf in self._leaves if leaf.kind == "number")

    def read(self, content: bytes) -> list[float | None]:
        """The numbers at the twin's places; None where there is null, NaN, a text or no finite number.

        Raises PipelineError for any other file.
        """
        text = _text(self.file, content)
        found = {leaf.pointer: leaf for leaf in read_leaves(self.file, text)}
        numbers = [found.get(leaf.pointer) for leaf in self._leaves if leaf.kind == "number"]
        if not _fits(self._tree, _tree(text)) or (numbers and not any(numbers)):
            raise PipelineError("the file has other keys or lists than the twin's run")
        return [None if leaf is None else _finite(leaf) for leaf in numbers]

    def texts(self, content: bytes) -> list[str]:
        """The numbers as they are written in the twin's own file."""
        leaves = read_leaves(self.file, _text(self.file, content))
        return [leaf.text for leaf in leaves if leaf.kind == "number"]

    def write(self, numbers: Sequence[str]) -> bytes:
        """The twin's file with these numbers in place of its own."""
        if len(numbers) != self.numbers:
            raise ValueError(f"{self.file} holds {self.numbers} numbers, got {len(numbers)}")
        filled = [piece for pair in zip(self.parts, (*numbers, ""), strict=True) for piece in pair]
        return "".join(filled).encode()

    @cached_property
    def _leaves(self) -> list[Leaf]:
        return read_leaves(self.file, self._zeros)

    @cached_property
    def _tree(self) -> object:
        return _tree(self._zeros)

    @property
    def _zeros(self) -> str:
        return self.write(["0"] * self.numbers).decode()


def lock(output: OutputFile, content: bytes, _sources: Mapping[str, bytes]) -> JsonShape:
    """The shape of a JSON file that the pipeline wrote on the twin. Raises PipelineError when it has none."""
    return JsonShape(file=output.file, parts=_parts(output.file, content))


def _parts(file: str, content: bytes) -> tuple[str, ...]:
    text = _text(file, content)
    parts, after = [], 0
    for leaf in read_leaves(file, text):
        if leaf.kind == "odd":
            raise PipelineError(
                f"{file} holds NaN, an infinity or a number of too many digits; "
                "write null where there is none"
            )
        if leaf.kind == "number":
            parts.append(text[after : leaf.start])
            after = leaf.end
    return (*parts, text[after:])


def _fits(twin: object, run: object) -> bool:
    """Whether a run changed no list's length, and put no value in the place of a list or an object."""
    if isinstance(twin, dict):
        return isinstance(run, dict) and all(_fits(twin[key], run[key]) for key in twin.keys() & run.keys())
    if isinstance(twin, list):
        return isinstance(run, list) and len(twin) == len(run) and all(map(_fits, twin, run))
    return not isinstance(run, dict | list)


def _tree(text: str) -> object:
    """Of a text that is read already; its numbers stay texts, for one may have too many digits for int."""
    return json.loads(text, parse_int=str, parse_float=str)


def _text(file: str, content: bytes) -> str:
    if len(content) > MAX_FILE_BYTES:
        raise PipelineError(f"{file} is larger than {MAX_FILE_BYTES} bytes")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise PipelineError(f"{file} is not UTF-8") from None


def _finite(leaf: Leaf) -> float | None:
    if leaf.kind != "number":
        return None
    value = float(leaf.text)
    return value if math.isfinite(value) else None
