"""The main backend: a supervisor per slot inside bubblewrap forks a child into new namespaces per run."""

from .sandbox import SupervisedSandbox
from .slot import SupervisedSlot

__all__ = ["SupervisedSandbox", "SupervisedSlot"]
