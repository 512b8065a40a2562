"""One bench for each executor and one for the control, opened by the first test that asks."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from bare import BareSandbox, bare_bench
from docker_daemon import DockerDaemon
from executors import host_image, open_executor

from worker.sandbox.battery import Bench, Targets


@pytest.fixture(scope="session")
def targets() -> Iterator[Targets]:
    with Targets() as these:
        yield these


@pytest.fixture(scope="module")
def bench_of(request: pytest.FixtureRequest, targets: Targets) -> Iterator[Callable[[str], Bench]]:
    """The bench of an executor by its name. Closed before others look at what is left on the daemon."""

    def daemon() -> tuple[DockerDaemon, str]:
        return request.getfixturevalue("docker_daemon"), request.getfixturevalue("docker_image")("python")

    benches: dict[str, Bench] = {}
    with ExitStack() as undo:

        def bench(name: str) -> Bench:
            if name not in benches:
                executor = undo.enter_context(open_executor(name, daemon))
                benches[name] = undo.enter_context(
                    Bench(executor.sandbox, executor.image, targets, executor.conditions)
                )
            return benches[name]

        yield bench


@pytest.fixture(scope="session")
def bare(targets: Targets) -> Iterator[tuple[BareSandbox, Bench]]:
    with BareSandbox(targets) as sandbox, bare_bench(sandbox, host_image(), targets) as bench:
        yield sandbox, bench
