"""The catalogue of refusals as its page lists it: written into that page, between two marks."""

from __future__ import annotations

import re

from page_parts import code, table

from domain.places import place
from domain.refusals.fields import Refusal
from domain.refusals.rooms import ROOMS, of
from gateway.problems import STATUS

BEGIN, END = "<!-- Refusals: written by docs/generate.py -->\n", "<!-- End of refusals -->\n"

# what stands for more than a word
_PHRASES = {"fix", "how", "instead", "no", "now", "problem", "use", "wanted", "what", "whose", "why"}


def with_refusals(page: str) -> str:
    """The page with its tables as the code has them."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no place for refusals: {BEGIN!r} and {END!r}")
    return before + BEGIN + "\n" + _rooms() + END + after


def _rooms() -> str:
    text = ""
    for title, room in ROOMS.items():
        text += f"### {title}\n\n" + table(
            ("code", "status", "what dpgate says"), [_row(r) for r in of(room)]
        )
        text += "\n"
    return text


def _row(refusal: Refusal) -> tuple[str, ...]:
    said = f"{refusal.problem} {refusal.fix}".strip()
    where = place(refusal.field)
    said = f"{where}: {said}" if where else said[:1].upper() + said[1:]
    return code(refusal.code), str(STATUS[refusal.error]), re.sub(r"\{(\w+)\}", _blank, said)


def _blank(found: re.Match[str]) -> str:
    return "..." if found[1] in _PHRASES else found[1].upper()
