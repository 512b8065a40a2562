"""What workers leave to others for how much of isolation they insist on.

Asked when a job is submitted, so that nobody waits for an end that is known, and by each worker again before
it touches data.
"""

from __future__ import annotations

from collections.abc import Collection

from domain.dataset import Dataset, Declaration
from domain.job import AnyRequest, JobRequest, Reason
from domain.refusals import admission


def refused_by_profile(profile: str, declaration: Declaration) -> Reason | None:
    """Why a worker that insists on so much of isolation leaves pipelines on these data to others."""
    if profile == "dev" and not declaration.synthetic:
        return Reason.NOT_SYNTHETIC
    if profile == "strict" and declaration.policy.timing.mode != "padded":
        # without the time grid, a run tells the next by the clock how long it took
        return Reason.TIMING_NOT_PADDED
    return None


def check_workers(request: AnyRequest, dataset: Dataset, profiles: Collection[str]) -> None:
    """Raises Conflict when workers are there, by their profiles, and each leaves this pipeline to others.

    Where none is there, jobs are kept for the one that comes."""
    if not isinstance(request, JobRequest) or not profiles:
        return
    reasons = {refused_by_profile(profile, dataset.declaration) for profile in profiles}
    if None in reasons:
        return
    if Reason.NOT_SYNTHETIC in reasons:
        raise admission.ONLY_SYNTHETIC(dataset=dataset.name)
    raise admission.ONLY_PADDED(dataset=dataset.name)
