"""Where the processor time of a warm run goes, beside a plain fork: by process, by step, and by defence.

    python benchmarks/sandbox_processor.py [--runs 300]

The pipeline of `sandbox.py` in plain Python, on this host's own Python, one slot. Processor time and not time
that passes, as the kernel counts it for each process: so it can be read on a host that does other work, too.
"""

from __future__ import annotations

import argparse
import ast
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parent.parent))

from sandbox_cases import CASES, LEVEL, LIMITS, OUTPUT, blocks

from worker.sandbox.core import slot as slot_module
from worker.sandbox.core.bwrap_process import number_of
from worker.sandbox.host_image import describe
from worker.sandbox.protocol import Audience, SlotOrder
from worker.sandbox.supervised import SupervisedSandbox, SupervisedSlot

ROOT = Path(__file__).parent.parent
PURE = CASES[1]
BLOCKS = [{"block.csv": block} for block in blocks(5)]
Change = tuple[str, str, str]  # file, text, other text

# each with nothing in its place: for this measurement alone
DEFENCES: dict[str, tuple[Change, ...]] = {
    "the look after each run": (("main.py", "        baseline.check()\n\n\n", "        pass\n\n\n"),),
    "numbers of file systems": (
        ("filesystems.py", "for _ in range(self._below)]", "for _ in ()]"),
        ("filesystems.py", "while number != wanted and tries > 0", "while False and tries > 0"),
    ),
    "the filter": (("confine.py", 'steps.call("filter", ', '(lambda *_: None)("filter", '),),
    "the bounding set": (("confine.py", "for number in kernel.capabilities():", "for number in ():"),),
    "Landlock": (("confine.py", "        restrict(steps, _WRITABLE)\n", ""),),
}
# each call with its microseconds, written where the run may write; and the zygote's clock before its fork
STEPS: tuple[Change, ...] = (
    ("calls.py", "import os\n", "import os\nfrom time import monotonic_ns as now\n\nTIMES = []\n"),
    (
        "calls.py",
        "            given = function(*arguments)\n",
        "            began = now()\n            given = function(*arguments)\n"
        "            TIMES.append((name, now() - began))\n",
    ),
    ("zygote.py", "from . import confine,", "from . import calls, confine,"),
    ("zygote.py", "    def fork(self):\n", "    def fork(self):\n        self._began = calls.now()\n"),
    (
        "zygote.py",
        "            work = self._work.recvmsg",
        "            calls.TIMES.append(('(until the child begins)', calls.now() - self._began))\n"
        "            work = self._work.recvmsg",
    ),
    (
        "zygote.py",
        "        confine.say_ready(self._say)\n",
        "        calls.TIMES.append(('(until it is confined)', calls.now() - self._began))\n"
        "        confine.say_ready(self._say)\n"
        "        with open('/out/times', 'w') as file:\n            file.write(repr(calls.TIMES))\n",
    ),
)
FORKING = """
import os, sys
from sandbox_images.supervisor.warmup import freeze, warm_up
warm_up([])
work, runs = sys.argv[1], int(sys.argv[2])
with open(work + "/main.py") as file:
    program = compile(file.read(), "main.py", "exec")
freeze()
def own():
    with open("/proc/self/schedstat") as file:
        return int(file.read().split()[0]) / 1000
before, taken = own(), []
for number in range(runs):
    child = os.fork()
    if child == 0:
        sys.argv = ["main.py", f"{work}/{number % 5}", "/tmp", "group"]
        try:
            exec(program, {"__name__": "__main__"})
            os._exit(0)
        finally:
            os._exit(1)
    _, status, usage = os.wait4(child, 0)
    assert status == 0
    taken.append(round((usage.ru_utime + usage.ru_stime) * 1e6))
print((own() - before) / runs, sorted(taken)[runs // 2])
"""


def ran(process: int) -> float:
    """Microseconds that it has had a processor."""
    return int(Path(f"/proc/{process}/schedstat").read_text().split()[0]) / 1000


