"""A policy in the format that container engines take (`--security-opt seccomp=`), from the table of the BPF.

The engine loads it through libseccomp, with the differences that this brings:
- calls of a foreign kind (i386, x32) kill the thread that makes them, not the whole process;
- a call that is newer than the engine's libseccomp is refused, even where the policy allows it; past the
  newest call that the profile names, runc answers ENOSYS instead of EPERM.
"""

import json
from collections.abc import Iterator
from typing import Any

from .bpf import Architecture
from .model import Policy, Rule, Verdict
from .regions import Box, regions

_DEFAULT = Verdict.EPERM
_NATIVE = {"x86_64": "SCMP_ARCH_X86_64", "aarch64": "SCMP_ARCH_AARCH64"}
_WHOLE = 0xFFFFFFFFFFFFFFFF

# Between loading the filter and executing the command, the engine's runtime runs under it. It loads the
# filter last only where no-new-privileges is set; without, it would have to change user and capabilities
# under it, and no container starts.
RUNTIME_NEEDS = {
    "fstatfs": 'runc, from 1.0 to the newest: asks whether what it opened below /proc is a procfs ("ensure '
    '/proc/self/fd is on procfs"). Lets a run see how much space the disk that holds its image has left',
}


def docker_profile(policy: Policy, architecture: Architecture) -> dict[str, Any]:
    """`policy` and the calls of RUNTIME_NEEDS, as the object that Docker's JSON text describes.

    No sub-architecture is named, so x32 and i386 calls have no way in.
    """
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": _errno(_DEFAULT),
        "architectures": [_NATIVE[architecture.name]],
        "syscalls": [*_by_name(policy, architecture), *_by_arguments(policy, architecture)],
    }


def docker_profile_text(policy: Policy, architecture: Architecture) -> str:
    """For HostConfig.SecurityOpt: `"seccomp=" + text`."""
    return json.dumps(docker_profile(policy, architecture), separators=(",", ":"))


def _by_name(policy: Policy, architecture: Architecture) -> Iterator[dict[str, Any]]:
    for verdict in Verdict:
        if verdict in (_DEFAULT, Verdict.KILL):
            continue
        names = {name for group in policy.groups if group.verdict is verdict for name in group.calls}
        names = names | set(RUNTIME_NEEDS) if verdict is Verdict.ALLOW else names - set(RUNTIME_NEEDS)
        if names := names & set(architecture.numbers):
            yield {"names": sorted(names), **_action(verdict)}


def _by_arguments(policy: Policy, architecture: Architecture) -> Iterator[dict[str, Any]]:
    for rule in policy.rules:
        if rule.call in architecture.numbers:
            yield from _rule(rule)


def _rule(rule: Rule) -> Iterator[dict[str, Any]]:
    for verdict, box in regions(rule, default=_DEFAULT):
        entry = {"names": [rule.call], **_action(verdict)}
        yield {**entry, "args": list(_comparisons(box))} if box else entry


def _comparisons(box: Box) -> Iterator[dict[str, Any]]:
    for argument, (mask, value) in sorted(box.items()):
        if mask == _WHOLE:
            yield {"index": argument, "value": value, "op": "SCMP_CMP_EQ"}
        else:
            yield {"index": argument, "value": mask, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ"}


def _action(verdict: Verdict) -> dict[str, Any]:
    if verdict is Verdict.ALLOW:
        return {"action": "SCMP_ACT_ALLOW"}
    return {"action": "SCMP_ACT_ERRNO", "errnoRet": _errno(verdict)}


def _errno(verdict: Verdict) -> int:
    return verdict.value & 0xFFFF
