"""Where things stand in a YAML text, so that one of them can be changed and every comment stays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import yaml

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Place:
    """A value: its lines (the last one included, from 0), its column, and whether it is written in brackets.

    Of a value under a name, `first` is the line of the name; of an item of a list, the line of its dash.
    """

    first: int
    last: int
    indent: int
    is_flow: bool
    start: int
    end: int


def places_of(text: str) -> dict[Path, Place]:
    """Every value of the text by its path. Raises yaml.YAMLError for text that is no YAML."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    return dict(_places(root, (), root.start_mark.line, root.start_mark.column)) if root else {}


def _places(node: yaml.Node, path: Path, first: int, indent: int) -> Iterator[tuple[Path, Place]]:
    is_flow = bool(getattr(node, "flow_style", False))
    yield path, Place(first, _last(node), indent, is_flow, node.start_mark.index, node.end_mark.index)
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            mark = key.start_mark
            yield from _places(value, (*path, str(key.value)), mark.line, mark.column)
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            # the dash stands in front of the item, on its line
            yield from _places(item, (*path, number), item.start_mark.line, item.start_mark.column)


def _last(node: yaml.Node) -> int:
    """A block ends where the next thing begins; its last line is that of its last value."""
    if getattr(node, "flow_style", False) or not node.value or isinstance(node, yaml.ScalarNode):
        end = node.end_mark
        return end.line - 1 if end.column == 0 and end.line > node.start_mark.line else end.line
    last = node.value[-1]
    return _last(last[1] if isinstance(last, tuple) else last)
