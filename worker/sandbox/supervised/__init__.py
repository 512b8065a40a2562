"""The main backend: a supervisor per slot inside bubblewrap forks a child into new namespaces per run."""

from worker.sandbox.core.slot import SupervisedSlot

from .sandbox import SupervisedSandbox

__all__ = ["SupervisedSandbox", "SupervisedSlot"]
