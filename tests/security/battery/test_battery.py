"""Every attack of the catalogue: it is withstood, or it is a residual channel that the catalogue explains.

On every change, warm takes the whole catalogue and each other executor the quick part, as `dpgate doctor`
runs it; Docker's is in tests/integration/docker, beside a daemon. That each attack works where nothing
withstands it is proved by test_controls.py.
"""

from contextlib import nullcontext
from pathlib import Path

import pytest
import rings
from attack_families import FAMILIES, of_family
from executors import EMBEDDED
from host_devices import host_nodes

from sandbox_images.probe.catalogue import CATALOGUE
from worker.sandbox.battery import Outcome, judge
from worker.sandbox.battery.bench import CALM
from worker.sandbox.protocol import Cause

QUICK = [probe for probe in CATALOGUE if probe.quick]
HERE = Path(__file__)
ON_DOCKER = HERE.parents[2] / "integration/docker/test_battery_on_docker.py"


# Whoever mounts on this host, such as another test, may take the number of a file system: then it moves
# once. What a run moves, it moves each time.
_MOVED_BY_OTHERS, _TRIES = {"x_device_numbers"}, 4


def _check(bench, probe):
    with host_nodes() if probe.name == "x_device_times" else nullcontext():
        result = judge(bench, probe)
        for _ in range(_TRIES - 1 if probe.name in _MOVED_BY_OTHERS else 0):
            if result.outcome is Outcome.FAILED:
                result = judge(bench, probe)
    if result.outcome is Outcome.FAILED:
        bench.renew()
    assert result.outcome is not Outcome.FAILED, result.detail


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("executor", ["warm"])
def test_a_family_of_attacks_is_withstood(executor, family, bench_of, subtests):
    """A sandbox in which nothing runs withstands everything: a peaceful pipeline must succeed first."""
    bench = bench_of(executor)
    calm = bench.run(CATALOGUE[0], role=CALM)
    assert calm.value == CALM, calm.describe()
    for probe in of_family(family):
        with subtests.test(msg=probe.name):
            _check(bench, probe)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("executor", ["cold"])
def test_the_quick_attacks_of_a_family_are_withstood(executor, family, quick_part, subtests):
    results, _ = quick_part(executor)
    assert results["control"].outcome is Outcome.PASSED, results["control"].detail
    for probe in of_family(family, quick=True):
        with subtests.test(msg=probe.name):
            assert results[probe.name].outcome is not Outcome.FAILED, results[probe.name].detail


@pytest.mark.deep("each executor has attacks of each family in the ring test, and warm has all of them")
@pytest.mark.parametrize("probe", CATALOGUE, ids=lambda probe: probe.name)
@pytest.mark.parametrize("executor", ["cold"])
def test_attack_is_withstood(executor, probe, bench_of):
    _check(bench_of(executor), probe)


def test_each_family_has_attacks_on_each_executor_in_the_ring_test(request, subtests):
    """As the cases are collected, whichever of them this session was asked for."""
    modules = [pytest.Module.from_parent(request.session, path=path) for path in (HERE, ON_DOCKER)]
    cases = [case for module in modules for case in module.collect() if isinstance(case, pytest.Function)]
    asked = {
        (case.callspec.params["executor"], case.callspec.params["family"])
        for case in cases
        if hasattr(case, "callspec") and "family" in case.callspec.params and rings.ring_of(case) == "test"
    }
    assert len(FAMILIES) >= 9
    for executor in (*EMBEDDED, "proxy"):  # which is the way to docker of those who follow the guide
        for family in FAMILIES:
            with subtests.test(msg=f"{family} on {executor}"):
                assert (executor, family) in asked
                assert of_family(family, quick=True)


def test_the_quick_part_is_quick(quick_part):
    """Some 60 runs, whatever they take, for more than twice as many attacks."""
    results, runs = quick_part("cold")
    assert 0 < runs < len(QUICK) * 2 / 3
    assert set(results) == {"control", *(probe.name for probe in QUICK)}


ENDINGS = {
    "r_sleep": Cause.WALL,
    "r_ignore_term": Cause.WALL,
    "r_stop_self": Cause.WALL,
    "r_mem_bomb": Cause.MEMORY,
    "r_mem_procs": Cause.MEMORY,
    "o_missing": Cause.OUTPUT,
    "o_symlink_host": Cause.OUTPUT,
    "r_big_output": Cause.OUTPUT,
}


@pytest.mark.parametrize(
    "executor",
    [
        "cold",
        pytest.param(
            "warm",
            marks=pytest.mark.deep(
                "test_supervised_runs.py asks warm runs for each cause, by plainer scripts"
            ),
        ),
    ],
)
def test_a_researcher_hears_why_a_run_on_a_twin_was_stopped(executor, bench_of, subtests):
    for name, cause in ENDINGS.items():
        with subtests.test(msg=name):
            (probe,) = (probe for probe in CATALOGUE if probe.name == name)
            assert bench_of(executor).run(probe).result.detail.cause is cause
