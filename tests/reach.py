"""The unit tests of privacy/ reach each of its lines and branches: measured while they run.

Only their cases are measured, in whichever processes they run. A session that runs all of them fails if
together they leave out a line or a branch; one that runs some of them says nothing about it.
"""

from __future__ import annotations

import importlib
import io
import pkgutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from coverage import Coverage, CoverageData

import privacy

TESTS = Path(__file__).parent / "unit" / "privacy"
OUTPUT = "reach of the unit tests of privacy"
"""Under this name a process of a session hands on what it has measured."""


class Reach:
    """What one process has reached."""

    def __init__(self) -> None:
        self._coverage = _coverage()
        with self.measured():
            _define_again()

    @contextmanager
    def measured(self) -> Iterator[None]:
        self._coverage.start()
        try:
            yield
        finally:
            self._coverage.stop()

    def dumped(self) -> bytes:
        return self._coverage.get_data().dumps()


def left_out(dumps: list[bytes]) -> str:
    """The lines and branches that nobody has reached, or `""`."""
    together = _coverage()
    for dump in dumps:
        data = CoverageData(no_disk=True)
        data.loads(dump)
        together.get_data().update(data)
    table = io.StringIO()
    reached = together.report(show_missing=True, skip_covered=True, precision=2, file=table)
    return "" if reached == 100 else table.getvalue()


def _coverage() -> Coverage:
    return Coverage(
        data_file=None, config_file=False, branch=True, source=[str(Path(privacy.__file__).parent)]
    )


def _define_again() -> None:
    """What runs when a module is imported is reached too; ours were imported before. Others keep theirs."""
    real = {name: sys.modules.pop(name) for name in list(sys.modules) if _is_ours(name)}
    try:
        for module in pkgutil.walk_packages(privacy.__path__, f"{privacy.__name__}."):
            importlib.import_module(module.name)
    finally:
        for name in filter(_is_ours, list(sys.modules)):
            del sys.modules[name]
        sys.modules.update(real)


def _is_ours(name: str) -> bool:
    return name.partition(".")[0] == privacy.__name__
