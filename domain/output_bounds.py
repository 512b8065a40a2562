"""What the numbers of an output file may be: names and bounds, one by one or for many at once.

Everything here is typed by the researcher without seeing the data.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints, model_validator

from domain.model import InsidePath, Model, Number, Whole
from domain.output_value import OutputValue
from domain.splines import MOST_DEGREE, basis, coefficients_of
from privacy.sample_parameters import MAX_JOINT_OUTPUTS

MAX_VALUES = MAX_JOINT_OUTPUTS
"""Of any mechanism; all but joint and Gaussian noise take fewer."""

GroupName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,47}$")]
"""Of many values: shorter, since each gets a number behind it."""
ColumnName = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]*$")]
Select = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]*$")]
"""A place in a file, as `SelectedBounds` says."""


class SelectedBounds(Model):
    """Bounds of all numbers at one place of a file. The release calls them `name`, or name-1, name-2 ...

    `select` is `*` (all that no earlier entry took), `column:NAME` of a text file whose first row holds
    labels, a JSON pointer such as `/model/beta`, a field of a .mat file such as `stats.beta`, or an address.
    """

    select: Select
    """`*` is every number that no earlier entry took; `column:NAME` a column of a text file whose first row
    holds labels; `/model/beta` a part of a JSON file; `stats.beta` a variable or field of a `.mat` file;
    `[1]` a row of an array."""
    name: GroupName
    """How the release calls the number; of several: `name-1`, `name-2` and so on."""
    lower: Number
    """Smaller numbers are clamped to this. Type it without looking at the data."""
    upper: Number
    """Larger numbers are clamped to this."""

    @model_validator(mode="after")
    def _bounds_in_order(self) -> SelectedBounds:
        OutputValue(name=self.name, lower=self.lower, upper=self.upper)
        return self


class VolumeBounds(Model):
    """Bounds of averages over a NIfTI volume: of each label of `mask`, or of cubes `average` voxels wide.

    `mask` is a volume among the pipeline's sources, with the output's dimensions.
    """

    name: GroupName
    """How the release calls the averages: `name-LABEL`, or `name-X-Y-Z` for cubes."""
    lower: Number
    """Smaller averages are clamped to this. Type it without looking at the data."""
    upper: Number
    """Larger averages are clamped to this."""
    mask: Annotated[InsidePath, StringConstraints(pattern=r"\.(nii|nii\.gz)$")] | None = None
    """A volume in the pipeline's folder with the output's dimensions: one average for each label."""
    average: Annotated[Whole, Field(ge=1, le=512)] = 1
    """Edge of the cubes that are averaged, in voxels; with a mask, inside it only."""

    @model_validator(mode="after")
    def _bounds_in_order(self) -> VolumeBounds:
        OutputValue(name=self.name, lower=self.lower, upper=self.upper)
        return self


class CurveBounds(Model):
    """A curve: column `value` over a public `axis`, on B-splines of this degree whose knots are public too.
    Its coefficients lie between the bounds, and so does the curve: `domain/splines.py`."""

    name: GroupName
    """How the release calls the coefficients: `name-1`, `name-2` and so on."""
    axis: ColumnName
    """Heading of the column of the axis. Each run writes the same points, which stay the twin's."""
    value: ColumnName
    """Heading of the column of the curve's values."""
    knots: Annotated[tuple[Number, ...], Field(min_length=2, max_length=MAX_VALUES)]
    """Points of the axis where pieces of the curve meet, from its first end to its last. Public: type them
    without looking at the data."""
    degree: Annotated[Whole, Field(ge=0, le=MOST_DEGREE)] = 3
    """Of the pieces: 0 are steps, 1 straight lines, 3 smooth. There are as many coefficients as knots and
    degree, less one."""
    lower: Number
    """Smaller coefficients are clamped to this; the released curve lies above it, but for noise."""
    upper: Number
    """Larger coefficients are clamped to this."""

    @model_validator(mode="after")
    def _is_a_basis(self) -> CurveBounds:
        OutputValue(name=self.name, lower=self.lower, upper=self.upper)
        basis((), self.knots, self.degree)
        if self.coefficients > MAX_VALUES:
            raise ValueError(f"{self.name}: at most {MAX_VALUES} coefficients; declare fewer knots")
        return self

    @property
    def coefficients(self) -> int:
        """How many numbers a release holds of it."""
        return coefficients_of(self.knots, self.degree)
