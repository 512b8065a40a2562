"""The layers of the two networks, as numbers: readable and countable without torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from dpgate.errors import DpgateError

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


# The layers as torch builds them. torch and opacus are an optional part, imported when they are used.

Part = Any
"""A module of torch or opacus, or something of theirs: they are not there where types are checked."""

INSTALL = 'the networks need torch and opacus, which are not installed: pip install "dpgate[gan]"'


def load(name: str) -> Part:
    """A module of the optional part. Raises DpgateError that says what to install."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != name.split(".")[0]:
            raise
        raise DpgateError(INSTALL) from None


def require_torch() -> None:
    """Raises DpgateError when the optional part is not installed."""
    load("torch")
    load("opacus")


def build(layers: Sequence[Dense]) -> Part:
    """One after the other. Weights start as Glorot and Bengio (AISTATS 2010) draw them, offsets at 0."""
    nn = load("torch").nn
    parts: list[Part] = []
    for layer in layers:
        dense = nn.Linear(layer.inputs, layer.outputs)
        nn.init.xavier_uniform_(dense.weight)
        nn.init.zeros_(dense.bias)
        parts.append(dense)
        if layer.activation == "relu":
            parts.append(nn.ReLU())
        elif layer.activation == "sigmoid":
            parts.append(nn.Sigmoid())
        if layer.dropout:
            parts.append(nn.Dropout(layer.dropout))
    return nn.Sequential(*parts)
