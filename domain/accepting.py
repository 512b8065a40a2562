"""Whether the policy of the data accepts by what runs could signal to each other where they are made.

Asked when a job is submitted, as far as image and kinds of sandboxes decide it, and by each worker again
before it touches data. What the default sandbox leaves open is accepted by whoever allows pipelines at all;
all else a policy has to name.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from domain.channels import left_open
from domain.dataset import Dataset
from domain.image import ImageKind, SyscallTable
from domain.job import AnyRequest, JobRequest, Reason
from domain.policy import Policy
from domain.refusals import admission
from domain.surroundings import Backend, Surroundings
from privacy.loss import GuaranteeClass

_SUPERVISED = "supervised"
_WHO = {
    Reason.CHANNELS_OF_DOCKER: (
        "the workers make runs in containers",
        "Ask the operator for a worker with supervised sandboxes",
    ),
    Reason.CHANNELS_OF_STANDARD: (
        "the image is approved for the table of system calls standard",
        "Ask the operator for an image that is approved for strict",
    ),
    Reason.CHANNELS_OF_IMAGE: (
        "the image is the host's own files, which are not kept in memory",
        "Use an imported image",
    ),
}


def refused_by_channels(guarantee: GuaranteeClass, policy: Policy, where: Surroundings) -> Reason | None:
    """Why the policy forbids runs there. What has no formal guarantee rests on people who have read its code,
    not on runs that cannot signal."""
    if guarantee is GuaranteeClass.EMPIRICAL or not policy.unaccepted(left_open(where)):
        return None
    in_memory = replace(where, in_memory=True)
    if policy.unaccepted(left_open(replace(in_memory, syscalls=SyscallTable.STRICT))):
        return Reason.CHANNELS_OF_DOCKER
    if policy.unaccepted(left_open(in_memory)):
        return Reason.CHANNELS_OF_STANDARD
    return Reason.CHANNELS_OF_IMAGE


def check_channels(
    request: AnyRequest,
    dataset: Dataset,
    *,
    kind: ImageKind,
    syscalls: SyscallTable,
    sandboxes: Collection[str],
) -> None:
    """Raises NotAllowed when each worker there would refuse these runs, by the kinds of their sandboxes; if
    none is there, when the best that could come would."""
    if not isinstance(request, JobRequest):
        return
    policy = dataset.declaration.policy
    best = Surroundings(
        backend=Backend.WARM,
        syscalls=syscalls,
        isolation=policy.isolation,
        timing=policy.timing.mode,
        as_root=True,
        in_memory=kind is not ImageKind.HOST,
    )
    wheres = [
        best if sandbox == _SUPERVISED else replace(best, backend=Backend.DOCKER)
        for sandbox in sorted(sandboxes or {_SUPERVISED}, reverse=True)
    ]
    reasons = [refused_by_channels(request.guarantee, policy, where) for where in wheres]
    if None in reasons:
        return
    where, reason = wheres[0], reasons[0]
    assert reason is not None
    why, instead = _WHO[reason]
    names = ", ".join(policy.unaccepted(left_open(where)))
    raise admission.CHANNELS(why=why, instead=instead, channels=names, dataset=dataset.name)