@contextmanager
def without(changes: Sequence[Change]) -> Iterator[None]:
    """Supervisors that start meanwhile have the product's own source, but for these."""
    own = slot_module._library
    library = dict(own())
    for name, text, other in changes:
        path = f"sandbox_images/supervisor/{name}"
        source = library[path].decode()
        if text not in source:
            raise SystemExit(f"{name} has changed: {text!r} is not there")
        library[path] = source.replace(text, other).encode()
    slot_module._library = lambda: library
    try:
        yield
    finally:
        slot_module._library = own


@contextmanager
def opened(outputs: tuple[str, ...] = (OUTPUT,)) -> Iterator[SupervisedSlot]:
    host = describe()
    order = SlotOrder(
        image=host,
        code={PURE.script: PURE.source.encode()},
        command=PURE.command,
        levels=(LEVEL,),
        outputs=outputs,
        limits=LIMITS,
        audience=Audience.ORIGINAL,
        warm=(),
    )
    with SupervisedSandbox(host) as sandbox, sandbox.open_slot(order, slot=0) as slot:
        yield slot


def of_a_run(runs: int) -> dict[str, float]:
    """Microseconds by process."""
    children: list[float] = []
    with opened() as slot:
        seat = slot._seat
        run = seat.run

        def noted(*given: Any, **limits: Any) -> Any:
            report = run(*given, **limits)
            children.append(report.message["usage"]["cpu_s"] * 1e6)
            return report

        seat.run = noted  # type: ignore[method-assign]
        slot.run(BLOCKS[0])
        assert seat.process is not None
        supervisor, zygote = number_of(seat.process._init), number_of(seat.process._zygote)
        before, began = (ran(supervisor), ran(zygote)), time.thread_time()
        for number in range(runs):
            assert slot.run(BLOCKS[number % len(BLOCKS)]).outputs
        worker = (time.thread_time() - began) * 1e6 / runs
        after = ran(supervisor), ran(zygote)
    two = [(now - then) / runs for now, then in zip(after, before, strict=True)]
    return {"worker": worker, "supervisor": two[0], "zygote": two[1], "child": statistics.median(children)}


def of_steps(runs: int) -> dict[str, list[float]]:
    """Microseconds that pass in each call of a child's set-up, and until two moments of it."""
    found: dict[str, list[float]] = {}
    with without(STEPS), opened((OUTPUT, "times")) as slot:
        for number in range(runs):
            outputs = slot.run(BLOCKS[number % len(BLOCKS)]).outputs
            assert outputs
            of_one: dict[str, float] = {}
            for name, taken in ast.literal_eval(outputs["times"].decode()):
                of_one[name] = of_one.get(name, 0) + taken / 1000
            for name, micros in of_one.items():
                found.setdefault(name, []).append(micros)
    return found


def of_a_plain_fork(runs: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        work = Path(folder)
        for number, block in enumerate(BLOCKS):
            (work / str(number)).mkdir()
            (work / str(number) / "block.csv").write_bytes(block["block.csv"])
        (work / "main.py").write_text(PURE.source)
        start = f"import sys; sys.path.insert(0, {str(ROOT)!r}); exec(sys.argv.pop(1))"
        command = ["/usr/bin/python3", "-I", "-B", "-c", start, FORKING, folder, str(runs)]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return dict(zip(("parent", "child"), map(float, said), strict=True))


def print_line(title: str, found: dict[str, float], plain: float) -> None:
    parts = ", ".join(f"{name} {micros:.0f}" for name, micros in found.items())
    total = sum(found.values())
    print(f"{title:<34}{total:7.0f} us ({total / plain:.2f}): {parts}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    runs = parser.parse_args().runs
    plain = of_a_plain_fork(runs)
    total = sum(plain.values())
    print_line("plain fork", plain, total)
    print_line("warm", of_a_run(runs), total)
    for name, changes in DEFENCES.items():
        with without(changes):
            print_line(f"without {name}", of_a_run(runs), total)
    with without([change for changes in DEFENCES.values() for change in changes]):
        print_line("without all of these", of_a_run(runs), total)
    print_line("warm, again", of_a_run(runs), total)
    print("\nset-up of a child, microseconds that pass: 5th of 100, and the middle")
    for name, micros in of_steps(runs).items():
        fifth = statistics.quantiles(micros, n=20)[0]
        print(f"  {name:<30}{fifth:8.1f}{statistics.median(micros):9.1f}")


if __name__ == "__main__":
    main()
