"""What follows from the noised means of a release: sums, counts, covariances, correlations.

Sees released and public numbers alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from domain.job import JobRequest
from domain.output_value import OutputValue
from domain.people import Result
from domain.release import ReleasedResult
from privacy.people import Released, computed
from worker.drawn import DrawnValue


def results_of(
    request: JobRequest, drawn: Sequence[DrawnValue], *, people: int
) -> tuple[ReleasedResult, ...]:
    """Every result that the manifest wants, from the numbers drawn; `people` is the nominal size."""
    values = {value.name: value for value in drawn}
    declared = {value.name: value for value in request.values}
    return tuple(
        _result(result, values, declared, people=people) for result in request.pipeline.manifest.results
    )


def _result(
    result: Result,
    drawn: Mapping[str, DrawnValue],
    declared: Mapping[str, OutputValue],
    *,
    people: int,
) -> ReleasedResult:
    parts = [_released(drawn[name]) for name in result.parts]
    centres = result.centres([declared[name] for name in result.parts])
    found = computed(result.kind, parts, people=people, centres=centres)
    return ReleasedResult(
        name=result.name,
        kind=result.kind,
        parts=result.parts,
        centres=tuple(map(str, centres)),
        value=found.value,
        lower_95=found.lower_95,
        upper_95=found.upper_95,
    )


def _released(value: DrawnValue) -> Released:
    half = value.output.half_width_99
    assert half is not None  # a part is a mean
    return Released(Fraction(value.output.value), half)
