"""The policies as tables for people: documentation is made from what is compiled."""

from collections.abc import Iterable, Sequence

from .answered import ALWAYS, LINKS
from .docker import RUNTIME_NEEDS
from .model import Group, Verdict
from .policy import STRICT
from .refused import REFUSED
from .standard import ADDITIONS, Addition


def additions_table(additions: Sequence[Addition] = ADDITIONS) -> str:
    """Markdown: what STANDARD adds to STRICT."""
    rows = (
        (" ".join(f"`{call}`" for call in each.calls), each.what, each.needed_by, each.channel)
        for each in additions
    )
    return _table(("calls", "what is allowed", "needed by", "what it opens"), rows)


def refusals_table(groups: Sequence[Group] = (*STRICT.groups, *REFUSED)) -> str:
    """Markdown: the calls that STRICT refuses by name, and why."""
    rows = (
        (group.reason, group.verdict.name, " ".join(f"`{call}`" for call in sorted(group.calls)))
        for group in groups
        if group.verdict is not Verdict.ALLOW
    )
    return _table(("why", "error", "calls"), rows)


def runtime_table() -> str:
    """Markdown: what a container engine's own runtime needs beyond the policy of the run."""
    return _table(("call", "needed by"), ((f"`{call}`", reason) for call, reason in RUNTIME_NEEDS.items()))


def answers_table() -> str:
    """Markdown: the calls that a supervisor answers in the kernel's place, and under which policies."""
    rows = (
        (" ".join(f"`{call}`" for call in calls if calls[call] == why), why, under)
        for calls, under in ((ALWAYS, "both"), (LINKS, "strict"))
        for why in dict.fromkeys(calls.values())
    )
    return _table(("calls", "why", "under"), rows)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
