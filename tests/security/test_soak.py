"""A slot that has run for long is as it was: memory, descriptors, mounts, namespaces, groups and scratch.

The long ones print a table: pytest --ring deep -s tests/security/test_soak.py
"""

from __future__ import annotations

import gc
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from sandbox_harness import SLOT, open_folder, stand_in_for_init
from waiting import let_pass, wait_until

from worker.sandbox.core.seat import RUNS_PER_SUPERVISOR
from worker.sandbox.protocol import MIB, Audience, Limits, SlotCancelled
from worker.sandbox.supervised import SupervisedSandbox

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
IDLE, RUNNING = 3, 5  # processes: bwrap, its supervisor, the zygote; with them a run of SCRIPT and its fork


@dataclass(frozen=True)
class Census:
    """What there is while no run is going on. All but the memory must be the very same, run after run."""

    worker_descriptors: tuple[str, ...]
    supervisor_descriptors: tuple[str, ...]
    worker_mounts: str
    supervisor_mounts: str
    namespaces: frozenset[str]  # of this process and all that it has started for the slot
    processes: int
    groups: tuple[str, ...]
    scratch: tuple[str, ...]

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


@dataclass(frozen=True)
class Others:
    """What was here before the sandbox: it may go at any time, and servers take and end connections."""

    children: frozenset[int]
    descriptors: frozenset[str]

    @classmethod
    def now(cls) -> Others:
        return cls(frozenset(children(os.getpid())), frozenset(_descriptors(os.getpid())))

    def without(self, descriptors: tuple[str, ...]) -> tuple[str, ...]:
        known = {_target(line) for line in self.descriptors}
        files, connections = {target for target in known if Path(target).is_file()}, _connections()
        return tuple(
            line
            for line in descriptors
            if line not in self.descriptors
            and _target(line) not in files
            and _target(line) not in connections
        )


class Watched:
    """A sandbox, and a look at what is this process's own and came with it: servers of other tests may run
    in this process and below it, too.
    """

    def __init__(self, sandbox: SupervisedSandbox, others: Others) -> None:
        self.sandbox, self.scratch, self._others = sandbox, sandbox._scratch.path, others

    def processes(self) -> list[int]:
        """Children first."""
        ours = [child for child in children(os.getpid()) if child not in self._others.children]
        return ours + [deeper for child in ours for deeper in below(child)]

    def supervisor(self) -> int:
        """The only child of bwrap."""
        (bwrap,) = (pid for pid in self.processes() if _read(f"/proc/{pid}/comm") == "bwrap\n")
        (supervisor,) = children(bwrap)
        return supervisor

    def census(self) -> Census:
        supervisor, family = self.supervisor(), [os.getpid(), *self.processes()]
        return Census(
            worker_descriptors=self._others.without(_descriptors(os.getpid())),
            supervisor_descriptors=_descriptors(supervisor),
            worker_mounts=_mounts_of(self.scratch),
            supervisor_mounts=_read(f"/proc/{supervisor}/mountinfo"),
            namespaces=frozenset(link for pid in family for link in _namespaces(pid)),
            processes=len(family),
            groups=tuple(sorted(str(path) for path in _groups())),
            scratch=tuple(sorted(str(path) for path in self.scratch.rglob("*"))),
        )

    def settled(self) -> Census:
        """The worker has its report while the supervisor still clears up."""

        def stable() -> Census | None:
            before = self.census()
            let_pass(0.02, because="who still clears up changes something in this time")
            return before if self.census() == before else None

        return wait_until(stable, said="a slot at rest")

    def check_settles_as(self, wanted: Census) -> None:
        found = wanted

        def is_as_wanted() -> bool:
            nonlocal found
            found = self.census()
            return found == wanted

        try:
            wait_until(is_as_wanted, said="the slot as it was")
        except AssertionError:
            assert found == wanted  # says in what they differ
            raise


@pytest.fixture
def watched(image) -> Iterator[Watched]:
    gc.collect()  # what earlier tests have left to the collector is not closed in the middle of this one
    others = Others.now()
    with (
        open_folder() as root,
        SupervisedSandbox(image, scratch_root=root / "scratch", allow_disk_scratch=True) as sandbox,
    ):
        yield Watched(sandbox, others)


