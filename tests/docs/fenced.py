"""The pages as a reader sees them: fenced blocks with their titles, and which outputs a page states."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FENCE = re.compile(r'^```(\w+)(?: title="(\w+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
# what changes from run to run: ids and numbers
VARIES = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d[\d.,]*")


@dataclass(frozen=True)
class Fence:
    """One fenced block. `title` is "run", "output" or empty."""

    language: str
    title: str
    text: str


def fences(page: str) -> list[Fence]:
    return [Fence(language, title, body) for language, title, body in FENCE.findall(prose(page))]


def prose(page: str) -> str:
    """A page, or of `page.md#anchor` that section, or of `page.md#..anchor` what stands before it."""
    name, _, anchor = page.partition("#")
    text = (DOCS / name).read_text(encoding="utf-8")
    if not anchor:
        return text
    begin, level = _heading(text, anchor.removeprefix(".."))
    if anchor.startswith(".."):
        return text[:begin]
    end = next((at for at, other, _ in _headings(text) if at > begin and other <= level), len(text))
    return text[begin:end]


def _heading(text: str, anchor: str) -> tuple[int, int]:
    (found,) = [(at, level) for at, level, name in _headings(text) if name == anchor]
    return found


def _headings(text: str) -> list[tuple[int, int, str]]:
    """Of each heading: where it begins, its level and its anchor. Comments of a fenced block are none."""
    bare = FENCE.sub(lambda block: "-" * len(block[0]), text)
    return [
        (found.start(), len(found[1]), re.sub(r"[^\w\- ]", "", found[2]).strip().lower().replace(" ", "-"))
        for found in re.finditer(r"^(#+) (.*)$", bare, re.MULTILINE)
    ]


def commands(page: str) -> list[Fence]:
    """What a test runs, in order."""
    return [fence for fence in fences(page) if fence.title == "run"]


def stated_lines(page: str) -> list[str]:
    return [line for fence in fences(page) if fence.title == "output" for line in fence.text.splitlines()]


def find_missing(stated: list[str], output: str) -> list[str]:
    """The stated lines whose stable parts do not follow each other in the output."""
    left, missing = _stable(output), []
    for line in stated:
        wanted = _stable(line)
        found = left.find(wanted)
        if found < 0:
            missing.append(line)
        else:
            left = left[found + len(wanted) :]
    return missing


def _stable(text: str) -> str:
    """Without numbers, ids, table lines and line breaks, which depend on the run and on the width."""
    words = re.sub(r"[│┃━─┏┓┡┩└┘┳╇┴┼╋·]", " ", text)
    return " ".join(VARIES.sub("#", words).split())
