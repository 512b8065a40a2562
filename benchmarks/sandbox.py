"""Runs per second of every way to run a block. All take turns inside every round: noise hits all alike.

    python benchmarks/sandbox.py TREE [--rounds 20] [--quick]

TREE is the unpacked base image `python` (sandbox_images/bases); all executors run the same tree. Two slots,
strict system calls, original data, no time grid. Needs root and Docker's programs: it starts a daemon of its
own. A slow executor makes a fixed share of a round's runs; the table says how many that were.
"""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import Queue

from sandbox_cases import CASES, Case, blocks, expected, image_of
from sandbox_executors import ROOT, Executor, plain_docker, plain_fork, plain_process, sandboxed
from sandbox_facts import print_endings, print_flatness, print_memory, print_starts

sys.path.append(str(ROOT / "tests"))
from docker_daemon import running_daemon

from worker.sandbox.core.bwrap_binary import find_bwrap
from worker.sandbox.core.images import StoredImage
from worker.sandbox.docker_engine.sandbox import DockerSandbox
from worker.sandbox.docker_engine.settings import DockerSettings
from worker.sandbox.host_image import describe
from worker.sandbox.supervised import SupervisedSandbox

SLOTS, BLOCKS, RUNS_PER_ROUND = 2, 20, 20  # runs of all slots together, of an executor with share 1
DOCKER, COLD, WARM, PLAIN = "Docker SDK", "cold", "warm", "plain fork"
PROCESS = "plain process"


class Team:
    """One thread per slot, which opens the slot of every executor and then runs what it is told."""

    def __init__(self, executors: Sequence[Executor]) -> None:
        self._orders: list[Queue] = [Queue() for _ in range(SLOTS)]
        self._answers: Queue = Queue()
        self._threads = [
            threading.Thread(target=self._work, args=(slot, executors), daemon=True) for slot in range(SLOTS)
        ]
        for thread in self._threads:
            thread.start()
        self._gather()

    def run(self, executor: int, indices: list[int]) -> tuple[float, list[float]]:
        """Seconds for all of them, and of each."""
        started = time.perf_counter()
        for slot, orders in enumerate(self._orders):
            orders.put((executor, indices[slot::SLOTS]))
        taken = self._gather()
        return time.perf_counter() - started, taken

    def close(self) -> None:
        for orders in self._orders:
            orders.put(None)
        for thread in self._threads:
            thread.join()

    def _gather(self) -> list[float]:
        answers = [self._answers.get() for _ in range(SLOTS)]
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        return list(itertools.chain(*answers))

    def _work(self, slot: int, executors: Sequence[Executor]) -> None:
        try:
            with ExitStack() as stack:
                runs = [stack.enter_context(executor.open(slot)) for executor in executors]
                self._answers.put([])
                while (order := self._orders[slot].get()) is not None:
                    executor, indices = order
                    self._answers.put(runs[executor](indices))
        except BaseException as error:
            self._answers.put(error)


def measure(executors: Sequence[Executor], *, rounds: int) -> list[tuple[list[float], list[float]]]:
    """Per executor: runs per second of each round, and seconds of each run."""
    found: list[tuple[list[float], list[float]]] = [([], []) for _ in executors]
    team = Team(executors)
    for number in range(-1, rounds):  # the first does not count: caches fill
        for index, executor in enumerate(executors):
            count = max(SLOTS, round(RUNS_PER_ROUND * executor.share))
            seconds, taken = team.run(index, [run % BLOCKS for run in range(count)])
            if number >= 0:
                found[index][0].append(count / seconds)
                found[index][1].extend(taken)
    team.close()
    return found


def executors_for(
    case: Case, image: StoredImage, settings: DockerSettings, sandboxes: tuple
) -> Iterator[Executor]:
    data = [(block, expected(block)) for block in blocks(BLOCKS)]
    supervised, docker = sandboxes
    slow, middle = (0.1, 0.2) if "pandas" in (case.warm or ()) else (0.2, 0.5)
    yield plain_docker(DOCKER, settings, case, image, data, share=slow)
    yield sandboxed("Docker backend", docker, case, image, data, warm=None, share=slow)
    yield sandboxed(COLD, supervised, case, image, data, warm=None, share=middle)
    yield plain_process(PROCESS, case, image.rootfs, data, share=middle)
    if case.warm is not None:
        yield sandboxed(WARM, supervised, case, image, data, warm=case.warm, share=1)
        yield plain_fork(PLAIN, case, image.rootfs, data)


def print_table(case: Case, executors: Sequence[Executor], found: list) -> None:
    speed = {each.title: statistics.median(rates) for each, (rates, _) in zip(executors, found, strict=True)}
    print(f"\n{case.title}: runs per second of 2 slots together, milliseconds of a run")
    columns = f"{'runs':>6}{'runs/s':>9}{'p50':>8}{'p90':>8}{'p99':>8}{'x Docker':>10}"
    print(f"{'executor':<16}{columns}")
    for each, (_, taken) in zip(executors, found, strict=True):
        parts = statistics.quantiles(taken, n=100, method="inclusive")
        times = "".join(f"{parts[at] * 1000:8.1f}" for at in (49, 89, 98))
        rate = speed[each.title]
        print(f"{each.title:<16}{len(taken):6d}{rate:9.2f}{times}{rate / speed[DOCKER]:10.2f}")
    if WARM in speed:
        by_title = {each.title: rates for each, (rates, _) in zip(executors, found, strict=True)}
        ratios = sorted(fork / warm for fork, warm in zip(by_title[PLAIN], by_title[WARM], strict=True))
        middle = statistics.median(ratios)
        print(f"plain fork : warm {middle:.2f} (median of rounds; {ratios[0]:.2f} to {ratios[-1]:.2f})")


@contextmanager
def everything(tree: Path) -> Iterator[tuple[StoredImage, DockerSettings, tuple]]:
    """The image in all places where it must be, and the product's backends."""
    with running_daemon() as daemon, ExitStack() as stack:
        digest = daemon.import_tree(tree, "ENV PATH=/usr/local/bin:/usr/bin:/bin")
        settings = DockerSettings(socket=daemon.socket, keeper_image=digest, keeper_python="/usr/bin/python3")
        host = describe()
        backends = (SupervisedSandbox(host), DockerSandbox(settings))
        yield image_of(tree, digest), settings, tuple(stack.enter_context(each) for each in backends)


def print_machine() -> None:
    def said(*command: str) -> str:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.2f}, Linux {platform.release()}")
    print(f"Python {platform.python_version()}, {said(str(find_bwrap().path), '--version')}")
    print(f"{said('dockerd', '--version')}; {said('runc', '--version').splitlines()[0]}")


def main(tree: Path, *, rounds: int, quick: bool) -> None:
    print_machine()
    facts: tuple[Callable, ...] = (print_starts, print_flatness, print_memory, print_endings)
    with everything(tree) as (image, settings, sandboxes):
        for print_fact in facts:
            print_fact(sandboxes[0], image)
        for case in CASES[:1] if quick else CASES:
            executors = tuple(executors_for(case, image, settings, sandboxes))
            print_table(case, executors, measure(executors, rounds=rounds))
            print(f"load {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tree", type=Path)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--quick", action="store_true", help="only the pandas pipeline")
    given = parser.parse_args()
    main(given.tree.resolve(), rounds=given.rounds, quick=given.quick)
