"""Write a decision about a column into a draft; everything else in it, comments too, stays as it is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from domain.errors import InvalidRequest
from formats.yaml_places import Path, Place, places_of
from twins.profile.draft import ASK
from twins.verbs import Verb


@dataclass(frozen=True)
class Decision:
    """What was decided, by whom and why. `kind` and `classification` for a column that nothing flagged."""

    verb: Verb
    by: str
    why: str
    kind: str = "TEXT"
    classification: str = "quasi"


@dataclass(frozen=True)
class _Edit:
    """Lines first..last give way to others; with `last` before `first` nothing goes."""

    first: int
    last: int
    lines: tuple[str, ...]


def decide(
    text: str, content: Mapping[str, Any], *, table: str | None, column: str, decision: Decision
) -> str:
    """The text with the decision; `content` is what it holds.

    Raises InvalidRequest for a column that is not there or in several tables, one that is dropped already,
    and a layout of the text that has no lines to change.
    """
    at, number = _find(content, table, column)
    found = content["tables"][at]["columns"][number]
    places = places_of(text)
    own: Path = ("tables", at, "columns", number)
    _check(content["tables"][at], found, places, own, decision)
    pii = _pii(found.get("pii"), decision)
    if decision.verb == "drop":
        edits = [_Edit(places[own].first, places[own].last, ()), _dropped(places, at, column, pii)]
    elif decision.verb in ("mask", "pseudonymise") and found.get("kind") not in ("person", "text"):
        edits = [_as_text(found, places[own], pii)]
    else:
        edits = list(_decided(found, places, own, pii, decision.verb))
    lines = text.split("\n")
    for edit in sorted(edits, key=lambda edit: -edit.first):
        lines[edit.first : edit.last + 1] = edit.lines
    return "\n".join(lines)


def _find(content: Mapping[str, Any], table: str | None, column: str) -> tuple[int, int]:
    tables = content.get("tables")
    found = []
    for at, each in enumerate(tables if isinstance(tables, list) else ()):
        if not isinstance(each, Mapping) or table not in (None, each.get("path")):
            continue
        dropped = each.get("dropped")
        for one in dropped if isinstance(dropped, list) else ():
            if isinstance(one, Mapping) and one.get("name") == column:
                raise InvalidRequest(
                    "column", f"{column} is dropped already.", "Move it back in the file to decide anew."
                )
        columns = each.get("columns")
        for number, one in enumerate(columns if isinstance(columns, list) else ()):
            if isinstance(one, Mapping) and one.get("name") == column:
                found.append((at, number))
    if len(found) == 1:
        return found[0]
    if found:
        raise InvalidRequest("column", f"{column} is in {len(found)} tables.", "Name one with --table.")
    raise InvalidRequest("column", f"no column {column!r} is declared there.", "Check its spelling.")


def _check(
    table: Mapping[str, Any],
    found: Mapping[str, Any],
    places: Mapping[Path, Place],
    own: Path,
    decision: Decision,
) -> None:
    if places[own[:3]].is_flow or places[own].is_flow:
        raise InvalidRequest(
            "column", "it is written in brackets.", "Write it as lines, `- name: ...` first, or decide there."
        )
    if decision.verb == "generalise" and found.get("kind") in ("text", "person"):
        raise InvalidRequest(
            "decision",
            f"a column of kind {found['kind']} cannot be generalised.",
            "Declare kind categorical with its categories first, or choose another decision.",
        )
    if decision.verb != "drop":
        return
    if found.get("kind") == "person":
        raise InvalidRequest("decision", "the column names the people.", "Pseudonymise it, or keep it.")
    if len(table["columns"]) < 2:
        raise InvalidRequest("decision", "the table would have no column left.", "Leave the table out.")


def _pii(before: object, decision: Decision) -> dict[str, str]:
    known = before if isinstance(before, Mapping) else {}
    return {
        "kind": str(known.get("kind", decision.kind)),
        "classification": str(known.get("classification", decision.classification)),
        "decision": decision.verb,
        "by": decision.by,
        "why": decision.why,
    }


def _dropped(places: Mapping[Path, Place], at: int, column: str, pii: Mapping[str, str]) -> _Edit:
    """Behind those that are dropped already, or in front of the columns."""
    told = {"name": column, **{name: value for name, value in pii.items() if name != "decision"}}
    written = json.dumps(told, ensure_ascii=False)
    there = places.get(("tables", at, "dropped"))
    if there is not None and there.is_flow:
        raise InvalidRequest("dropped", "it is written in brackets.", "Write it as lines.")
    if there is not None:
        first = places[("tables", at, "dropped", 0)]
        return _Edit(there.last + 1, there.last, (" " * (first.indent - 2) + f"- {written}",))
    columns = places[("tables", at, "columns")]
    space = " " * columns.indent
    return _Edit(columns.first, columns.first - 1, (f"{space}dropped:", f"{space}  - {written}"))


def _as_text(found: Mapping[str, Any], place: Place, pii: Mapping[str, str]) -> _Edit:
    """What a mask or a pseudonym leaves is text: it has no bounds and no categories."""
    kept = {"name": found["name"], "kind": "text"}
    kept |= {name: found[name] for name in ("missing", "description") if name in found}
    space = " " * place.indent
    lines = [f"{space}{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in kept.items()]
    lines[0] = f"{space[:-2]}- {lines[0].lstrip()}"
    return _Edit(place.first, place.last, (*lines, *_pii_lines(space, pii)))


def _decided(
    found: Mapping[str, Any], places: Mapping[Path, Place], own: Path, pii: Mapping[str, str], verb: Verb
) -> Iterator[_Edit]:
    place = places[own]
    space = " " * place.indent
    before = places.get((*own, "pii"))
    more = []
    if verb == "generalise":
        field = "coarsen" if found.get("kind") == "categorical" else "bins"
        if field not in found:
            what = (
                "the coarser category of each, {a: c, b: c, c: c}" if field == "coarsen" else "steps to keep"
            )
            more = [f"{space}{field}: {ASK}  # {what}"]
    lines = (*more, *_pii_lines(space, pii))
    if before is not None:
        yield _Edit(before.first, before.last, lines)
    else:
        yield _Edit(place.last + 1, place.last, lines)


def _pii_lines(space: str, pii: Mapping[str, str]) -> tuple[str, ...]:
    told = (f"{space}  {name}: {json.dumps(value, ensure_ascii=False)}" for name, value in pii.items())
    return (f"{space}pii:", *told)
