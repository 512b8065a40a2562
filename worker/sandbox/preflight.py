"""What isolation rests on, checked on this host.

A worker refuses original data while a feature is absent that its profile needs (`needs.py`).

What can be is asked from inside: a control pipeline runs in the real sandbox and must succeed, because checks
that pass when nothing runs at all prove nothing. What only the host knows is in `host_features.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

from worker.sandbox.core.images import HostImage

from .host_features import check_bubblewrap, check_machine, check_worker_process
from .needs import CONTROL, feature
from .profiles import Feature
from .protocol import MIB, Audience, Image, Limits, RunResult, Sandbox, SandboxUnavailable, SlotOrder
from .supervised import SupervisedSandbox

_PROBE_SLOT = 9_999  # a user of its own, so that a probe does not count against a running slot
_LIMITS = Limits(wall_s=20, cpu_s=10, memory_bytes=512 * MIB)
_ENVIRONMENT = {"PATH", "HOME", "LANG", "TZ", "PYTHONDONTWRITEBYTECODE"}


def check_host(
    scratch_root: Path | None,
    image: HostImage,
    *,
    slots: int = 1,
    input_bytes: int | None = None,
    images_bytes: int | None = None,
    sandbox: Sandbox | None = None,
) -> tuple[Feature, ...]:
    """Some tenths of a second. Never raises for an absent feature: it says what is absent and what to do.

    `sandbox` runs the control pipeline; without one, a supervised one of its own does. `slots` is how many
    runs the worker does at the same time, `input_bytes` the largest input of one and `images_bytes` the room
    for copies of images, where they are set.
    """
    return (
        *check_bubblewrap(),
        *(check_runs(sandbox, image) if sandbox else _check_supervised_runs(scratch_root, image)),
        *check_worker_process(scratch_root, slots=slots, input_bytes=input_bytes, images_bytes=images_bytes),
        *check_machine(slots=slots),
    )


def check_runs(sandbox: Sandbox, image: Image) -> tuple[Feature, ...]:
    """What a run finds of its surroundings, in this very sandbox."""
    order = SlotOrder(
        image=image,
        code={"control.py": (resources.files("sandbox_images") / "control.py").read_bytes()},
        command=("python3", "/pipeline/control.py"),
        levels=("participant",),
        outputs=("facts.json",),
        limits=_LIMITS,
        audience=Audience.TWIN,
    )
    try:
        with sandbox.open_slot(order, slot=_PROBE_SLOT) as slot:
            result = slot.run({"block.txt": b"control"})
    except (SandboxUnavailable, OSError) as error:
        return nothing_ran(error)
    facts = json.loads(result.outputs["facts.json"]) if result.outputs else {}
    works = (
        facts.get("input") == "control" and facts.get("work") == "yes" and facts.get("level") == "participant"
    )
    detail = "it ran" if works else _what_happened(result)
    return (feature(CONTROL, present=works, detail=detail, fix=_CONTROL_FIX), *_facts_inside(facts))


_CONTROL_FIX = "see what was found: no pipeline can run, and no other check from inside means anything"


def _check_supervised_runs(scratch_root: Path | None, image: HostImage) -> tuple[Feature, ...]:
    try:
        with SupervisedSandbox(image, scratch_root=scratch_root, allow_disk_scratch=True) as sandbox:
            return check_runs(sandbox, image)
    except (SandboxUnavailable, OSError) as error:
        return nothing_ran(error)


def nothing_ran(error: Exception) -> tuple[Feature, ...]:
    place = f"{error.filename}: " if isinstance(error, OSError) and error.filename else ""
    words = f"{place}{error.strerror or error}" if isinstance(error, OSError) else str(error)
    return (feature(CONTROL, present=False, detail=words, fix=_CONTROL_FIX), *_facts_inside({}))


def _what_happened(result: RunResult) -> str:
    detail = result.detail
    return f"{detail.cause.value}; {detail.tail[-500:]}" if detail else "it failed, without a word"


Test = Callable[[Any], bool]
Words = Callable[[Any], str]


def _facts_inside(facts: dict[str, Any]) -> list[Feature]:
    """(feature, the fact it rests on, is it as wanted?, the fact in words). No facts: nothing is present."""
    wanted: tuple[tuple[str, str, Test, Words], ...] = (
        (
            "system-call filter is active",
            "seccomp",
            lambda fact: fact == "2",
            lambda fact: f"mode {fact} of 2",
        ),
        ("privileges cannot be gained", "no_new_privileges", lambda fact: fact == "1", _yes_or_no),
        ("no capabilities", "capabilities", lambda fact: set(fact) == {"0"}, _capabilities),
        ("no network interface but loopback", "interfaces", lambda fact: fact in (["lo"], []), _listed),
        ("no route", "routes", lambda fact: fact == 0, lambda fact: f"{fact or 'none'}"),
        (
            "everything but /tmp, /dev/shm and /out is read-only",
            "writable",
            lambda fact: fact == [],
            lambda fact: f"a run can also write {_listed(fact)}" if fact else "nothing else can be written",
        ),
        ("environment is the fixed one", "environment", _is_fixed_environment, _environment),
        (
            "processes of the host are not visible",
            "pid",
            lambda fact: fact < 10,
            lambda fact: f"a run is process {fact}",
        ),
        (
            "PID 1 cannot be read",
            "init_is_readable",
            lambda fact: fact is False,
            lambda fact: "a run can read it" if fact else "refused",
        ),
        (
            "host-wide /proc entries are covered",
            "open_proc",
            lambda fact: fact == [],
            lambda fact: f"open: {_listed(fact)}" if fact else "none is open",
        ),
    )
    fix = "missing or weakened by this kernel or container runtime: use another host or backend"
    return [
        feature(
            name,
            present=key in facts and test(facts[key]),
            detail=words(facts[key]) if key in facts else "unknown",
            fix=fix if key in facts else f"make this work first: {CONTROL}",
        )
        for name, key, test, words in wanted
    ]


def _is_fixed_environment(names: list[str]) -> bool:
    return not _foreign(names)


def _foreign(names: list[str]) -> list[str]:
    return [name for name in names if name not in _ENVIRONMENT and not name.endswith("_NUM_THREADS")]


def _environment(names: list[str]) -> str:
    foreign = _foreign(names)
    return f"a run also sees {_listed(foreign)}" if foreign else f"{len(names)} names, all of them ours"


def _capabilities(fact: str) -> str:
    return "none" if set(fact) == {"0"} else f"the sets are {fact.strip()}"


def _yes_or_no(fact: str) -> str:
    return "set" if fact == "1" else "not set"


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:10])
    return f"{shown} and {len(names) - 10} more" if len(names) > 10 else shown or "none"
