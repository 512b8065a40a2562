"""A draft as its pages use it: what is typed, what is wrong with it, and how a change is kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from domain.errors import Conflict, FieldProblem
from domain.permissions import User
from domain.registration_draft import STEPS, by_step, problems
from gateway.pages.register_fields import shown
from store import drafts
from store.database import Database
from store.drafts import Draft

PLACE = "/datasets/new"


@dataclass(frozen=True)
class Station:
    """A step in the list of steps; `tone` only repeats what `state` says."""

    key: str
    name: str
    state: str
    tone: str
    sign: str


@dataclass(frozen=True)
class Typed:
    """What a page shows of a draft: values by path, and beside them what is wrong."""

    draft: Draft
    declaration: dict[str, Any]
    wrong: Sequence[FieldProblem] = ()
    done: tuple[str, ...] = ()
    all_wrong: dict[str, list[FieldProblem]] = field(default_factory=dict)

    @property
    def path(self) -> str:
        return f"{PLACE}/{self.draft.id}"

    def value(self, path: str, default: str = "") -> str:
        return shown(self.declaration, path) or default

    def items(self, name: str) -> list[dict[str, Any]]:
        """The objects of a list, such as the tables."""
        return [item for item in self.declaration.get(name) or () if isinstance(item, dict)]

    def wrong_at(self, path: str) -> list[FieldProblem]:
        """The problems of exactly this field, or of what is below it and has no field of its own."""
        return [
            problem
            for problem in self.wrong
            if problem.field == path or (problem.field.rpartition(".")[0] == path and _is_item(problem.field))
        ]

    def is_unset(self, path: str) -> bool:
        """Whether nothing was said about it yet: not the same as an empty list."""
        above, _, name = path.rpartition(".")
        return name not in (self.declaration.get(above) or {})

    def has(self, path: str, value: str) -> bool:
        """Whether a list of names at this path has the value."""
        return value in shown(self.declaration, path).split("\n")

    def words(self, path: str) -> str:
        """A field's path as people count: "table 1, column 4, lower"."""
        return ", ".join(_counted(path.replace("_", " ").split(".")))

    @property
    def title(self) -> str:
        return (
            shown(self.declaration, "title") or shown(self.declaration, "name") or "A data set without a name"
        )

    def stations(self, now: str) -> list[Station]:
        found = []
        for step in STEPS:
            problems_here = self.all_wrong.get(step.key, [])
            visited = step.key in self.done
            state, tone, sign = ("to do", "plain", "clock")
            if visited and problems_here:
                state, tone, sign = ("to fix", "warn", "warning")
            elif visited:
                state, tone, sign = ("done", "good", "check")
            if step.key == now:
                state, tone = "here", "accent"
            found.append(Station(step.key, step.name, state, tone, sign))
        return found


def opened(database: Database, user: User, draft_id: str) -> Draft:
    """Raises NotFound unless it is this user's own."""
    with database.reading() as connection:
        return drafts.read(connection, draft_id, owner=user.name)


def typed(draft: Draft, declaration: dict[str, Any], wrong: Sequence[FieldProblem] = ()) -> Typed:
    done = tuple(draft.content.get("done", ()))
    found = tuple(_in_words(problem) for problem in problems(declaration))
    return Typed(draft, declaration, tuple(map(_in_words, wrong)), done, by_step(found))


def declaration_of(draft: Draft) -> dict[str, Any]:
    """A copy that a form may change."""
    return deepcopy(draft.content.get("declaration") or {})


def keep(
    database: Database, draft: Draft, declaration: dict[str, Any], *, revision: str, done: str
) -> tuple[Draft, FieldProblem | None]:
    """The draft as kept, with the step that is `done` now, if one is. When another window was quicker: the
    newest one, with the sentence that says so."""
    steps = list(dict.fromkeys([*draft.content.get("done", ()), *([done] if done else [])]))
    seen = int(revision) if revision.isascii() and revision.isdigit() and len(revision) < 9 else -1
    try:
        with database.transaction() as connection:
            content = {**draft.content, "declaration": declaration, "done": steps}
            kept = drafts.change(connection, draft, content, revision=seen, now=datetime.now(UTC))
            return kept, None
    except Conflict as error:
        with database.reading() as connection:
            return drafts.read(connection, draft.id, owner=draft.owner), error.problems[0]


def _counted(parts: list[str]) -> Iterator[str]:
    for part, following in pairwise([*parts, ""]):
        if following.isdigit():
            yield f"{part.removesuffix('s')} {int(following) + 1}"
        elif not part.isdigit():
            yield part


def _in_words(problem: FieldProblem) -> FieldProblem:
    """Without the patterns of paths and of names in one line, which domain/model spells out: nobody who fills
    in a form reads regular expressions."""
    if "match pattern" not in problem.problem:
        return problem
    return FieldProblem(problem.field, "has characters that it cannot have.", problem.fix)


def _is_item(path: str) -> bool:
    return path.rpartition(".")[2].isdigit()
