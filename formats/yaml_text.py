"""YAML that people paste or send: read strictly, one mapping of bounded size, and written as people would.

No tags that build objects, no name twice, and no aliases: a few of them stand for gigabytes.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from types import NoneType
from typing import Any

import yaml

from domain.errors import InvalidRequest

MAX_CHARACTERS = 1_000_000
MAX_DEPTH = 40
LARGEST = 10**18


def read_yaml(text: str, *, field: str = "yaml") -> dict[str, Any]:
    """One mapping. Raises InvalidRequest with the line of the mistake, named `field`."""
    if len(text) > MAX_CHARACTERS:
        raise InvalidRequest(field, f"has more than {MAX_CHARACTERS:,} characters.", "Send less.")
    try:
        content = yaml.load(text, Loader=_Strict)  # noqa: S506 - a SafeLoader
    except _TooMuchError as error:
        raise InvalidRequest(field, error.problem, error.fix) from None
    except yaml.YAMLError as error:
        raise InvalidRequest(field, f"is not valid YAML: {place_of(error)}.", "Mend that line.") from None
    # a date or a number beyond what Python takes
    except (ValueError, OverflowError, RecursionError):
        raise InvalidRequest(field, "holds a value that cannot be read.", "Put it in quotes.") from None
    _check_plain(content, field)
    if not isinstance(content, dict):
        raise InvalidRequest(field, "must hold `name: value` lines.", "Start with a line such as name: x.")
    return content


def write_yaml(content: dict[str, Any]) -> str:
    """The same content as text, in the order in which it stands."""
    return yaml.dump(content, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=100)


class _TooMuchError(Exception):
    """What is YAML, and is not read."""

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem)
        self.problem, self.fix = problem, fix


class _Strict(yaml.SafeLoader):
    """Refuses an alias and great depth while it reads, before a value is made of any node."""

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event: yaml.Event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent):
            line = event.start_mark.line + 1 if event.start_mark else 0
            raise _TooMuchError(f"line {line} has an alias (*).", "Write the value itself.")
        is_deeper = isinstance(event, yaml.CollectionStartEvent)
        self._depth += is_deeper
        if self._depth > MAX_DEPTH:
            raise _TooMuchError("is nested too deeply.", f"At most {MAX_DEPTH} levels are read.")
        node = super().compose_node(parent, index)
        self._depth -= is_deeper
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for position, key in enumerate(keys):
            if key in keys[:position]:
                place = node.value[position][0].start_mark
                raise yaml.constructor.ConstructorError(None, None, "a name stands twice", place)
        return super().construct_mapping(node, deep)


class _Plain(yaml.SafeDumper):
    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Several lines as lines, as people would write them."""
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Plain.add_representer(str, _represent_text)

# a day stays the text that was written: nothing here is a date
_Strict.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _check_plain(content: Any, field: str) -> None:
    """Only what JSON has as well: text, numbers, yes and no, lists, and mappings whose names are text."""
    if isinstance(content, dict):
        for name, value in content.items():
            if not isinstance(name, str):
                raise InvalidRequest(field, "has a name that is no text.", "Put it in quotes.")
            _check_plain(value, field)
    elif isinstance(content, list):
        for value in content:
            _check_plain(value, field)
    elif isinstance(content, float) and not math.isfinite(content):
        raise InvalidRequest(field, "holds a number that is not finite.", "Write a finite one.")
    elif not isinstance(content, str | int | float | NoneType):
        raise InvalidRequest(field, "holds a value of a kind that is not read here.", "Write text.")
    elif isinstance(content, int) and abs(content) > LARGEST:
        raise InvalidRequest(field, "holds a number that is too large.", "Write a smaller one.")


def place_of(error: yaml.YAMLError) -> str:
    """The line and what is wrong there, without a copy of the text around it."""
    mark = getattr(error, "problem_mark", None)
    what = str(getattr(error, "problem", None) or "it cannot be read")
    printable = "".join(letter for letter in what[:200] if letter.isprintable())
    if r"'\t'" in printable:
        printable = "begins with a tab: indent with spaces"
    return f"line {mark.line + 1}: {printable}" if mark is not None else printable
