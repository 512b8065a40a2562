"""pytest's subtests for tables of cheap rows: a row that holds is not reported.

A report of each, which pytest makes and each process of a session sends to the first, costs more than most
rows do. A row that falls or is skipped is reported as pytest reports it.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

import pytest

held = 0
"""How many rows have held in this process."""


class Rows:
    """To be used as `pytest.Subtests`."""

    def __init__(self, subtests: pytest.Subtests) -> None:
        self._subtests = subtests

    def test(self, msg: str | None = None, **named: Any) -> _Row:
        return _Row(self._subtests, msg, named)


class _Row:
    def __init__(self, subtests: pytest.Subtests, msg: str | None, named: dict[str, Any]) -> None:
        self._subtests, self._msg, self._named = subtests, msg, named

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        __tracebackhide__ = True
        if error is None:
            global held
            held += 1
            return False
        row = self._subtests.test(self._msg, **self._named)
        row.__enter__()
        return bool(row.__exit__(kind, error, trace))
