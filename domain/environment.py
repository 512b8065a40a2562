"""What a run gets: resources, and the variables that a pipeline may bring along: few, small, none that steers
how it is run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from domain.model import Model, Number, Whole

MAX_NAMES = 32
MAX_VALUE_BYTES = 4096
NAME = r"[A-Z][A-Z0-9_]{0,31}"
# the sandbox sets these itself, the same for every run
_OURS = frozenset({"PATH", "HOME", "LANG", "TZ"})
_OUR_ENDS = ("_NUM_THREADS",)
_OUR_STARTS = ("DPGATE_",)
# these steer the loader, the C library or the interpreter before the pipeline's first line; or a proxy
_STEERING_STARTS = ("LD_", "PYTHON", "GCONV", "GLIBC_")
_STEERING_ENDS = ("_PROXY",)


def _check(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value  # pydantic has the words for it
    if len(value) > MAX_NAMES:
        raise ValueError(f"has {len(value)} names; keep to {MAX_NAMES}")
    for name, text in value.items():
        if problem := _problem_of_name(name) or _problem_of_value(text):
            raise ValueError(f"{str(name)[:64]!r} {problem}")
    return dict(value)


def _problem_of_name(name: Any) -> str | None:
    if not isinstance(name, str) or not re.fullmatch(NAME, name):
        return "is not a name; use at most 32 capital letters, digits and _, starting with a letter"
    if name in _OURS or name.endswith(_OUR_ENDS) or name.startswith(_OUR_STARTS):
        return "is set by the sandbox, the same for every run; choose another name"
    if name.startswith(_STEERING_STARTS) or name.endswith(_STEERING_ENDS):
        return "steers the loader, the interpreter or the network; remove it, or set it inside the pipeline"
    return None


def _problem_of_value(text: Any) -> str | None:
    if not isinstance(text, str):
        return "does not hold text; put the value in quotes"
    if "\0" in text or not _is_text(text):
        return "holds characters that no environment can; remove them"
    if len(text.encode()) > MAX_VALUE_BYTES:
        return f"holds more than {MAX_VALUE_BYTES} bytes; put large parts into a file of the pipeline"
    return None


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


Environment = Annotated[dict[str, str], BeforeValidator(_check)]


DEFAULT_OUTPUT_MIB = 16


def _is_default_output(mib: int) -> bool:
    return mib == DEFAULT_OUTPUT_MIB


class Resources(Model):
    """What one run of one level may use. Every run of a job gets exactly the same."""

    wall_seconds: Annotated[Number, Field(ge=0.2, le=86_400)] = 10
    """Time of one run of a level. Every turn of a padded job takes this long."""
    memory_mib: Annotated[Whole, Field(ge=32, le=1_048_576)] = 512
    """Resident memory of all processes together."""
    processes: Annotated[Whole, Field(ge=1, le=1024)] = 64
    """Processes and threads."""
    scratch_mib: Annotated[Whole, Field(ge=1, le=65_536)] = 64
    """Size of `/tmp`, and again of `/dev/shm`."""
    # as with an output's other fields, a default is not part of the digest: older pipelines keep theirs
    output_mib: Annotated[Whole, Field(ge=1, le=65_536, exclude_if=_is_default_output)] = DEFAULT_OUTPUT_MIB
    """Size of `/out`. At the group level it also holds what the participant level wrote."""