def children(pid: int) -> list[int]:
    """None if it has ended meanwhile."""
    found = []
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += [int(word) for word in (task / "children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []
    return found


def below(pid: int) -> list[int]:
    found = children(pid)
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


def _target(line: str) -> str:
    return line.partition(" ")[2]


def _connections() -> frozenset[str]:
    """Over TCP. A sandbox talks to its slot over nothing that has an address."""
    tables = [Path("/proc/self/net", name).read_text().splitlines()[1:] for name in ("tcp", "tcp6")]
    return frozenset(f"socket:[{line.split()[9]}]" for table in tables for line in table)


def _namespaces(pid: int) -> list[str]:
    """None if it has ended meanwhile."""
    folder = Path(f"/proc/{pid}/ns")
    try:
        # what is named after the children is set anew for every run, and gone when the run is
        return [os.readlink(entry) for entry in folder.iterdir() if not entry.name.endswith("for_children")]
    except (FileNotFoundError, ProcessLookupError):
        return []


def _mounts_of(scratch: Path) -> str:
    """In the worker's own view. Others mount and unmount there meanwhile, so only what names the scratch."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines(keepends=True)
    return "".join(line for line in lines if str(scratch.parent) in line)


def _groups() -> Iterator[Path]:
    for folder, names, _ in os.walk("/sys/fs/cgroup"):
        yield from (Path(folder, name) for name in names if name.startswith(f"dpgate-{os.getpid()}-"))


def _read(path: str) -> str:
    """Nothing if the process has ended meanwhile."""
    try:
        return Path(path).read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def resident_kib(pid: int) -> int:
    lines = _read(f"/proc/{pid}/status").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("RssAnon:", "RssShmem:")))


@pytest.mark.parametrize("warm", [(), None], ids=["warm", "cold"])
def test_many_runs_leave_everything_as_it_was(warm, watched, order):
    with watched.sandbox.open_slot(_order(order, warm), slot=SLOT) as slot:
        _run(slot, SETTLED)
        before, memory = watched.settled(), resident_kib(watched.supervisor())
        _run(slot, 200 if warm is not None else 40)
        watched.check_settles_as(before)
        # the supervisor's allocator may take another piece or two, but nothing that adds up
        assert 0 < resident_kib(watched.supervisor()) <= memory + 512
    assert watched.processes() == []


@pytest.mark.parametrize("kind", ["descriptor", "process", "scratch"])
def test_census_sees_what_is_left(kind, watched, order):
    with watched.sandbox.open_slot(_order(order, ()), slot=SLOT), ExitStack() as left:
        before = watched.settled()
        if kind == "descriptor":
            left.callback(os.close, os.open("/dev/null", os.O_RDONLY))
        elif kind == "process":
            left.enter_context(stand_in_for_init())
        else:
            (watched.scratch / "left").touch()
            left.callback((watched.scratch / "left").unlink)
        assert watched.settled() != before


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def test_census_leaves_connections_of_others_out(server, watched, order):
    with watched.sandbox.open_slot(_order(order, ()), slot=SLOT):
        before = watched.settled()
        with socket.create_connection(server.getsockname()):
            assert watched.settled() == before
        server.close()
        assert watched.settled() == before


@pytest.mark.parametrize("warm", [(), None], ids=["warm", "cold"])
@pytest.mark.parametrize("ending", ["cancelled", "out of time"])
def test_ended_run_leaves_nothing(ending, warm, watched, order):
    """How soon is benchmarks/sandbox.py's."""
    limits = replace(LIMITS, wall_s=0.5 if ending == "out of time" else 600)
    ordered = replace(_order(order, warm, SCRIPT + LOOP), limits=limits)
    with watched.sandbox.open_slot(ordered, slot=SLOT) as slot:
        before = watched.settled()
        if ending == "cancelled":
            with pytest.raises(SlotCancelled), cancelled_once_it_runs(slot, watched):
                slot.run(BLOCK)
            wait_until(lambda: watched.processes() == [], said="the end of all its processes")
        else:
            assert slot.run(BLOCK).outputs is None
            wait_until(lambda: len(watched.processes()) == IDLE, said="the end of the run's processes")
            watched.check_settles_as(before)
        assert _mounts_of(watched.scratch) == before.worker_mounts
    assert sorted(path for path in watched.scratch.rglob("*") if path.is_file()) == []


class cancelled_once_it_runs:  # noqa: N801 - reads as a function
    """By another thread, while this one is in the run."""

    def __init__(self, slot, watched: Watched) -> None:
        self._slot, self._watched = slot, watched
        self._canceller = threading.Thread(target=self._cancel)

    def _cancel(self) -> None:
        try:
            wait_until(lambda: len(self._watched.processes()) >= RUNNING, said="a run that has forked")
        finally:
            self._slot.cancel()

    def __enter__(self) -> None:
        self._canceller.start()

    def __exit__(self, *_) -> None:
        self._canceller.join()


@pytest.mark.deep("minutes of runs: what one in a hundred leaves, the ring test's 200 runs show")
@pytest.mark.parametrize("runs", [1000, 10_000])
def test_soak(runs, watched, order):
    """A supervisor is replaced after RUNS_PER_SUPERVISOR runs: parts are compared within each one's life."""
    lives, worker_before = [], resident_kib(os.getpid())
    with watched.sandbox.open_slot(_order(order, ()), slot=SLOT) as slot:
        for _ in range(runs // RUNS_PER_SUPERVISOR):
            _run(slot, SETTLED)
            first, memory = watched.settled(), resident_kib(watched.supervisor())
            _run(slot, RUNS_PER_SUPERVISOR - SETTLED)
            watched.check_settles_as(first)
            lives.append((memory, resident_kib(watched.supervisor()), first.sizes()))
    assert all(life[2] == lives[0][2] for life in lives)
    assert all(after - before <= 512 for before, after, _ in lives)
    growth = resident_kib(os.getpid()) - worker_before
    assert growth < 16 * 1024
    _print(runs, lives, growth)


def _print(runs: int, lives: list, growth: int) -> None:
    print(f"\n{runs} runs, {len(lives)} supervisors")
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


def _run(slot, times: int) -> None:
    for _ in range(times):
        assert slot.run(BLOCK).outputs == {"verdict": b"19900.0"}
