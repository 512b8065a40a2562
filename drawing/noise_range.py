"""The noise of one mean beside the range that it is drawn for: what wide and narrow bounds cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from drawing.axis import MARGIN, Linear, figure_text, framed

ROW = 46.0
"""Pixels of one choice of bounds: its words, and its bar below them."""


@dataclass(frozen=True)
class Choice:
    """One choice of bounds, and the half width of 95 % of the noise of a mean with it."""

    name: str
    lower: float
    upper: float
    half: float


def draw_noise_range(choices: Sequence[Choice]) -> str:
    """One bar for each choice, on one scale; the dark part is the noise. Raises ValueError for no choice."""
    if not choices:
        raise ValueError("there is no choice of bounds to draw")
    scale = Linear.around(end for choice in choices for end in (choice.lower, choice.upper, *_noise(choice)))
    body = "".join(_row(choice, scale, place * ROW) for place, choice in enumerate(choices))
    return framed(
        body,
        kind="noise-range",
        name="Noise of one mean against the range of its bounds",
        sentence="; ".join(_words(choice) for choice in choices) + ".",
        height=ROW * len(choices),
    )


def _row(choice: Choice, scale: Linear, top: float) -> str:
    lower, upper = _at(scale, choice.lower), _at(scale, choice.upper)
    left, right = (_at(scale, end) for end in _noise(choice))
    y = f"{top + 24:.1f}"
    # the words come from numbers and fixed names: nothing that anybody typed
    return (
        f'<text class="mark" x="0" y="{top + 14:.1f}">{_words(choice)}</text>'
        f'<rect class="range" x="{lower:.2f}%" y="{y}" width="{upper - lower:.2f}%" height="12"/>'
        f'<rect class="noise" x="{left:.2f}%" y="{y}" width="{right - left:.2f}%" height="12"/>'
    )


def _noise(choice: Choice) -> tuple[float, float]:
    middle = choice.lower / 2 + choice.upper / 2
    return middle - choice.half, middle + choice.half


def _words(choice: Choice) -> str:
    return (
        f"{choice.name}: {figure_text(choice.lower)} to {figure_text(choice.upper)}, "
        f"noise ± {figure_text(choice.half)}"
    )


def _at(scale: Linear, value: float) -> float:
    return MARGIN + (100 - 2 * MARGIN) * scale.share(value)
