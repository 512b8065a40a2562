"""From the outputs of a pipeline's runs to noised numbers: the only place where they meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import sqlalchemy as sa

from domain.dataset import Dataset
from domain.job import Job, JobRequest
from domain.mechanism import BlackBox
from domain.output_value import OutputValue
from domain.people import Result
from domain.rank_interval import said_of_blocks
from domain.release import ReleasedResult
from domain.shape import Shape
from domain.shape.nifti import NiftiShape
from privacy.mechanism import NoisedOutput, RunOutput
from privacy.pac import Pac
from privacy.pac_state import PacState
from privacy.people import Released, computed
from privacy.sample_aggregate import SampleAggregate
from privacy.two_step import TwoStepMean
from store import pac_states
from store.sealing import open_sealed, seal
from worker.collect import unpack
from worker.drawn import Drawn, DrawnValue, text
from worker.zone import WorkerZone


def draw_pipeline(
    zone: WorkerZone, connection: sa.Connection, job: Job, dataset: Dataset, opened: Mapping[int, bytes]
) -> Drawn:
    """Aggregate what the runs of a pipeline gave, and add the noise."""
    assert isinstance(job.request, JobRequest)
    mechanism = job.request.mechanism_for(dataset.declaration)
    # in the order of the plan: which run was done first, and so how heavy it may be, orders nothing
    outputs = [unpack(opened[run]) for run in range(mechanism.plan.runs)]
    if isinstance(mechanism, Pac):
        noised = _draw_pac(zone, connection, mechanism, outputs, cohort=dataset.cohort)
    else:
        noised = mechanism.release(outputs)
    names = [value.name for value in job.request.values]
    values = tuple(
        DrawnValue(name, output, step=grid.step, lower=grid.lower, upper=grid.upper)
        for name, output, grid in zip(names, noised[: len(names)], mechanism.grids, strict=True)
    )
    return Drawn(
        mechanism=mechanism.mechanism,
        guarantee=mechanism.guarantee,
        relation=mechanism.relation,
        parameters=mechanism.parameters(),
        values=values,
        files=_files(job.request.shape, values),
        diagnostics=_diagnostics(mechanism, noised[len(values) :]),
        placing=_placing(job.request.shape),
        ranks=said_of_blocks(mechanism, names) if isinstance(mechanism, SampleAggregate) else None,
        results=results_of(job.request, values, people=dataset.declaration.nominal_size),
    )


def _draw_pac(
    zone: WorkerZone,
    connection: sa.Connection,
    mechanism: Pac,
    outputs: Sequence[RunOutput],
    *,
    cohort: str,
) -> tuple[NoisedOutput, ...]:
    """The cohort's secret half-sample speaks; what it told about itself is kept, in this transaction."""
    key, context = zone.keys.states, f"pac state of {cohort}"

    def first() -> bytes:
        return seal(PacState.draw().pack(), key=key, context=context)

    sealed = pac_states.read(connection, cohort=cohort, first=first)
    state = PacState.unpack(open_sealed(sealed, key=key, context=context))
    noised, after = mechanism.release(outputs, state=state)
    # with the release or not at all: a state that forgot a release would let the half be guessed at anew
    pac_states.replace(connection, cohort=cohort, sealed=seal(after.pack(), key=key, context=context))
    return noised


def _diagnostics(mechanism: BlackBox, noised: Sequence[NoisedOutput]) -> tuple[DrawnValue, ...]:
    names = mechanism.diagnostics if isinstance(mechanism, SampleAggregate | TwoStepMean) else ()
    return tuple(
        DrawnValue(name, output, step=Fraction(1)) for name, output in zip(names, noised, strict=True)
    )


def _placing(locked: Shape) -> str | None:
    """Of each volume, what was compared of where those of runs lie."""
    said = [f"{shape.file}: {shape.placing}" for shape in locked.files if isinstance(shape, NiftiShape)]
    return " ".join(said) or None


def _files(locked: Shape, values: Sequence[DrawnValue]) -> dict[str, bytes]:
    """The twin's files, with the noised numbers in place of its own."""
    return locked.write([text(value) for value in values])


# What follows from the noised means of a release: sums, counts, covariances, correlations. Sees released
# and public numbers alone.


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
