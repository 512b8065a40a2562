"""The character model that comes with the worker, read from its package. Never from anywhere else."""

from __future__ import annotations

import functools
from importlib import resources

from twins.pii.model import Model


def model_bytes() -> bytes:
    """The file as it is, for a sandbox in which nothing of ours is mounted."""
    return (resources.files("worker") / "pii_model.npz").read_bytes()


@functools.cache
def load() -> Model:
    """Read once for each process."""
    return Model.parse(model_bytes())
