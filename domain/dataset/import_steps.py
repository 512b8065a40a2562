"""When an import may end: at one of few moments after its worker began, so that others do not learn from the
clock how much there is of anybody.
"""

from __future__ import annotations

from collections.abc import Iterator

FIRST_S = 1 / 16
DOUBLED_UNTIL_S = 64.0
LATER_FACTOR = 1.25


def steps() -> Iterator[float]:
    """Seconds after the beginning: doubled up to a minute, then a quarter longer each, without an end."""
    step = FIRST_S
    while True:
        yield step
        step *= 2 if step < DOUBLED_UNTIL_S else LATER_FACTOR


def step_after(took_s: float) -> float:
    """The first that is not over."""
    return next(step for step in steps() if step >= took_s)
