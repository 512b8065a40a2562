"""What another policy changes: the fields, and the decisions on past jobs as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from desk.policies import SimulationView
from domain.policy import Policy, changes
from domain.simulation import Admission, Exit
from gateway.pages.policy_fields import label, told

LISTS = ("data_users", "images", "guarantees", "reviewed_pipelines", "reviewers", "accepted_channels")
TONES = {
    Admission.RUNS: "free",
    Admission.WAITS: "waits",
    Admission.REFUSED: "refused",
    Exit.BY_ITSELF: "free",
    Exit.REVIEWED: "waits",
}


@dataclass(frozen=True)
class Difference:
    """One field before and after; what a list gains and loses, where the field is one."""

    label: str
    before: str
    after: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part:
    """One piece of a bar: places in percent of the width."""

    way: str
    tone: str
    count: int
    start: str
    width: str


@dataclass(frozen=True)
class Bar:
    """The jobs of one column, then or now."""

    name: str
    parts: tuple[Part, ...]

    @property
    def sentence(self) -> str:
        return ", ".join(f"{part.way}: {part.count}" for part in self.parts)


@dataclass(frozen=True)
class Picture:
    """Two bars of the same length scale, one above the other."""

    title: str
    bars: tuple[Bar, ...]


def differences(before: Policy, after: Policy) -> list[Difference]:
    """Every field that differs, in the order of the policy."""
    found = []
    # a threshold is told with the rule that it belongs to
    names = dict.fromkeys(name.removesuffix("_above") for name in changes(before, after))
    for name in names:
        old, new = getattr(before, name), getattr(after, name)
        is_list = name in LISTS
        found.append(
            Difference(
                label=label(name),
                before=told(name, before),
                after=told(name, after),
                added=tuple(str(part) for part in new if part not in old) if is_list else (),
                removed=tuple(str(part) for part in old if part not in new) if is_list else (),
            )
        )
    return found


def pictures(found: SimulationView) -> list[Picture]:
    """How jobs come in, and how releases come out. Nothing to draw where there is no job."""
    if not found.simulated:
        return []
    return [
        _picture("How jobs come in", found.admissions_then, found.admissions_now, found.simulated),
        _picture("How their releases come out", found.exits_then, found.exits_now, found.simulated),
    ]


def _picture(
    title: str,
    then: Mapping[Admission, int] | Mapping[Exit, int],
    now: Mapping[Admission, int] | Mapping[Exit, int],
    whole: int,
) -> Picture:
    return Picture(title, (_bar("as it was", then, whole), _bar("with the change", now, whole)))


def _bar(name: str, counts: Mapping[Admission, int] | Mapping[Exit, int], whole: int) -> Bar:
    parts, start = [], 0.0
    for way, count in counts.items():
        width = 100 * count / whole
        parts.append(Part(str(way), TONES[way], count, f"{start:.3f}", f"{width:.3f}"))
        start += width
    return Bar(name, tuple(parts))
