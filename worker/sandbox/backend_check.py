"""What isolation rests on, checked with the backend that the operator chose.

Apart from `preflight`, which backends call: this opens one.
"""

from __future__ import annotations

from contextlib import closing
from functools import partial

from worker.sandbox.core.images import HostImage

from .choice import BACKENDS, Choice, open_sandbox
from .host_features import check_machine
from .preflight import check_host, nothing_ran
from .profiles import Feature
from .protocol import MIB, SandboxUnavailable


def check_backend(choice: Choice, host: HostImage, *, slots: int) -> tuple[Feature, ...]:
    """The same for whichever backend the operator chose. Never raises for an absent feature."""
    check = partial(
        check_host,
        choice.scratch_folder,
        host,
        slots=slots,
        input_bytes=choice.input_mib and choice.input_mib * MIB,
        images_bytes=None if choice.images_in_memory_mib is None else choice.images_in_memory_mib * MIB,
    )
    try:
        with closing(open_sandbox(choice, host)) as sandbox:
            if not BACKENDS[choice.sandbox].is_of_host:
                return (*sandbox.probe(), *check_machine(slots=slots))
            return check(sandbox=sandbox)
    except (SandboxUnavailable, OSError) as error:
        if not BACKENDS[choice.sandbox].is_of_host:
            return (nothing_ran(error)[0], *check_machine(slots=slots))
        return check()
