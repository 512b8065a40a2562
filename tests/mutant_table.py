"""Which known mistakes `make test` notices, and by which case: the page docs/reference/mutants.md.

A case that loads a mutant says so with its report, in whichever process it runs. `--record-mutants` writes
the page from those that passed; `tests/architecture/test_mutant_page.py` finds out when the page is no longer
what the tests are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from mutants import Loaded

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "mutants.md"
PROPERTY = "mutant"
HEAD = """# Mistakes that the tests must notice

Each row is one deliberate mistake in today's source. The test named beside it loads the file with that
mistake, and fails if no check notices. All of them are asked of every change, in the ring `test`. How
survivors of the mechanical mutation runs are judged stands in `tests/statistical/survivors.md`.

`make test PYTEST_OPTIONS=--record-mutants` writes this page, from what was loaded while the tests ran.
"""


def note_loaded(item: pytest.Item, loaded: Iterable[Loaded]) -> None:
    """Send along with the case's report which mutants it has met."""
    for each in loaded:
        item.user_properties.append((PROPERTY, f"{each.file}|{each.mistake or mistake_of(item)}"))


def mistake_of(item: pytest.Item) -> str:
    """Whoever gives a mistake no name means that of the test."""
    function, _, values = item.name.partition("[")
    sentence = function.removeprefix("test_").replace("_", " ")
    return f"{sentence}: {values.removesuffix(']')}" if values else sentence


def record_mutants(passed: Iterable[Any]) -> None:
    rows = {
        (*value.split("|", 1), _test_of(report.nodeid))
        for report in passed
        for name, value in getattr(report, "user_properties", ())
        if name == PROPERTY
    }
    PAGE.write_text("\n".join([HEAD, *_tables(sorted(rows))]) + "\n", "utf-8")


def _test_of(nodeid: str) -> str:
    file, _, name = nodeid.partition("::")
    return f"{file.removeprefix('tests/')}::{name.partition('[')[0]}"


def _tables(rows: list[tuple[str, str, str]]) -> Iterable[str]:
    """One of each file that mistakes are made in."""
    for file in sorted({file for file, _, _ in rows}):
        yield f"## `{file}`\n\n| mistake | noticed by |\n| --- | --- |"
        yield from (f"| {_cell(mistake)} | `{test}` |" for of, mistake, test in rows if of == file)
        yield ""


def _cell(words: str) -> str:
    words = re.sub(r"([|<>*_`\\\[\]])", r"\\\1", words)
    return words[:1].upper() + words[1:]


def rows_on_page() -> set[tuple[str, str]]:
    """File that is mutated, and test."""
    found, file = set(), ""
    for line in PAGE.read_text("utf-8").splitlines():
        if title := re.fullmatch(r"## `(.+)`", line):
            file = title[1]
        elif row := re.fullmatch(r"\| .+ \| `(.+)` \|", line):
            found.add((file, row[1]))
    return found
