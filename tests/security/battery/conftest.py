"""One bench for each executor and one for the control, opened by the first test that asks."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from bare import BareSandbox, bare_bench
from executors import host_image, open_executor

from worker.sandbox.battery import Bench, Targets


@pytest.fixture(scope="session")
def targets() -> Iterator[Targets]:
    with Targets() as these:
        yield these


@pytest.fixture(scope="session")
def bench_of(targets: Targets) -> Iterator[Callable[[str], Bench]]:
    """The bench of an executor by its name."""
    benches: dict[str, Bench] = {}
    with ExitStack() as undo:

        def bench(name: str) -> Bench:
            if name not in benches:
                executor = undo.enter_context(open_executor(name))
                benches[name] = undo.enter_context(
                    Bench(executor.sandbox, executor.image, targets, executor.conditions)
                )
            return benches[name]

        yield bench


@pytest.fixture(scope="session")
def bare(targets: Targets) -> Iterator[tuple[BareSandbox, Bench]]:
    with BareSandbox(targets) as sandbox, bare_bench(sandbox, host_image(), targets) as bench:
        yield sandbox, bench
