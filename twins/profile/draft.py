"""A draft of `dataset.yaml` from a profile: what can be known without the data, and questions for the rest.

A bound or category that was read from the data would be a disclosure, so none is written here. `ASK` stands
wherever the rights holder has to answer; nothing with an `ASK` in it can be registered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from domain.model import SLUG
from twins.profile.found import FoundTable
from twins.profile.proposals import Proposal

ASK = "ASK"
_HEAD = """\
# A draft, made by dpgate twin profile. Everything here becomes public to the people named in the policy, but
# for `profile`: the platform looks at it when you register, and keeps only its random id, for you.
# Answer every ASK from an instrument's manual, a codebook or a law, not from the data; figures of the data
# are in the report, which is for you alone. Columns with `pii` need a decision:
#   dpgate twin decide {file} --column NAME --decision drop|mask|generalise|pseudonymise|keep --why "..."
"""


@dataclass(frozen=True)
class DraftTable:
    """One table of the draft."""

    path: str
    found: FoundTable
    proposals: Sequence[Proposal]
    is_one_row: bool

    @property
    def person(self) -> str | None:
        return next((each.column for each in self.proposals if each.role == "person"), None)


@dataclass(frozen=True)
class Question:
    """One place of a draft that waits for an answer, in words for whoever answers it."""

    place: str
    sentence: str


def write_draft(
    tables: Sequence[DraftTable],
    *,
    name: str,
    layout: str,
    unit: str,
    profile_id: str,
    file: str = "dataset.yaml",
    left_out: Mapping[str, str] | None = None,
) -> str:
    """The text. `unit` is the path of the table that lists everybody; `profile_id` that of the profile.

    `left_out` are tables that are not declared, with the reason.
    """
    first = next(table for table in tables if table.path == unit)
    lines = [_HEAD.format(file=file)]
    lines += [f"name: {name if re.match(SLUG, name) else ASK}", f"title: {ASK}", f"layout: {layout}", ""]
    column = quoted(first.person) if first.person is not None else ASK
    lines.append(f"privacy_unit: {{name: participant, table: {quoted(unit)}, column: {column}}}")
    lines.append(f"nominal_size: {ASK}  # a public, round number of people: the study's published size, say")
    if layout == "bids":
        lines.append(f"most_bytes: {ASK}  # public and round: of one person's files, more are not kept")
    lines += ["", *_profile(tables, profile_id), "tables:"]
    for table in tables:
        lines += _table(table)
    for path, why in (left_out or {}).items():
        lines.append(f"# not declared: {_comment(path)}: {_comment(why)}")
    lines += [
        "",
        f"budget_epsilon: {ASK}  # the loss that all releases together may reach, guarantee class pure_dp",
        "policy:",
        "  data_users: []  # nobody yet",
        "  images: []",
        "",
    ]
    return "\n".join(lines)


def _profile(tables: Sequence[DraftTable], profile_id: str) -> Iterator[str]:
    """Which profile this rests on, and what it flagged: a registration asks for a decision on each, and keeps
    neither in the data set."""
    flagged = [(table.path, each.column) for table in tables for each in table.proposals if each.is_flagged]
    yield "profile:"
    yield f"  id: {quoted(profile_id)}"
    yield "  flagged:" + (" []" if not flagged else "")
    for path, column in flagged:
        yield f"    - {{table: {quoted(path)}, column: {quoted(column)}}}"
    yield ""


def _table(table: DraftTable) -> Iterator[str]:
    yield f"  - path: {quoted(table.path)}"
    yield from _dialect(table.found)
    if not table.is_one_row:
        yield "    rows_per_person: many"
        yield f"    typical_rows: {ASK}  # of one person, as the study's protocol has it"
        yield f"    most_rows: {ASK}  # public and round: no more of anybody are kept; see the report"
    for each in table.proposals:
        if not each.is_declared:
            yield f"    # left out: {_comment(each.column) or '(no name)'}: {_comment(each.reasons[0])}"
    yield "    columns:"
    for each in table.proposals:
        if each.is_declared:
            yield from _column(each, table.found)


def _dialect(found: FoundTable) -> Iterator[str]:
    """One question for the whole file, or one for each field that the file leaves open."""
    if found.dialect is None:
        return
    told = found.dialect.model_dump(mode="json", exclude_defaults=True) or {"dates": found.dialect.dates}
    if not found.open:
        listed = ", ".join(f"{name}: {quoted(value)}" for name, value in told.items())
        yield f"    dialect: {ASK}  # proposed: {{{listed}}}"
        return
    yield "    dialect:"
    told |= {name: getattr(found.dialect, name) for name in found.open}
    for name, value in told.items():
        yield f"      {name}: " + (f"{ASK}  # {_EITHER[name]}" if name in found.open else quoted(value))


_EITHER = {
    "decimal": '"," where 1,234 is about one, "." with thousands "," where it is above a thousand',
    "dates": "DD/MM/YYYY or MM/DD/YYYY: nothing in the file tells",
}


def _column(each: Proposal, found: FoundTable) -> Iterator[str]:
    yield f"      - name: {quoted(each.column)}"
    yield f"        kind: {each.role}"
    if each.role in ("integer", "number", "date"):
        yield from _bounds(each)
    if each.with_time:
        yield "        with_time: true"
    if each.role == "categorical":
        yield from _categories(each)
    if each.missing is not None and each.missing.strip() and each.role != "person":
        yield f"        missing: {quoted(each.missing)}"
        yield f"        # missing_rate: {ASK}, a share that you would publish; left out it is 0"
    if each.dictionary.description:
        yield f"        description: {quoted(each.dictionary.description[:2000])}"
    # text may name people even where nothing was found in it
    if each.is_flagged or each.role == "text":
        yield from _decision(each, found)


def _bounds(each: Proposal) -> Iterator[str]:
    scale = each.instrument
    hint = "from an instrument or codebook, not from the data"
    if scale is not None:
        hint = f"{scale.name}: {scale.lower:g} to {scale.upper:g} {scale.unit}? ({scale.source})"
    if each.role == "date":
        hint = 'a date such as "2020-01-31", from the study\'s protocol'
    yield f"        lower: {ASK}  # {_comment(hint)}"
    yield f"        upper: {ASK}"
    yield f"        basis: {ASK}  # instrument, dictionary, law or looked_at_data"
    if scale is not None:
        yield f"        # instrument: {scale.key}  # enlivens the twin, at no cost"
    if each.role != "date":
        yield f"        # bins: {each.bins}"


def _categories(each: Proposal) -> Iterator[str]:
    if each.dictionary.levels:
        yield f"        categories: [{', '.join(map(quoted, each.dictionary.levels))}]"
        yield "        basis: dictionary"
        return
    yield f"        categories: {ASK}  # a list, as the codebook has it: [a, b, c]"
    yield f"        basis: {ASK}  # instrument, dictionary, law or looked_at_data"


def _decision(each: Proposal, found: FoundTable) -> Iterator[str]:
    seen = found.column(each.column).identifying
    known = seen.classification if seen.classification != "none" else "quasi"
    kind, proposed, why = seen.kind, each.decision, seen.why
    if not each.is_flagged:
        kind, proposed, why = "TEXT", "drop", "Text may name people; it stays only if you decide so."
    yield "        pii:"
    yield f"          kind: {kind}"
    yield f"          classification: {known}"
    yield f"          decision: {ASK}  # proposed: {proposed}. {_comment(why)}"
    yield f"          by: {ASK}"
    yield f"          why: {ASK}"


def quoted(text: str) -> str:
    """A quoted scalar: JSON's quotes are YAML's."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\x7f").translate(_ESCAPED)


