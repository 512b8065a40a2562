"""What every backend asks of an order before it opens a slot for it."""

import math
import platform
from functools import cache

from sandbox_images.seccomp.bpf import ARCHITECTURES, compile_policy
from sandbox_images.seccomp.policy import STANDARD, STRICT

from .protocol import SandboxUnavailable, SlotOrder, Syscalls
from .scratch import check_relative_path

_MOST_LEVELS = 255  # one byte in the runner's report
_POLICIES = {Syscalls.STRICT: STRICT, Syscalls.STANDARD: STANDARD}


def check_order(order: SlotOrder) -> None:
    """Pipelines are parsed and approved long before; this stops what would confuse a runner or bwrap."""
    limits = order.limits
    if not order.command or not 0 < len(order.levels) <= _MOST_LEVELS:
        raise ValueError("an order needs a command and at least one level")
    words = (*order.command, *order.levels, *order.environment, *order.environment.values())
    if any("\0" in text for text in words):
        raise ValueError("a command line cannot hold NUL")
    if len(set(order.outputs)) != len(order.outputs):
        raise ValueError("an output is declared twice")
    for path in order.outputs:
        check_relative_path(path)
    if order.warm is not None and (len(order.command) < 2 or order.command[1].startswith("-")):
        raise ValueError("a warm order's command is an interpreter, a script, and the script's arguments")
    if any(name == "" or "=" in name for name in order.environment):
        raise ValueError("not a name of an environment variable")
    if not all(0 < amount < math.inf for amount in vars(limits).values()):
        raise ValueError("every limit must be positive, and none endless")


@cache
def filter_program(syscalls: Syscalls) -> bytes:
    """The compiled system-call filter for this machine."""
    architecture = ARCHITECTURES.get(platform.machine())
    if architecture is None:
        raise SandboxUnavailable(f"there is no system-call filter for {platform.machine()} machines")
    return compile_policy(_POLICIES[syscalls], architecture)
