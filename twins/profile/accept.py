"""Take the decisions that a draft proposes about columns, a group at a time, with one reason for the group.

A proposal stands behind its question, as a comment. What cannot be decided so is left open, and named.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from domain.errors import InvalidRequest
from formats.yaml_places import places_of
from twins.profile.decide import Decision, decide
from twins.profile.draft import ASK
from twins.verbs import Verb

_PROPOSED = re.compile(r"# proposed: (\w+)\.")
_DIALECT = re.compile(r"ASK  # proposed: (\{.*\})$")


@dataclass
class Accepted:
    """The draft with its decisions; the columns by what became of them, and those that are left open."""

    text: str
    decided: dict[Verb, list[str]] = field(default_factory=dict)
    dialects: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def accept(
    text: str, parse: Callable[[str], Mapping[str, Any]], *, of: Verb | None, decision: Decision
) -> Accepted:
    """Each open decision, and each open dialect, becomes what is proposed; with `of`, only decisions where
    that is proposed."""
    taken = Accepted(text)
    if of is None:
        _take_dialects(taken, parse(text))
    for table, column, verb in list(_proposals(taken.text, parse(taken.text))):
        if of not in (None, verb):
            continue
        try:
            taken.text = decide(
                taken.text,
                parse(taken.text),
                table=table,
                column=column,
                decision=replace(decision, verb=verb),
            )
            taken.decided.setdefault(verb, []).append(column)
        except InvalidRequest as refused:
            taken.left.append(f"{column}: {refused.problems[0].problem}")
    return taken


def _take_dialects(taken: Accepted, content: Mapping[str, Any]) -> None:
    lines, places = taken.text.split("\n"), places_of(taken.text)
    for at, table in enumerate(content.get("tables") or ()):
        if table.get("dialect") == ASK:
            first = places[("tables", at, "dialect")].first
            lines[first] = _DIALECT.sub(r"\1", lines[first])
            taken.dialects.append(table["path"])
    taken.text = "\n".join(lines)


def _proposals(text: str, content: Mapping[str, Any]) -> Iterator[tuple[str, str, Verb]]:
    lines, places = text.split("\n"), places_of(text)
    for at, table in enumerate(content.get("tables") or ()):
        for number, column in enumerate(table.get("columns") or ()):
            if (column.get("pii") or {}).get("decision") != ASK:
                continue
            place = places[("tables", at, "columns", number, "pii", "decision")]
            said = _PROPOSED.search(lines[place.first])
            if said is not None and said[1] in get_args(Verb):
                yield table["path"], column["name"], said[1]  # type: ignore[misc]
