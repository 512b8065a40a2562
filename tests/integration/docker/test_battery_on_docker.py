"""The battery on Docker, straight and behind the proxy. It is here, and not with the other executors in
tests/security/battery, for the sake of the daemon. On every change its quick part, as `dpgate doctor` runs
it, behind the proxy: containers are the same there, and a run costs most of a second.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from attack_families import FAMILIES, of_family
from docker_daemon import DockerDaemon
from docker_orders import LoadedImage, running_proxy, settings_for, traces
from waiting import PATIENCE_S

from sandbox_images.probe.catalogue import CATALOGUE, Probe
from worker.sandbox.battery import Bench, Conditions, Outcome, ProbeResult, Targets, judge, run_quick
from worker.sandbox.docker_engine import DockerSandbox


@contextmanager
def open_sandbox(daemon: DockerDaemon, digest: str, *, behind_proxy: bool = False) -> Iterator[DockerSandbox]:
    straight = settings_for(daemon.socket, digest)
    with ExitStack() as undo:
        folder = Path(undo.enter_context(tempfile.TemporaryDirectory(prefix="dpg-", dir="/tmp")))
        folder.chmod(0o711)
        socket = daemon.socket
        if behind_proxy:
            socket = undo.enter_context(running_proxy(folder, daemon.socket, straight, digest))
        settings = settings_for(socket, digest)
        yield undo.enter_context(DockerSandbox(settings, lock_root=folder / "locks"))
    assert not traces(daemon)


@pytest.fixture(scope="module")
def quick_part(docker_daemon: DockerDaemon, digest: str) -> Mapping[str, ProbeResult]:
    """What is said of each attack, by its name."""
    with open_sandbox(docker_daemon, digest, behind_proxy=True) as sandbox:
        found = run_quick(sandbox, LoadedImage(digest), patience_s=PATIENCE_S, death_s=PATIENCE_S)
        return {each.name: each for each in found}


@contextmanager
def open_bench(daemon: DockerDaemon, digest: str) -> Iterator[Bench]:
    with (
        open_sandbox(daemon, digest) as sandbox,
        Targets() as targets,
        Bench(
            sandbox,
            LoadedImage(digest),
            targets,
            Conditions("docker"),
            patience_s=PATIENCE_S,
            death_s=PATIENCE_S,
        ) as opened,
    ):
        yield opened


@pytest.fixture(scope="module")
def bench(docker_daemon: DockerDaemon, digest: str) -> Iterator[Bench]:
    with open_bench(docker_daemon, digest) as opened:
        yield opened


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("executor", ["proxy"])
def test_the_quick_attacks_of_a_family_are_withstood(
    executor: str, family: str, quick_part: Mapping[str, ProbeResult], subtests: pytest.Subtests
) -> None:
    assert quick_part["control"].outcome is Outcome.PASSED, quick_part["control"].detail
    for probe in of_family(family, quick=True):
        with subtests.test(msg=probe.name):
            result = quick_part[probe.name]
            assert result.outcome is not Outcome.FAILED, result.detail


@pytest.mark.deep("each family is asked in the ring test, and the whole catalogue of warm")
@pytest.mark.parametrize("probe", CATALOGUE, ids=lambda probe: probe.name)
@pytest.mark.parametrize("executor", ["docker"])
def test_attack_is_withstood(executor: str, probe: Probe, bench: Bench) -> None:
    result = judge(bench, probe)
    if result.outcome is Outcome.FAILED:
        bench.renew()
    assert result.outcome is not Outcome.FAILED, result.detail
