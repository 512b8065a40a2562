"""Runs attacks on a sandbox. One thread for each slot, which lives as long as the bench: backends tie the
life of a run to the thread that started it.
"""

import json
import os
import secrets
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Self

from domain.errors import PipelineError
from domain.shape import Shape, TextShape
from privacy.grid import OutputGrid
from sandbox_images.probe import COMMAND, attack_sources
from sandbox_images.probe.catalogue import Expect, Probe
from worker.collect import collect, pack
from worker.sandbox.protocol import MIB, Audience, Image, Limits, RunResult, Sandbox, Slot, SlotOrder

from .targets import Targets

CALM = 7  # the role that asks for no attack, and what it is answered with
FIRST_SLOT = 9_990  # users of their own, so that attacks do not count against running slots
_LEVEL = "group"
SEND_S, _LOOK_S = 0.8, 0.25  # how long one of a pair sends, and how long the other looks
_PLENTY_S = 20.0
PATIENCE_S, DEATH_S = 6.0, 3.0
_FLAT, _NESTED = "result.tsv", "inner/result.tsv"


@dataclass(frozen=True)
class Conditions:
    """What the catalogue's excuses are looked up by."""

    backend: str  # warm, cold or docker
    shared_user: bool = False  # all slots run as one host user

    @property
    def names(self) -> frozenset[str]:
        return frozenset({self.backend, "shared user"} if self.shared_user else {self.backend})


@dataclass(frozen=True)
class Seen:
    """One run as the judge sees it."""

    output: str
    result: RunResult
    seconds: float
    ended: float  # time.monotonic()
    limit_s: float
    values: Mapping[str, float] | None  # None: there is no output of the declared shape
    why_not: str
    handed_on: bytes  # what leaves the worker, sealed

    @property
    def value(self) -> float | None:
        return None if self.values is None else self.values.get("value")

    def describe(self) -> str:
        detail = self.result.detail
        said = (
            f"{detail.cause.value}, exit {detail.exit_code}: {detail.tail[-700:]}" if detail else "no detail"
        )
        return f"value {self.value} {self.why_not} after {self.seconds:.1f} s ({said})"


class Bench:
    """A sandbox, things to attack, and open slots. Close it."""

    def __init__(
        self,
        sandbox: Sandbox,
        image: Image,
        targets: Targets,
        conditions: Conditions,
        *,
        bare: Mapping[str, Any] | None = None,
        little_s: float = 1.0,
        patience_s: float = PATIENCE_S,
        death_s: float = DEATH_S,
    ) -> None:
        """`bare`: the facts of target.json for a run without a sandbox, where the same folders lie elsewhere.
        `little_s`: the wall limit of attacks that would go on for ever. `patience_s`: how much later than its
        wall limit a run may end, on a busy host. `death_s`: how long its processes may take to be gone.
        """
        self._sandbox, self._image, self.targets = sandbox, image, targets
        self.conditions, self._little_s = conditions, little_s
        self.patience_s, self.death_s = patience_s, death_s
        self.mark = f"dpg{secrets.token_hex(5)}"
        self._facts = {**targets.facts(), **INSIDE, **(bare or {}), "mark": self.mark}
        self._code = attack_sources()
        self._open: dict[int, tuple[SlotOrder, Slot]] = {}
        self._threads: dict[int, ThreadPoolExecutor] = {}
        self._secret_name = f"DPGATE_BATTERY_{self.mark.upper()}"
        os.environ[self._secret_name] = targets.secret  # which no run may find in its own environment

    def run(self, probe: Probe, *, role: int = 1, slot: int = 0) -> Seen:
        return self.start(probe, role=role, slot=slot).result()

    def start(self, probe: Probe, *, role: int, slot: int) -> "Future[Seen]":
        return self._thread(slot).submit(self._run, (probe,), role, slot, apart=False)

    def run_several(self, probes: Sequence[Probe]) -> Seen:
        """Each in a child process of one run: quick, where a run is dear."""
        return self._thread(0).submit(self._run, tuple(probes), 1, 0, apart=True).result()

    def renew(self) -> None:
        """Forget the open slots, whatever state they are in."""
        for slot in list(self._open):
            self._thread(slot).submit(self._drop, slot).result()

    def _thread(self, slot: int) -> ThreadPoolExecutor:
        return self._threads.setdefault(slot, ThreadPoolExecutor(1, thread_name_prefix=f"slot {slot}"))

    def _run(self, probes: tuple[Probe, ...], role: int, slot: int, *, apart: bool) -> Seen:
        order = self._order(probes[0])
        output = order.outputs[0]
        target = {
            **self._facts,
            "attacks": [(probe.script, probe.name) for probe in probes],
            "apart": apart,
            "output": output,
        }
        block = {"data.csv": f"{role},0\n".encode(), "target.json": json.dumps(target).encode()}
        place = self._place(order, slot)
        started = time.monotonic()
        result = place.run(block)
        ended = time.monotonic()
        names = [probe.name for probe in probes] if apart else ["value"]
        values, why_not = _read(output, names, result)
        handed_on = _hand_on(output, result)
        return Seen(output, result, ended - started, ended, order.limits.wall_s, values, why_not, handed_on)

    def _order(self, probe: Probe) -> SlotOrder:
        return SlotOrder(
            image=self._image,
            code=self._code,
            command=COMMAND,
            levels=(_LEVEL,),
            outputs=(_NESTED if probe.nested else _FLAT,),
            limits=limits(self._little_s if probe.waits else _PLENTY_S),
            audience=Audience.ORIGINAL if probe.expect is Expect.NOT_VISIBLE else Audience.TWIN,
            warm=() if self.conditions.backend == "warm" else None,
        )

    def _place(self, order: SlotOrder, slot: int) -> Slot:
        """The slot's open place, if it was opened for the same order."""
        if slot in self._open and self._open[slot][0] != order:
            self._drop(slot)
        if slot not in self._open:
            self._open[slot] = (order, self._sandbox.open_slot(order, slot=FIRST_SLOT + slot))
        return self._open[slot][1]

    def _drop(self, slot: int) -> None:
        _, place = self._open.pop(slot)
        place.close()

    def close(self) -> None:
        os.environ.pop(self._secret_name, None)
        with ExitStack() as each:
            for thread in self._threads.values():
                each.callback(thread.shutdown)
            each.callback(self.renew)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


