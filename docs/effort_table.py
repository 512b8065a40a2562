"""What it takes a person to get something, counted on the page that leads there: commands, clicks, words.

Tests type the commands of these pages, and press what is named here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from page_parts import table

DOCS = Path(__file__).parent
BEGIN, END = "<!-- Effort: written by docs/generate.py -->\n", "<!-- End of effort -->\n"
OPEN, ASK, PRICE, SUBMIT, READ = (
    "Open one", "Ask a trusted query", "See what it costs", "Submit it", "Read the release",
)  # fmt: skip
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^(?:\w+=\S+ |\w+=\$\()?dpgate [a-z]", re.MULTILINE)


@dataclass(frozen=True)
class Aim:
    """One thing that somebody wants, and the sections that lead there."""

    name: str
    page: str
    sections: tuple[str, ...]
    clicks: tuple[str, ...] = ()
    at_first: tuple[int, int] | None = None
    """Commands and words of these sections in the first text of the page, of 21 November 2026."""

    @property
    def text(self) -> str:
        """The sections, without their headings."""
        page = (DOCS / self.page).read_text(encoding="utf-8")
        found = dict(re.findall(r"^## (\d+)\. [^\n]*\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
        text = "".join(found[section] for section in self.sections)
        if lacking := [label for label in self.clicks if label not in text]:
            raise ValueError(f"{self.page} says nothing of {lacking}")
        return text

    @property
    def commands(self) -> int:
        fences = (fence for fence in _FENCE.findall(self.text) if fence.startswith('```bash title="run"'))
        return sum(len(_COMMAND.findall(fence)) for fence in fences)

    @property
    def words(self) -> int:
        return len(re.findall(r"[^\W_]+", _FENCE.sub("", self.text)))


FIRST_ANSWER, FIRST_RELEASE = "tutorial/first-answer.md", "tutorial/first-release.md"
FIRST_QUESTION = Aim(
    "a first question, asked in the browser", FIRST_ANSWER, ("1", "2", "3"), (OPEN, ASK, PRICE, SUBMIT)
)
OWN_RELEASE = Aim(
    "a release of one's own pipeline", FIRST_RELEASE, ("4", "5", "6", "7", "8"), at_first=(6, 227)
)
AIMS = (
    FIRST_QUESTION,
    Aim("its answer, read", FIRST_ANSWER, ("4",), (READ,)),
    OWN_RELEASE,
    Aim("its certificate, checked", FIRST_RELEASE, ("9",), at_first=(2, 51)),
    Aim("a platform, started", FIRST_RELEASE, ("1",), at_first=(1, 38)),
    Aim("two people, added and logged in", FIRST_RELEASE, ("2",), at_first=(4, 52)),
    Aim("a data set, registered with its declaration", FIRST_RELEASE, ("3",), at_first=(1, 55)),
)


def with_effort(page: str) -> str:
    """The page with the counts as the other pages have them now."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no place for these counts: {BEGIN!r} and {END!r}")
    rows = [
        (
            f"[{aim.name}]({aim.page})",
            str(aim.commands),
            str(len(aim.clicks)),
            str(aim.words),
            *(map(str, aim.at_first) if aim.at_first else ("no page", "no page")),
        )
        for aim in AIMS
    ]
    return (
        before
        + BEGIN
        + "\n"
        + table(
            ("what one wants", "commands", "clicks", "words", "commands at first", "words at first"), rows
        )
        + "\n"
        + END
        + after
    )
