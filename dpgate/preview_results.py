"""The error to expect of what follows from drawn means: totals, covariances and correlations over people."""

from __future__ import annotations

from collections.abc import Sequence

from domain.output_value import OutputValue
from domain.pipeline import Manifest
from privacy.preview import TwinAnswers
from privacy.preview.results import ResultForecast, Wanted, forecast_results
from privacy.sample_aggregate import SampleAggregate


def results_of(
    chosen: SampleAggregate,
    manifest: Manifest,
    values: Sequence[OutputValue],
    twin: TwinAnswers,
    *,
    nominal: int,
) -> dict[str, ResultForecast]:
    """What follows from the recommended choice's means, by name."""
    by_name = {value.name: place for place, value in enumerate(values)}
    wanted = []
    for result in manifest.results:
        parts = tuple(by_name[name] for name in result.parts)
        wanted.append(Wanted(result.kind, parts, result.centres([values[part] for part in parts])))
    if not wanted:
        return {}
    found = forecast_results(chosen, wanted, twin=twin, nominal_size=nominal)
    return {result.name: row for result, row in zip(manifest.results, found, strict=True)}
