"""What every backend asks of an order before it opens a slot for it."""

import math
import platform
from collections.abc import Mapping
from functools import cache

from sandbox_images.output_tree import LONGEST
from sandbox_images.seccomp import answered
from sandbox_images.seccomp.bpf import ARCHITECTURES, Architecture, compile_policy
from sandbox_images.seccomp.model import Policy
from sandbox_images.seccomp.policy import STRICT
from sandbox_images.supervisor.warm_r import PROGRAM
from worker.sandbox.protocol import (
    Audience,
    Cause,
    Limits,
    RunDetail,
    RunResult,
    SandboxUnavailable,
    SlotOrder,
)

from .scratch import check_relative_path

_MOST_LEVELS = 255
_PAGE = 4096


def check_order(order: SlotOrder) -> None:
    """Pipelines are parsed and approved long before; this stops what would confuse whoever starts a run."""
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
    if order.tree and order.outputs:
        raise ValueError("an order names its outputs, or takes all that there are")
    if not all(root.is_absolute() for root in order.roots):
        raise ValueError("a root of views is an absolute path")
    if order.warm is not None and (len(order.command) < 2 or order.command[1].startswith("-")):
        raise ValueError("a warm order's command is an interpreter, a script, and the script's arguments")
    if order.warm is not None and order.command[0] == PROGRAM and order.environment:
        # R_PROFILE_USER, R_LIBS and others name code, which would run before a run is confined
        raise ValueError("an order that starts R before its runs brings no environment of its own")
    if any(name == "" or "=" in name for name in order.environment):
        raise ValueError("not a name of an environment variable")
    if not all(0 < amount < math.inf for amount in vars(limits).values()):
        raise ValueError("every limit must be positive, and none endless")


def fits(before: Mapping[str, bytes], limits: Limits) -> bool:
    """Whether /out can hold what shall lie in it at the start. Counted as by a tmpfs, in whole pages.

    Runs have written it: what cannot lie there is their failure, and must not become the platform's.
    """
    folders = {path[:position] for path in before for position, letter in enumerate(path) if letter == "/"}
    pages = sum(-(-len(content) // _PAGE) for content in before.values())
    is_tree = folders.isdisjoint(before) and all(len(path.encode()) <= LONGEST for path in before)
    return is_tree and pages * _PAGE <= limits.output_bytes and len(before) + len(folders) < limits.inodes


def without_room(order: SlotOrder) -> RunResult:
    """The result of a run that could not begin because `before` does not fit: the pipeline's failure."""
    return _not_begun(order, Cause.FULL)


def too_large(order: SlotOrder) -> RunResult:
    """The result of a run whose input is larger than any may be: a failure like every other."""
    return _not_begun(order, Cause.INPUT)


def _not_begun(order: SlotOrder, cause: Cause) -> RunResult:
    if order.audience is Audience.ORIGINAL:
        return RunResult(None)
    return RunResult(None, RunDetail(cause, exit_code=None, level=None, duration_s=0.0, tail=""))


@cache
def answered_programs(wider: Policy | None) -> tuple[bytes, bytes]:
    """For this machine: a run's compiled system-call filter, and the one by which its supervisor hears it.

    `wider`: the table that it is held to, where that is not STRICT.
    """
    policies = answered.answered(wider or STRICT), answered.listening_policy(links=wider is None)
    runs, listens = (compile_policy(policy, _architecture()) for policy in policies)
    return runs, listens


def answered_calls(wider: Policy | None) -> Mapping[str, int]:
    """The numbers of the calls that a supervisor answers on this machine."""
    links = answered.LINKS if wider is None else ()
    names = {*answered.ALWAYS, *links, answered.RESTARTS}
    return {name: number for name, number in _architecture().numbers.items() if name in names}


def _architecture() -> Architecture:
    architecture = ARCHITECTURES.get(platform.machine())
    if architecture is None:
        raise SandboxUnavailable(f"there is no system-call filter for {platform.machine()} machines")
    return architecture
