"""The end of a demo on one screen of 80 columns and 24 lines."""

from __future__ import annotations

from pathlib import Path

from dpgate.demo.found import Answer, Asked, Found
from dpgate.demo.words import LABELS, plus_minus

WIDTH, HEIGHT = 80, 24


def screen(found: Found, *, chart: Path) -> str:
    """Text of at most 23 lines, the last for the prompt; lines are as wide as 80 but for a long path."""
    lines = [
        "",
        f"What {found.people:,} people's data gave".ljust(32) + "without code    own program     truth",
        "hours of work per week".ljust(32)
        + f"epsilon {found.query.epsilon}".ljust(16)
        + f"epsilon {found.pipeline.epsilon}",
        *_pairs(found.query, found.pipeline),
        "",
        *_spied(found),
        "",
        f"The budget of all was epsilon {found.budget}. The next question was refused: "
        f"{found.budget_left} is left.",
        "",
        f"What {found.few_people} people's data gave".ljust(48)
        + f"epsilon {found.few.epsilon}".ljust(16)
        + "truth",
        *(_row(answer, "") for answer in found.few.answers),
        "",
        f"{found.covered} of {len(found.answers)} lie within their interval (expected: 95 %). Class: "
        f"{found.guarantee}.",
        "We can show you the truth only because these data are public.",
        f"Chart: {chart}",
        f"{found.seconds:.0f} s. Everything that this demo started has ended.",
    ]
    return "\n".join(lines)


def _pairs(query: Asked, pipeline: Asked) -> list[str]:
    return [
        _row(other, plus_minus(answer)) for answer, other in zip(query.answers, pipeline.answers, strict=True)
    ]


def _row(answer: Answer, before: str) -> str:
    return (
        f"  {LABELS[answer.name]}".ljust(32)
        + before.ljust(16)
        + plus_minus(answer).ljust(16)
        + f"{answer.truth:.1f}"
    )


def _spied(found: Found) -> list[str]:
    spied = found.spied
    return [
        f"A spy's program, to tell {spied.if_there:g} (the person is there) from 0 (is not), got",
        f"{spied.value:.2f} ± {spied.within:.2f}. From a guess of 50 % that makes "
        f"{100 * spied.belief:.0f} %; "
        f"never beyond {100 * spied.most_belief:.0f} %.",
    ]
