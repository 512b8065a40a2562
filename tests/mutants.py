"""A module of ours with one deliberate mistake in it: today's source with one text replaced.

It can neither go stale nor drift from the real code: if the text is not found exactly once, loading fails.
"""

from __future__ import annotations

import importlib.util
import itertools
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]
_numbers = itertools.count()


@dataclass(frozen=True)
class Loaded:
    """`mistake` is empty where it has the name of the test."""

    file: str
    mistake: str


LOADED: list[Loaded] = []
"""Mutants that the case that runs has met so far."""


def mutant(module: ModuleType, old: str, new: str, *, mistake: str = "") -> ModuleType:
    """The module's own source with `old` replaced, run as a module of another name."""
    source = Path(str(module.__file__)).read_text("utf-8")
    if source.count(old) != 1:
        raise LookupError(
            f"the text to mutate occurs {source.count(old)} times in {module.__file__}, not once"
        )
    spec = importlib.util.spec_from_loader(f"mutant_{next(_numbers)}", loader=None)
    assert spec is not None
    copy = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = copy  # dataclasses look their module up
    LOADED.append(Loaded(str(Path(str(module.__file__)).relative_to(ROOT)), mistake))
    exec(compile(source.replace(old, new), f"mutant of {module.__file__}", "exec"), vars(copy))
    return copy
