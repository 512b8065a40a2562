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
    text = (DOCS / page).read_text(encoding="utf-8")
    return [Fence(language, title, body) for language, title, body in FENCE.findall(text)]


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
