"""The layers as torch builds them. torch and opacus are an optional part, imported when they are used."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from companions.lab.gan.layers import Dense
from dpgate.errors import DpgateError

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
