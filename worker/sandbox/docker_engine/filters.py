"""The system-call filter as the daemon takes it."""

import platform
from functools import cache

from sandbox_images.seccomp.bpf import ARCHITECTURES
from sandbox_images.seccomp.docker import docker_profile_text
from sandbox_images.seccomp.policy import STRICT
from sandbox_images.seccomp.standard import STANDARD
from worker.sandbox.protocol import SandboxUnavailable, Syscalls

_POLICIES = {Syscalls.STRICT: STRICT, Syscalls.STANDARD: STANDARD}


@cache
def filter_text(syscalls: Syscalls) -> str:
    """For the worker's kind of machine; a daemon on another kind would refuse it."""
    architecture = ARCHITECTURES.get(platform.machine())
    if architecture is None:
        raise SandboxUnavailable(f"there is no system-call filter for {platform.machine()} machines")
    return docker_profile_text(_POLICIES[syscalls], architecture)
