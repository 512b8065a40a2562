"""One bench for each executor and one for the control, opened by the first test that asks."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack

import pytest
from bare import BareSandbox, bare_bench
from executors import host_image, open_executor
from host_devices import host_nodes
from waiting import PATIENCE_S

from worker.sandbox.battery import Bench, ProbeResult, Targets, run_quick


@pytest.fixture(scope="session")
def targets() -> Iterator[Targets]:
    with Targets() as these:
        yield these


@pytest.fixture(scope="module")
def bench_of(targets: Targets) -> Iterator[Callable[[str], Bench]]:
    """The bench of an executor by its name. Its patience is that of all tests: an attack that no limit ends
    goes on for longer than that.
    """
    benches: dict[str, Bench] = {}
    with ExitStack() as undo:

        def bench(name: str) -> Bench:
            if name not in benches:
                executor = undo.enter_context(open_executor(name))
                benches[name] = undo.enter_context(
                    Bench(
                        executor.sandbox,
                        executor.image,
                        targets,
                        executor.conditions,
                        patience_s=PATIENCE_S,
                        death_s=PATIENCE_S,
                    )
                )
            return benches[name]

        yield bench


class Counted:
    """A sandbox, and how many runs are made in it."""

    def __init__(self, sandbox):
        self._sandbox, self.runs = sandbox, 0

    def open_slot(self, order, *, slot):
        place = self._sandbox.open_slot(order, slot=slot)
        run = place.run

        def counted(block):
            self.runs += 1
            return run(block)

        place.run = counted
        return place


@pytest.fixture(scope="module")
def quick_part() -> Callable[[str], tuple[Mapping[str, ProbeResult], int]]:
    """What the quick part says on an executor, each attack by its name, and how many runs it took."""
    known: dict[str, tuple[Mapping[str, ProbeResult], int]] = {}

    def run(name: str) -> tuple[Mapping[str, ProbeResult], int]:
        if name not in known:
            with open_executor(name) as executor, host_nodes():
                counted = Counted(executor.sandbox)
                results = run_quick(
                    counted, executor.image, backend=name, patience_s=PATIENCE_S, death_s=PATIENCE_S
                )
            known[name] = {each.name: each for each in results}, counted.runs
        return known[name]

    return run


@pytest.fixture(scope="module")
def bare(targets: Targets) -> Iterator[tuple[BareSandbox, Bench]]:
    with BareSandbox(targets) as sandbox, bare_bench(sandbox, host_image(), targets) as bench:
        yield sandbox, bench