# line ends to YAML, though not to JSON
_ESCAPED = {0x85: "\\x85", 0x2028: "\\u2028", 0x2029: "\\u2029", 0xFEFF: "\\uFEFF"}


def _comment(text: str) -> str:
    """One line, in which nothing can begin."""
    return "".join(letter if letter.isprintable() else " " for letter in text)[:200].strip()


def open_questions(content: object) -> list[Question]:
    """Every ASK that is left in a draft, in its order."""
    return [Question(place, _sentence(place)) for place in _asked(content, "")]


def _asked(content: object, place: str) -> Iterator[str]:
    """Names of the data's own, and single categories, may be this very word."""
    if isinstance(content, Mapping):
        is_named = place.startswith(("tables", "profile"))
        for name, value in content.items():
            below = f"{place}.{name}" if place else str(name)
            if value == ASK and not (is_named and name in ("name", "path", "table", "column")):
                yield below
            yield from _asked(value, below)
    elif isinstance(content, list | tuple):
        for number, value in enumerate(content):
            yield from _asked(value, f"{place}.{_called(value, number)}")


def _called(value: Any, number: int) -> str:
    if isinstance(value, Mapping):
        named = value.get("name", value.get("path"))
        if isinstance(named, str) and named:
            return named
    return str(number)


def _sentence(place: str) -> str:
    field = place.rsplit(".", 1)[-1]
    return _SENTENCES.get(field, "it is not answered yet; put an answer in place of ASK.")


_SENTENCES = {
    "dialect": "how the file is written is not confirmed; take what stands beside it, or write what is so.",
    "decimal": "it is not said yet whether a comma is a decimal comma; look at the file.",
    "dates": "it is not said yet whether the day or the month comes first; look at the file.",
    "decision": "no decision on this identifying column yet; run dpgate twin decide, or write one.",
    "by": "who decided is not written yet; dpgate twin decide writes it.",
    "why": "the reason of the decision is missing; dpgate twin decide asks for it.",
    "lower": "the lower bound is not answered yet; take it from an instrument or codebook.",
    "upper": "the upper bound is not answered yet; take it from an instrument or codebook.",
    "most_rows": "the most rows of one person are not answered yet; the report proposes some, for you alone.",
    "most_bytes": "the most bytes of one person's files are not answered yet.",
    "categories": "the categories are not listed yet; take them from the codebook.",
}
