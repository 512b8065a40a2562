"""Why a delivery cannot be taken."""

from __future__ import annotations

from collections.abc import Sequence

from domain.dataset import ImportProblem

_SHOWN = 10


class ImportRefused(Exception):
    """The delivery cannot be taken. `detail` may name rows and people: it stays in the data's own zone."""

    def __init__(self, problem: ImportProblem, *, place: str, detail: str = "") -> None:
        self.problem = problem
        self.place = place
        self.detail = detail
        super().__init__(f"{place}: {problem}" + (f" ({detail})" if detail else ""))


def refuse_all(problem: ImportProblem, places: Sequence[str], *, detail: str = "") -> None:
    """Raises ImportRefused for the first of these places, if any, with the next ones in its detail."""
    if not places:
        return
    first, *more = places
    if more:
        others = ", ".join(more[:_SHOWN]) + (", ..." if len(more) > _SHOWN else "")
        detail = f"{detail}; " * bool(detail) + f"{len(more)} more: {others}"
    raise ImportRefused(problem, place=first, detail=detail)
