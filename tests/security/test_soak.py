"""A slot that has run for long is as it was: memory, descriptors, mounts, namespaces, groups and scratch.

The long ones print a table: pytest -m slow -s tests/security/test_soak.py
"""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from sandbox_harness import SLOT, open_folder, stand_in_for_init

from worker.sandbox.protocol import MIB, Audience, Limits, SlotCancelled
from worker.sandbox.supervised import SupervisedSandbox
from worker.sandbox.supervised.slot import RUNS_PER_SUPERVISOR

SCRIPT = """
import csv, os, sys
with open(sys.argv[1] + "/block.csv", newline="") as file:
    rows = list(csv.reader(file))
with open("/tmp/some", "w") as file:
    file.write("x" * 100_000)
os.mkdir("/dev/shm/deep")
if os.fork() == 0:
    while True: pass
with open(sys.argv[2] + "/verdict", "w") as file:
    file.write(str(sum(float(row[0]) for row in rows)))
"""
BLOCK = {"block.csv": b"".join(b"%d,2\n" % number for number in range(200))}
LIMITS = Limits(wall_s=20, cpu_s=20, memory_bytes=512 * MIB)
LOOP = "while True: pass\n"
SETTLED = 20  # runs after which what is made once has been made
LEFT_NOTHING_S = 2


@pytest.fixture
def supervised(image) -> Iterator[SupervisedSandbox]:
    with (
        open_folder() as root,
        SupervisedSandbox(image, scratch_root=root / "scratch", allow_disk_scratch=True) as it,
    ):
        yield it


@dataclass(frozen=True)
class Census:
    """What there is while no run is going on. All but the memory must be the very same, run after run."""

    worker_descriptors: tuple[str, ...]
    supervisor_descriptors: tuple[str, ...]
    worker_mounts: str
    supervisor_mounts: str
    namespaces: frozenset[str]  # of this process and all below it
    processes: int
    groups: tuple[str, ...]
    scratch: tuple[str, ...]

    @classmethod
    def take(cls, scratch: Path) -> Census:
        supervisor = supervisor_below(os.getpid())
        family = [os.getpid(), *below(os.getpid())]
        return cls(
            worker_descriptors=_descriptors(os.getpid()),
            supervisor_descriptors=_descriptors(supervisor),
            worker_mounts=_mounts_of(scratch),
            supervisor_mounts=_read(f"/proc/{supervisor}/mountinfo"),
            namespaces=frozenset(link for pid in family for link in _namespaces(pid)),
            processes=len(family),
            groups=tuple(sorted(str(path) for path in _groups())),
            scratch=tuple(sorted(str(path) for path in scratch.rglob("*"))),
        )

    def sizes(self) -> dict[str, int]:
        return {
            "descriptors of the worker": len(self.worker_descriptors),
            "descriptors of the supervisor": len(self.supervisor_descriptors),
            "mounts of the worker": self.worker_mounts.count("\n"),
            "mounts of the supervisor": self.supervisor_mounts.count("\n"),
            "namespaces": len(self.namespaces),
            "processes": self.processes,
            "control groups": len(self.groups),
            "scratch files": len(self.scratch),
        }


def settled(scratch: Path, wanted: Census | None = None) -> Census:
    """The worker has its report while the supervisor still clears up: until `wanted`, or stable."""
    deadline, found = time.monotonic() + LEFT_NOTHING_S, Census.take(scratch)
    while time.monotonic() < deadline:
        time.sleep(0.02)
        last, found = found, Census.take(scratch)
        if found == wanted or (wanted is None and found == last):
            break
    return found


def supervisor_below(pid: int) -> int:
    """The only process below bwrap, below `pid`."""
    sandboxes = [child for child in below(pid) if _read(f"/proc/{child}/comm") == "bwrap\n"]
    (supervisor,) = below(sandboxes[0])
    return supervisor


