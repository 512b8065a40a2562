"""One output's error at one choice, as the wizard shows it: a curve, its numbers, simulated releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from gateway.pages.dataset_facts import Promise
from gateway.pages.layout import number
from gateway.pages.pictures import rounded

SHOWN_DRAWS = 5


@dataclass(frozen=True)
class Row:
    """One line of the table beneath the curve; `amount` is of epsilon, nats or a multiplier."""

    amount: str
    typical: str
    within_95: str
    noise_95: str
    is_chosen: bool


@dataclass(frozen=True)
class ExpectedError:
    """One output at one choice. `said` is the sentence for the chosen point, `caption` what the drawing's
    lines are; `unit` names the amounts. Empty texts are not shown."""

    output: str
    unit: str
    promise: Promise
    drawing: Markup
    caption: str
    rows: list[Row]
    said: str
    draws: list[str]
    draws_at: str
    whole: str
    bounds: str


@dataclass(frozen=True)
class NoForecast:
    """Why there is none; `is_to_run` where more runs on the twin would give one."""

    said: str
    is_to_run: bool = False


def said_of(output: str, at: str, error: float, width: float) -> str:
    """What to expect at the chosen point, and whether it is worth anything."""
    share = error / width
    judged = (
        "that says next to nothing: choose less noise, other blocks, or narrower bounds"
        if share > 0.5
        else f"that is {100 * share:.2g} % of the declared range"
    )
    return (
        f"At {at}, expect the release of {output} within {short(error)} of the whole twin's number 95 times "
        f"in 100; {judged}."
    )


def some_draws(values: Sequence[float], typed: Mapping[str, str], half: float | None) -> list[str]:
    """Five of them, others with every press of the button."""
    again = typed.get("again", "0")
    start = int(again) * SHOWN_DRAWS if again.isascii() and again.isdigit() and len(again) < 6 else 0
    many = min(SHOWN_DRAWS, len(values))
    return [rounded(values[(start + at) % len(values)], half) for at in range(many)]


def output_index(text: str, many: int) -> int:
    """Of the output to draw; the first one for what names none."""
    return min(int(text), many - 1) if text.isascii() and text.isdigit() and len(text) < 6 else 0


def short(value: float) -> str:
    return number(float(f"{value:.3g}"))