# Where things are in a sandbox; a bare run is told otherwise.
INSIDE: Mapping[str, Any] = {
    "bare": False,
    "init": 1,
    "pipeline": "/pipeline",
    "room": ["/tmp", "/out", "/dev/shm"],  # noqa: S108
    "system": [
        "/",
        "/usr/lib",
        "/etc",
        "/dev",
        "/proc",
        "/run",
        "/pipeline",
        "/var",
        "/home",
        "/root",
        "/sys",
    ],
    "send_s": SEND_S,
    "look_s": _LOOK_S,
    "most": 1_000_000,
}


def limits(wall_s: float) -> Limits:
    """Tight, so that attacks reach them soon."""
    return Limits(
        wall_s=wall_s,
        cpu_s=15,
        memory_bytes=256 * MIB,
        processes=24,
        tmp_bytes=4 * MIB,
        output_bytes=4 * MIB,
        inodes=600,
    )


def _read(output: str, names: Sequence[str], result: RunResult) -> tuple[Mapping[str, float] | None, str]:
    """As the worker reads: by a shape that was locked before, numbers only."""
    if result.outputs is None:
        return None, "no output"
    shape = TextShape(file=output, rows=tuple((name, None) for name in names))
    try:
        numbers = shape.read(result.outputs.get(output, b""))
    except PipelineError as error:
        return None, str(error)
    if None in numbers:
        return None, "not a number"
    return dict(zip(names, (number for number in numbers if number is not None), strict=True)), ""


def _hand_on(output: str, result: RunResult) -> bytes:
    """The end of the way of original data: one number on its grid, or the fact that there is none."""
    shape = Shape(files=(TextShape(file=output, rows=(("value", None),)),))
    grid = OutputGrid.build("0", "1")
    return pack(collect(result.outputs, shape=shape, grids=(grid,), default=(grid.middle,)), width=1)


def survivors(mark: str) -> list[int]:
    """Processes on this host that bear the name which attacks give themselves, zombies apart."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                about = file.read()
        except OSError:  # ended meanwhile
            continue
        if f"({mark})".encode() in about and not about.rpartition(b")")[2].startswith(b" Z"):
            found.append(int(pid))
    return found