def below(pid: int) -> list[int]:
    """Children first; without those that are about to be waited for."""
    found = []
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += [int(word) for word in (task / "children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []
    return found + [deeper for child in found for deeper in below(child)]


def _descriptors(pid: int) -> tuple[str, ...]:
    folder = Path(f"/proc/{pid}/fd")
    found = []
    for entry in folder.iterdir():
        try:
            found.append(f"{entry.name} {os.readlink(entry)}")
        except FileNotFoundError:  # the one that lists the folder
            continue
    return tuple(sorted(line for line in found if f"/proc/{pid}/fd" not in line))


def _namespaces(pid: int) -> list[str]:
    folder = Path(f"/proc/{pid}/ns")
    # what is named after the children is set anew for every run, and gone when the run is
    return [os.readlink(entry) for entry in folder.iterdir() if not entry.name.endswith("for_children")]


def _mounts_of(scratch: Path) -> str:
    """In the worker's own view. Others mount and unmount there meanwhile, so only what names the scratch."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines(keepends=True)
    return "".join(line for line in lines if str(scratch.parent) in line)


def _groups() -> Iterator[Path]:
    for folder, names, _ in os.walk("/sys/fs/cgroup"):
        yield from (Path(folder, name) for name in names if name.startswith(f"dpgate-{os.getpid()}-"))


def _read(path: str) -> str:
    return Path(path).read_text()


def resident_kib(pid: int) -> int:
    lines = _read(f"/proc/{pid}/status").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("RssAnon:", "RssShmem:")))


@pytest.mark.parametrize("warm", [(), None], ids=["warm", "cold"])
def test_many_runs_leave_everything_as_it_was(warm, supervised, order):
    ordered = _order(order, warm)
    scratch = supervised._scratch.path
    with supervised.open_slot(ordered, slot=SLOT) as slot:
        _run(slot, SETTLED)
        before, memory = settled(scratch), resident_kib(supervisor_below(os.getpid()))
        _run(slot, 200 if warm is not None else 40)
        assert settled(scratch, before) == before
        # the supervisor's allocator may take another piece or two, but nothing that adds up
        assert resident_kib(supervisor_below(os.getpid())) - memory <= 512
    assert below(os.getpid()) == []


@pytest.mark.parametrize("kind", ["descriptor", "process", "scratch"])
def test_census_sees_what_is_left(kind, supervised, order):
    scratch = supervised._scratch.path
    with supervised.open_slot(_order(order, ()), slot=SLOT), ExitStack() as left:
        before = settled(scratch)
        if kind == "descriptor":
            left.callback(os.close, os.open("/dev/null", os.O_RDONLY))
        elif kind == "process":
            left.enter_context(stand_in_for_init())
        else:
            (scratch / "left").touch()
            left.callback((scratch / "left").unlink)
        assert Census.take(scratch) != before


@pytest.mark.parametrize("warm", [(), None], ids=["warm", "cold"])
@pytest.mark.parametrize("ending", ["cancelled", "out of time"])
def test_ended_run_leaves_nothing_soon(ending, warm, supervised, order, capsys):
    limits = replace(LIMITS, wall_s=0.5 if ending == "out of time" else 20)
    ordered = replace(_order(order, warm, SCRIPT + LOOP), limits=limits)
    scratch = supervised._scratch.path
    with supervised.open_slot(ordered, slot=SLOT) as slot:
        before = Census.take(scratch)
        started = time.monotonic()
        if ending == "cancelled":
            threading.Timer(0.5, slot.cancel).start()
            with pytest.raises(SlotCancelled):
                slot.run(BLOCK)
            _wait_until(lambda: below(os.getpid()) == [])
        else:
            assert slot.run(BLOCK).outputs is None
            _wait_until(lambda: len(below(os.getpid())) == 2)
            assert settled(scratch, before) == before
        left_s = time.monotonic() - started - 0.5
        assert left_s < LEFT_NOTHING_S
        assert _mounts_of(scratch) == before.worker_mounts
    assert sorted(path for path in scratch.rglob("*") if path.is_file()) == []
    with capsys.disabled():
        print(f" [{left_s * 1000:.0f} ms]", end="")


@pytest.mark.slow
@pytest.mark.parametrize("runs", [1000, 10_000])
def test_soak(runs, supervised, order):
    """A supervisor is replaced after RUNS_PER_SUPERVISOR runs: parts are compared within each one's life."""
    scratch, taken, lives = supervised._scratch.path, [], []
    worker_before = resident_kib(os.getpid())
    with supervised.open_slot(_order(order, ()), slot=SLOT) as slot:
        for _ in range(runs // RUNS_PER_SUPERVISOR):
            taken += _run(slot, SETTLED)
            first, memory = settled(scratch), resident_kib(supervisor_below(os.getpid()))
            taken += _run(slot, RUNS_PER_SUPERVISOR - SETTLED)
            last = settled(scratch, first)
            assert last == first
            lives.append((memory, resident_kib(supervisor_below(os.getpid())), last.sizes()))
    assert all(life[2] == lives[0][2] for life in lives)
    assert all(after - before <= 512 for before, after, _ in lives)
    growth = resident_kib(os.getpid()) - worker_before
    assert growth < 16 * 1024
    _print(runs, taken, lives, growth)


def _print(runs: int, taken: list[float], lives: list, growth: int) -> None:
    print(f"\n{runs} runs, {sum(taken):.0f} s, {len(lives)} supervisors; load {os.getloadavg()[0]:.1f}")
    for name, part in (("first", taken[:100]), ("last", taken[-100:])):
        middle, low = statistics.median(part) * 1000, min(part) * 1000
        print(f"  {name} hundred: median {middle:.2f} ms, fastest {low:.2f} ms")
    for name, (before, after, _) in (("first", lives[0]), ("last", lives[-1])):
        print(f"  {name} supervisor: {before} KiB after {SETTLED} runs, {after} KiB at its end")
    print(f"  growth of the worker: {growth} KiB")
    for name, size in lives[-1][2].items():
        print(f"  {name}: {size}, in every life")


def _order(order: Callable, warm: tuple[str, ...] | None, script: str = SCRIPT):
    return order(
        script,
        command=("python3", "/pipeline/main.py"),
        limits=LIMITS,
        audience=Audience.ORIGINAL,
        warm=warm,
    )


def _run(slot, times: int) -> list[float]:
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        assert slot.run(BLOCK).outputs == {"verdict": b"19900.0"}
        taken.append(time.perf_counter() - started)
    return taken


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)
