"""The runs of a mechanism's own plan on the twin: 64 halves of its people, or everybody but one in turn."""

from __future__ import annotations

from domain.errors import PipelineError
from domain.mechanisms import own_runs
from domain.rehearsal import MAX_LEFT_OUT, Numbers, Sampled, TwinRuns
from domain.shape import Shape
from privacy.plan import HalfSamples, LeaveOneOut
from privacy.stability import MIN_PEOPLE
from worker.rehearsal.levels import GroupRuns, Progress
from worker.rehearsal.runs import numbers_of


def plan_of(mechanism: Sampled, nominal_size: int) -> HalfSamples | LeaveOneOut:
    """Raises PipelineError where leaving people out one by one takes too many runs, or makes no sense."""
    plan = own_runs()[mechanism].plan(nominal_size)
    if not isinstance(plan, LeaveOneOut):
        return plan
    if nominal_size > MAX_LEFT_OUT:
        raise PipelineError(
            f"leaving out each of {nominal_size} people in turn takes {nominal_size + 1} runs; a rehearsal "
            f"leaves out {MAX_LEFT_OUT} at most; make them on your own machine: "
            f"dpgate preview PIPELINE --mechanism {mechanism}"
        )
    if nominal_size < MIN_PEOPLE:
        raise PipelineError(
            f"this mechanism needs {MIN_PEOPLE} people at least; this data set has {nominal_size}. Choose "
            "another one"
        )
    return plan


def run_sampled(
    runs: GroupRuns, plan: HalfSamples | LeaveOneOut, shape: Shape, progress: Progress
) -> tuple[Numbers, ...]:
    """The numbers of every run of the plan, in its order."""
    return tuple(numbers_of(result.outputs, shape) for result, _ in runs.of_plan(plan, progress))


def with_sampled(runs: TwinRuns, mechanism: Sampled, found: tuple[Numbers, ...]) -> TwinRuns:
    return runs.model_copy(update={own_runs()[mechanism].kept: found})
