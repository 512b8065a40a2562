"""Whether this worker may run this job on this data set: asked before data are touched and budget spent."""

from __future__ import annotations

from domain.dataset import Dataset
from domain.job import AnyRequest, Job, JobRequest, Reason
from domain.worker_profiles import refused_by_profile
from store.images import Image
from worker.config import WorkerSettings
from worker.images.commands import resolve_command
from worker.images.refusal import CommandRefused
from worker.sandbox.core.images import HostImage, StoredImage
from worker.sandbox.profiles import Profile
from worker.signalling import unaccepted

# what no other try can change; the others may hold for one worker and not for the next
FINAL = frozenset({Reason.COMMAND_MISSING, Reason.CHANNELS_OF_STANDARD, Reason.DATASET_WITHDRAWN})


def refusal(
    job: Job,
    dataset: Dataset,
    *,
    settings: WorkerSettings,
    image: HostImage | StoredImage | None,
    record: Image,
    in_memory: bool,
) -> Reason | None:
    """The first reason not to run, or None.

    `image` is what this worker holds under the job's digest, if anything, and `in_memory` whether as a copy
    that never leaves memory; `record` is that image's row in the database, with what the operator approved.
    """
    return (
        of_profile(settings.isolation, dataset)
        or _of_image(job, image, record)
        or _of_command(job.request, image)
        or _of_channels(job, dataset, settings, record, in_memory=in_memory)
    )


def of_profile(profile: Profile, dataset: Dataset) -> Reason | None:
    """Why a worker that insists on so much of isolation leaves these data to others."""
    return refused_by_profile(profile.value, dataset.declaration)


def _of_channels(
    job: Job, dataset: Dataset, settings: WorkerSettings, record: Image, *, in_memory: bool
) -> Reason | None:
    assert isinstance(job.request, JobRequest)
    return unaccepted(job.request, dataset, settings=settings, record=record, in_memory=in_memory)


def _of_image(job: Job, image: HostImage | StoredImage | None, record: Image) -> Reason | None:
    is_here = image is not None and image.digest == job.image_digest == record.digest
    return None if is_here and record.is_approved else Reason.IMAGE_CHANGED


def _of_command(request: AnyRequest, image: HostImage | StoredImage | None) -> Reason | None:
    if image is None:
        return Reason.IMAGE_CHANGED
    assert isinstance(request, JobRequest)
    pipeline = request.pipeline
    code = {source.path: source.content for source in pipeline.sources}
    try:
        resolve_command(image, pipeline.manifest.command, code)
    except (CommandRefused, IsADirectoryError):
        return Reason.COMMAND_MISSING
    return None
