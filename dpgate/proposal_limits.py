"""What of a pipeline's files cannot leave as it is, said while it is still being written, with what can."""

from __future__ import annotations

from collections.abc import Sequence

from domain.people_in_paths import mentions
from domain.pipeline import OutputFile
from domain.shape import FileShape, NiftiShape, TextShape
from privacy.mechanism import MAX_OUTPUTS

USE_CASES = "docs/how-to/siesta.md#what-siestas-use-cases-can-have"


def of_names(output: OutputFile, content: bytes) -> list[str]:
    """Labels leave as they are. The twin's people are nobody, and the data's will stand in their place."""
    if output.format not in ("text", "json"):
        return []
    named = next(mentions(content.decode("utf-8", "replace")), None)
    if named is None:
        return []
    return [
        f"    # names sub-{named}: if that is a person, it cannot leave, since labels get no noise;",
        f"    # write numbers over people, or a row for each person under one heading: {USE_CASES}",
    ]


def of_many(shape: FileShape, constant: Sequence[bool]) -> list[str]:
    """What many numbers are better given as. `constant`: which of them are no results."""
    results = len(constant) - sum(constant)
    if results <= MAX_OUTPUTS:
        return []
    lines = [f"    # {results} numbers share the loss: joint or Gaussian noise"]
    if axis := _axis(shape, constant):
        return [
            *lines,
            f"    # along {axis} a curve: a few numbers on splines (`curve`), or means of a few windows",
        ]
    if isinstance(shape, NiftiShape):
        return [
            *lines,
            "    # fewer say more: `volume` with a mask of a few regions, or with average, a cube's",
        ]
    return [*lines, "    # fewer say more: means of regions or windows, or the places that you need, by name"]


def _axis(shape: FileShape, constant: Sequence[bool]) -> str | None:
    """The one column of a table that is the same whoever is in the data, and a number in each of its rows."""
    if not isinstance(shape, TextShape):
        return None
    columns = list(shape.columns)
    results = {column for column, same in zip(columns, constant, strict=True) if not same}
    fixed = sorted({column for column in columns if column is not None} - results)
    if len(fixed) != 1 or not fixed[0].isprintable():
        return None
    return fixed[0] if columns.count(fixed[0]) > MAX_OUTPUTS else None
