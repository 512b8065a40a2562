"""Every attack of the catalogue on every executor: it is withstood, or it is a residual channel that the
catalogue explains. That each attack works where nothing withstands it is proved by test_controls.py.
"""

import pytest
from executors import EMBEDDED

from sandbox_images.probe.catalogue import CATALOGUE
from worker.sandbox.battery import Outcome, judge
from worker.sandbox.battery.bench import CALM
from worker.sandbox.battery.quick import fits_beside_others, run_quick
from worker.sandbox.protocol import Cause

QUICK = [probe for probe in CATALOGUE if probe.quick]
TOGETHER = [probe for probe in QUICK if fits_beside_others(probe)]
ALONE = [probe for probe in CATALOGUE if probe not in TOGETHER]
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
@pytest.mark.parametrize("executor", ["warm", "cold"])
def test_attack_is_withstood(executor, probe, bench_of):
    _check(bench_of(executor), probe)


@pytest.mark.parametrize("probe", ALONE, **by_name)
def test_attack_is_withstood_by_bubblewrap(probe, bench_of):
    """The others, which need no bubblewrap of their own, are in its quick part below."""
    _check(bench_of("bubblewrap"), probe)


@pytest.mark.slow
@pytest.mark.parametrize("probe", TOGETHER, **by_name)
def test_attack_is_withstood_by_a_bubblewrap_of_its_own(probe, bench_of):
    _check(bench_of("bubblewrap"), probe)


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


class Counted:
    """A sandbox, and the runs that are made in it."""

    def __init__(self, sandbox):
        self._sandbox, self.runs = sandbox, []

    def open_slot(self, order, *, slot):
        place = self._sandbox.open_slot(order, slot=slot)
        run = place.run
        place.run = lambda block: self.runs.append(block) or run(block)
        return place


def test_quick_part_is_quick(bench_of):
    """Some 60 runs, whatever they take, for more than twice as many attacks."""
    bench = bench_of("bubblewrap")
    counted = Counted(bench._sandbox)
    results = run_quick(counted, bench._image, backend="bubblewrap")
    assert 0 < len(counted.runs) < len(QUICK) * 2 / 3
    assert {each.name for each in results} == {"control", *(probe.name for probe in QUICK)}
    assert not [f"{each.name}: {each.detail}" for each in results if each.outcome is Outcome.FAILED]
