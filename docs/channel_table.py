"""The residual channels as the threat model lists them: written into that page, between two marks."""

from __future__ import annotations

from collections.abc import Iterable

from page_parts import code, table

from domain.channel_words import CHANNEL_WORDS
from domain.channels import CHANNELS, left_open
from domain.image import SyscallTable
from domain.surroundings import Backend, Isolation, Surroundings

BEGIN, END = "<!-- Channels: written by docs/generate.py -->\n", "<!-- End of channels -->\n"
_PLACES = (
    ("`supervised`, `strict`", Backend.COLD, SyscallTable.STRICT),
    ("`supervised`, `standard`", Backend.COLD, SyscallTable.STANDARD),
    ("`docker`", Backend.DOCKER, SyscallTable.STRICT),
)


def with_channels(page: str) -> str:
    """The page with its tables as the code has them."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no place for channels: {BEGIN!r} and {END!r}")
    return before + BEGIN + "\n" + channels() + "\n" + END + after


def channels() -> str:
    rows = [(code(each.name), each.sentence, each.carries, each.closed_by) for each in CHANNELS]
    text = table(("channel", "what it is", "carries, for a run", "closed by"), rows)
    text += "\nWhere each is open. *shared* and *exclusive* are the "
    text += "[isolation](../how-to/policy.md#alone-or-beside-each-other) that the policy chooses; a filled "
    text += "cell is open.\n\n"
    heads = ("channel", "on pages", *(name for name, *_ in _PLACES))
    return text + table(
        heads, [(code(each.name), CHANNEL_WORDS[each.name], *_cells(each.name)) for each in CHANNELS]
    )


def _cells(name: str) -> Iterable[str]:
    for _, backend, syscalls in _PLACES:
        found = [
            isolation.value
            for isolation in (Isolation.SHARED, Isolation.EXCLUSIVE)
            if name in left_open(Surroundings(backend, syscalls, isolation))
        ]
        cell = {0: "coarse timing" if name == "run_times" else "", 1: ", ".join(found), 2: "both"}[len(found)]
        yield cell + "".join(_unless(name, backend, syscalls)) if found else cell


def _unless(name: str, backend: Backend, syscalls: SyscallTable) -> Iterable[str]:
    """What closes it there, beside isolation and timing."""
    if name not in left_open(Surroundings(backend, syscalls, Isolation.SHARED, in_memory=True)):
        yield ", if the image is not in memory"
    warm = Backend.WARM if backend is Backend.COLD else backend
    if name not in left_open(Surroundings(warm, syscalls, Isolation.SHARED)):
        yield ", in cold slots"
