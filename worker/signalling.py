"""By what runs on this worker could signal to each other, and whether the policy of the data accepts that."""

from __future__ import annotations

import os
from dataclasses import replace

from domain.channels import left_open
from domain.dataset import Dataset
from domain.image import ImageKind, SyscallTable
from domain.job import JobRequest, Reason
from domain.surroundings import Backend, Surroundings
from privacy.loss import GuaranteeClass
from store.images import Image
from worker.config import WorkerSettings
from worker.order import is_python_script


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
    request: JobRequest, dataset: Dataset, *, settings: WorkerSettings, record: Image
) -> Reason | None:
    """Why the policy forbids this worker to make these runs. What has no formal guarantee rests on people who
    have read its code, not on runs that cannot signal."""
    if request.guarantee is GuaranteeClass.EMPIRICAL:
        return None
    where = surroundings(request, dataset, settings=settings, record=record)
    policy = dataset.declaration.policy
    if not policy.unaccepted(left_open(where)):
        return None
    with_strict = left_open(replace(where, syscalls=SyscallTable.STRICT))
    return Reason.CHANNELS_OF_DOCKER if policy.unaccepted(with_strict) else Reason.CHANNELS_OF_STANDARD


def _backend(request: JobRequest, settings: WorkerSettings, record: Image) -> Backend:
    if settings.sandbox != "supervised":
        return Backend.DOCKER
    may_be_warm = record.warm or record.kind is ImageKind.HOST
    return Backend.WARM if may_be_warm and is_python_script(request.pipeline) else Backend.COLD
