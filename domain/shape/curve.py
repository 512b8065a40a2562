"""A curve on a public axis, of which a release holds the coefficients on B-splines of public knots.

A run writes the curve as a table with a column for the axis and one for the value. Its coefficients are the
least-squares fit, by this code; the release writes the curve of the released ones on the twin's axis. Reads
hostile bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, StringConstraints, model_validator

from domain.errors import PipelineError
from domain.model import InsidePath, Model
from domain.pipeline import CurveBounds, OutputFile
from domain.shape.constants import Constant
from domain.shape.text import MAX_CELLS, delimiter_of, find_number, split_cells
from domain.splines import Matrix, basis, determines

_SAME = 1e-9
"""Of an axis, as a share of its length: texts of one number may differ in their last digit."""

_SINGULAR = 1e-8
"""Least eigenvalue of the Gram matrix of a basis that a twin's run locks."""


class CurveShape(Model):
    """The axis as the twin's run wrote it, and the basis that the manifest declares."""

    format: Literal["curve"] = "curve"
    file: Annotated[InsidePath, StringConstraints(pattern=r"\.(tsv|csv|txt)$")]
    axis: Annotated[tuple[Constant, ...], Field(min_length=2, max_length=MAX_CELLS)]
    curve: CurveBounds

    @model_validator(mode="after")
    def _determines_its_coefficients(self) -> CurveShape:
        if delimiter_of(self.file) in self.curve.axis + self.curve.value:
            raise ValueError("a column's name holds the delimiter of the file; type `dpgate run FOLDER`")
        first, last = min(self._points), max(self._points)
        if not self.curve.knots[0] <= first <= last <= self.curve.knots[-1]:
            raise ValueError("knots must reach from the least to the largest value of the axis")
        # a look at each point: shapes are read far more often than they are used
        if not determines(self._points, self.curve.knots, self.curve.degree):
            raise ValueError(self.undetermined)
        return self

    @property
    def undetermined(self) -> str:
        return (
            f"{len(self.axis)} points of the axis do not determine {self.numbers} coefficients: declare "
            "fewer knots, with points between all of them"
        )

    @property
    def is_regular(self) -> bool:
        """Whether no coefficient hangs on the last digits of the values."""
        return bool(np.linalg.eigvalsh(self._gram)[0] >= _SINGULAR)

    @property
    def constants(self) -> tuple[()]:
        """None: the axis is no number of a release."""
        return ()

    @property
    def numbers(self) -> int:
        return self.curve.coefficients

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(f"coefficient {place}" for place in range(1, self.numbers + 1))

    def read(self, content: bytes) -> list[float | None]:
        """The coefficients of the curve of a run; None for each if a value is missing.

        Raises PipelineError for a file without one of the columns, and for another axis than the twin's.
        """
        points, values = curve_of(self.file, content, self.curve)
        if len(points) != len(self._points) or not self._is_same_axis(points):
            raise PipelineError(f"{self.file} has another axis than the twin's run")
        if None in values:
            return [None] * self.numbers
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # of numbers near the largest there are
                fitted = self._fit @ np.array(values, float)
        except np.linalg.LinAlgError:  # of a shape that no run on a twin locks
            raise PipelineError(f"{self.file}: {self.undetermined}") from None
        return [float(number) if np.isfinite(number) else None for number in fitted]

    def write(self, numbers: Sequence[str]) -> bytes:
        """The curve of these coefficients on the twin's axis, under the names of both columns."""
        if len(numbers) != self.numbers:
            raise ValueError(f"{self.file} holds {self.numbers} numbers, got {len(numbers)}")
        values = self.at_axis([float(number) for number in numbers])
        rows = [
            (self.curve.axis, self.curve.value),
            *((point, f"{value:.9g}") for point, value in zip(self.axis, values, strict=True)),
        ]
        return "".join(delimiter_of(self.file).join(row) + "\n" for row in rows).encode()

    def at_axis(self, coefficients: Sequence[float]) -> list[float]:
        """The curve of these coefficients at each point of the axis."""
        return [float(value) for value in self._basis @ np.array(coefficients, float)]

    @cached_property
    def _points(self) -> list[float]:
        return [float(text) for text in self.axis]

    @cached_property
    def _basis(self) -> Matrix:
        return basis(self._points, self.curve.knots, self.curve.degree)

    @cached_property
    def _fit(self) -> Matrix:
        """From values to coefficients of least squares, by the normal equations: they are regular enough."""
        return np.asarray(np.linalg.solve(self._gram, self._basis.T), np.float64)

    @cached_property
    def _gram(self) -> Matrix:
        return self._basis.T @ self._basis

    def _is_same_axis(self, points: Sequence[float | None]) -> bool:
        close = _SAME * (self.curve.knots[-1] - self.curve.knots[0])
        pairs = zip(points, self._points, strict=True)
        return all(found is not None and abs(found - known) <= close for found, known in pairs)


def curve_of(file: str, content: bytes, curve: CurveBounds) -> tuple[list[float | None], list[float | None]]:
    """The numbers of the axis and of the values, None where a cell holds none. Raises PipelineError."""
    headings, *rows = split_cells(file, content)
    if any(len(row) != len(headings) for row in rows):
        raise PipelineError("the file has rows of another length than its headings")
    columns = [_place(file, name, headings) for name in (curve.axis, curve.value)]
    points, values = ([find_number(row[column]) for row in rows] for column in columns)
    return points, values


def _place(file: str, column: str, headings: Sequence[str]) -> int:
    if headings.count(column) != 1:
        # the twin's own name: nothing of a run's headings is repeated
        raise PipelineError(f"{file} has no column {column}, or has it twice")
    return headings.index(column)


def lock(output: OutputFile, content: bytes, _sources: Mapping[str, bytes]) -> CurveShape:
    """The shape of a curve that was written on the twin. Raises PipelineError when it has none."""
    assert output.curve is not None  # its format says so
    curve_of(output.file, content, output.curve)
    headings, *rows = split_cells(output.file, content)
    place = headings.index(output.curve.axis)
    try:
        shape = CurveShape(file=output.file, axis=tuple(row[place] for row in rows), curve=output.curve)
    except ValueError as error:
        words = "; ".join(_words(error))
        raise PipelineError(f"{output.file}: {words}") from None
    if not shape.is_regular:
        raise PipelineError(f"{output.file}: {shape.undetermined}")
    return shape


def _words(error: ValueError) -> list[str]:
    """What a model says of itself, without its own headings."""
    told = getattr(error, "errors", None)
    return (
        [str(error)] if told is None else [str(each["msg"]).removeprefix("Value error, ") for each in told()]
    )
