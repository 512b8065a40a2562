"""By what runs on this worker could signal to each other, and whether the policy of the data accepts that."""

from __future__ import annotations

import os

from domain.accepting import refused_by_channels
from domain.dataset import Dataset
from domain.image import ImageKind, SyscallTable
from domain.job import JobRequest, Reason
from domain.surroundings import Backend, Surroundings
from store.images import Image
from worker.config import WorkerSettings
from worker.order import is_warm_script
from worker.sandbox.choice import BACKENDS


def surroundings(
    request: JobRequest,
    dataset: Dataset,
    *,
    settings: WorkerSettings,
    record: Image,
    in_memory: bool = False,
) -> Surroundings:
    """Where this worker makes the runs of a pipeline in an image with this record. `in_memory`: whether in a
    copy of it that never leaves memory.
    """
    policy = dataset.declaration.policy
    return Surroundings(
        backend=_backend(request, settings, record),
        syscalls=record.syscalls or SyscallTable.STRICT,
        isolation=policy.isolation,
        timing=policy.timing.mode,
        as_root=os.getuid() == 0,
        in_memory=in_memory,
    )


def unaccepted(
    request: JobRequest,
    dataset: Dataset,
    *,
    settings: WorkerSettings,
    record: Image,
    in_memory: bool,
) -> Reason | None:
    """Why the policy forbids this worker to make these runs."""
    where = surroundings(request, dataset, settings=settings, record=record, in_memory=in_memory)
    return refused_by_channels(request.guarantee, dataset.declaration.policy, where)


def _backend(request: JobRequest, settings: WorkerSettings, record: Image) -> Backend:
    if not BACKENDS[settings.sandbox].is_of_host:
        return Backend.DOCKER
    may_be_warm = record.warm or record.kind is ImageKind.HOST
    return Backend.WARM if may_be_warm and is_warm_script(request.pipeline) else Backend.COLD
