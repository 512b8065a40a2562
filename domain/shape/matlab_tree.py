"""What a MATLAB file holds: named arrays, of which structs and cells hold arrays in turn.

The numbers themselves are not in the tree: they are a list beside it, in reading order. That order is the one
of the variables in the file; of elements column by column; and of a struct's fields within one element.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from domain.model import Model

MOST_NUMBERS = 4096
MOST_ARRAYS = 4096
MOST_DEPTH = 16
MOST_LABELS = 65_536
"""Elements of all arrays together, and names of fields."""
MOST_DIMENSIONS = 32

NUMBER_CLASSES = frozenset(
    ("double", "single", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
)
Extent = Annotated[int, Field(ge=0, le=2**31 - 1)]
Dims = Annotated[tuple[Extent, ...], Field(min_length=2, max_length=MOST_DIMENSIONS)]
ArrayName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,62}$")]


class Numbers(Model):
    """Each element is a numeric cell.

    Of whichever class: some programs choose it by the values, and a release holds doubles.
    """

    kind: Literal["numbers"] = "numbers"
    dims: Dims

    @model_validator(mode="after")
    def _is_small(self) -> Numbers:
        _check_fits(self.dims, None)
        return self


class Text(Model):
    """Characters column by column, as the twin's run wrote them."""

    kind: Literal["text"] = "text"
    dims: Dims
    text: Annotated[str, StringConstraints(max_length=MOST_LABELS)]

    @model_validator(mode="after")
    def _fills_its_dims(self) -> Text:
        if "\0" in self.text:
            raise ValueError("a text holds a NUL character")
        _check_fits(self.dims, len(self.text.encode("utf-16-le")) // 2)
        return self


class Flags(Model):
    """Truth values column by column, `0` or `1`, as the twin's run wrote them."""

    kind: Literal["flags"] = "flags"
    dims: Dims
    flags: Annotated[str, StringConstraints(pattern=r"^[01]*$", max_length=MOST_LABELS)]

    @model_validator(mode="after")
    def _fills_its_dims(self) -> Flags:
        _check_fits(self.dims, len(self.flags))
        return self


class Struct(Model):
    """`elements`: the fields of the first element, then those of the second, ..."""

    kind: Literal["struct"] = "struct"
    dims: Dims
    fields: Annotated[tuple[ArrayName, ...], Field(max_length=MOST_ARRAYS)]
    elements: tuple[Node, ...]

    @model_validator(mode="after")
    def _fills_its_dims(self) -> Struct:
        if len(set(self.fields)) != len(self.fields):
            raise ValueError("a struct has two fields of one name")
        _check_fits(self.dims, None)
        if len(self.elements) != math.prod(self.dims) * len(self.fields):
            raise ValueError("a struct has more or fewer elements than its dimensions say")
        return self


class Cell(Model):
    kind: Literal["cell"] = "cell"
    dims: Dims
    elements: tuple[Node, ...]

    @model_validator(mode="after")
    def _fills_its_dims(self) -> Cell:
        _check_fits(self.dims, len(self.elements))
        return self


Node = Annotated[Numbers | Text | Flags | Struct | Cell, Field(discriminator="kind")]
Struct.model_rebuild()
Cell.model_rebuild()


class Variable(Model):
    """One named array of the file."""

    name: ArrayName
    value: Node


def children(node: Node) -> tuple[Node, ...]:
    return node.elements if isinstance(node, Struct | Cell) else ()


def check_tree(variables: Sequence[Variable]) -> None:
    """Raises ValueError for two variables of one name, and for trees that are too large or too deep."""
    names = [variable.name for variable in variables]
    if len(set(names)) != len(names):
        raise ValueError("two variables have one name")
    level: list[Node] = [variable.value for variable in variables]
    depth = arrays = held = 0
    while level:
        depth, arrays = depth + 1, arrays + len(level)
        held += sum(_weight(node) for node in level)
        if depth > MOST_DEPTH or arrays > MOST_ARRAYS:
            raise ValueError("holds more than 4096 arrays, or more than 16 levels of structs and cells")
        if held > MOST_LABELS:
            raise ValueError(f"holds more than {MOST_LABELS} elements")
        level = [child for node in level for child in children(node)]
    if count_numbers(variables) > MOST_NUMBERS:
        raise ValueError(f"holds more than {MOST_NUMBERS} numbers")


def _weight(node: Node) -> int:
    return math.prod(node.dims) + (len(node.fields) if isinstance(node, Struct) else 0)


def count_numbers(variables: Sequence[Variable]) -> int:
    def of(node: Node) -> int:
        return math.prod(node.dims) if isinstance(node, Numbers) else sum(map(of, children(node)))

    return sum(of(variable.value) for variable in variables)


def addresses(variables: Sequence[Variable]) -> Iterator[str]:
    """A name of each number in reading order: `stats.beta[1,2]`, in structs `people[1,2].age[1,1]`."""
    for variable in variables:
        yield from _addresses(variable.name, variable.value)


def _addresses(name: str, node: Node) -> Iterator[str]:
    places = [f"{name}{place}" for place in _places(node.dims)]
    if isinstance(node, Numbers):
        yield from places
    elif isinstance(node, Cell):
        for place, element in zip(places, node.elements, strict=True):
            yield from _addresses(place, element)
    elif isinstance(node, Struct):
        if len(places) == 1:
            places = [name]
        names = [f"{place}.{field}" for place in places for field in node.fields]
        for inner, element in zip(names, node.elements, strict=True):
            yield from _addresses(inner, element)


def _places(dims: Sequence[int]) -> Iterator[str]:
    """`[1,1]`, `[2,1]`, ... column by column."""
    for position in range(math.prod(dims)):
        subscripts, left = [], position
        for extent in dims:
            subscripts.append(left % extent + 1)
            left //= extent
        yield f"[{','.join(map(str, subscripts))}]"


def same_structure(first: Sequence[Variable], second: Sequence[Variable]) -> bool:
    """Whether names, kinds, dimensions and nesting agree; texts and truth values may differ."""
    return [(one.name, _outline(one.value)) for one in first] == [
        (one.name, _outline(one.value)) for one in second
    ]


def _outline(node: Node) -> tuple[object, ...]:
    fields = node.fields if isinstance(node, Struct) else ()
    return (node.kind, fields, node.dims, *map(_outline, children(node)))


def _check_fits(dims: Sequence[int], held: int | None) -> None:
    count = math.prod(dims)
    if count > MOST_LABELS:
        raise ValueError(f"an array has more than {MOST_LABELS} elements")
    if held is not None and held != count:
        raise ValueError("an array holds more or fewer elements than its dimensions say")
