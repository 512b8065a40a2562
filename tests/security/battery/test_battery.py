"""Every attack of the catalogue on every executor: it is withstood, or it is a residual channel that the
catalogue explains. That each attack works where nothing withstands it is proved by test_controls.py.
"""

import time

import pytest
from executors import EMBEDDED

from sandbox_images.probe.catalogue import CATALOGUE
from worker.sandbox.battery import Outcome, judge
from worker.sandbox.battery.bench import CALM
from worker.sandbox.battery.quick import run_quick
from worker.sandbox.protocol import Cause

QUICK = [probe for probe in CATALOGUE if probe.quick]
by_name = {"ids": lambda each: getattr(each, "name", each)}


def _check(bench, probe):
    result = judge(bench, probe)
    if result.outcome is Outcome.FAILED:
        bench.renew()
    assert result.outcome is not Outcome.FAILED, result.detail


@pytest.mark.parametrize("executor", [*EMBEDDED, "docker"])
def test_peaceful_pipeline_succeeds(executor, bench_of):
    """First of all: a sandbox in which nothing runs withstands everything."""
    calm = bench_of(executor).run(CATALOGUE[0], role=CALM)
    assert calm.value == CALM, calm.describe()


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


@pytest.mark.parametrize("name", ENDINGS)
@pytest.mark.parametrize("executor", ["warm", "bubblewrap"])
def test_a_researcher_hears_why_a_run_on_a_twin_was_stopped(executor, name, bench_of):
    probe = next(probe for probe in CATALOGUE if probe.name == name)
    detail = bench_of(executor).run(probe).result.detail
    assert detail.cause is ENDINGS[name]


@pytest.mark.parametrize("probe", CATALOGUE, **by_name)
@pytest.mark.parametrize("executor", EMBEDDED)
def test_attack_is_withstood(executor, probe, bench_of):
    _check(bench_of(executor), probe)


def test_quick_part_is_withstood_on_docker(bench_of):
    """As `dpgate doctor` runs it, because a run costs most of a second; the rest is marked slow."""
    bench = bench_of("docker")
    results = run_quick(bench._sandbox, bench._image)
    assert len(results) == len(QUICK) + 1
    assert not [f"{each.name}: {each.detail}" for each in results if each.outcome is Outcome.FAILED]


@pytest.mark.slow
@pytest.mark.parametrize("probe", CATALOGUE, **by_name)
def test_attack_is_withstood_on_docker(probe, bench_of):
    _check(bench_of("docker"), probe)


def test_quick_part_is_quick(bench_of):
    bench = bench_of("warm")
    started = time.monotonic()
    results = run_quick(bench._sandbox, bench._image, backend="warm")
    assert time.monotonic() - started < 60  # 6 s on two cores
    assert {each.name for each in results} == {"control", *(probe.name for probe in QUICK)}
    assert not [f"{each.name}: {each.detail}" for each in results if each.outcome is Outcome.FAILED]
