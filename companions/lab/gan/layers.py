"""The layers of the two networks, as numbers: readable and countable without torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Activation = Literal["relu", "sigmoid", "none"]

NOISE = 32
"""Numbers that one row is drawn from."""

WIDTH = 128
DROPOUT = 0.1


@dataclass(frozen=True)
class Dense:
    """Each output is a weighted sum of all inputs and an offset; `dropout` of them are 0 in training."""

    inputs: int
    outputs: int
    activation: Activation
    dropout: float = 0.0

    @property
    def parameters(self) -> int:
        return (self.inputs + 1) * self.outputs


def generator(columns: int) -> tuple[Dense, ...]:
    """From NOISE numbers to one row of so many columns."""
    return (
        Dense(NOISE, WIDTH, "relu"),
        Dense(WIDTH, 2 * WIDTH, "relu"),
        Dense(2 * WIDTH, 4 * WIDTH, "relu"),
        Dense(4 * WIDTH, columns, "none"),
    )


def discriminator(columns: int) -> tuple[Dense, ...]:
    """From one row to how likely it is real. The third layer has no activation, as on the slides."""
    return (
        Dense(columns, 4 * WIDTH, "relu", DROPOUT),
        Dense(4 * WIDTH, 2 * WIDTH, "relu", DROPOUT),
        Dense(2 * WIDTH, WIDTH, "none"),
        Dense(WIDTH, 1, "sigmoid"),
    )
