"""The controls: without a sandbox each attack works, and the judge says so. An attack that has rotted, or a
judge who sees nothing, would pass every sandbox.
"""

import pytest
from attack_families import FAMILIES, of_family

from sandbox_images.probe.catalogue import CATALOGUE, Control, Expect, Mode
from worker.sandbox.battery import Outcome, judge
from worker.sandbox.battery.bench import CALM
from worker.sandbox.battery.quick import fits_beside_others

_ABSENT = 3
_COMPARES = (Expect.BLOCKED, Expect.SAME_VALUE)
# one of a pair may start too late for the other where the host is busy; an attack that works once works
_TRIES = 3
# they end what others of the same run go for
_ENDS_INIT = {"k_signal_init"}


@pytest.fixture
def control(bare):
    """Judge one attack without a sandbox, and remove what it left."""
    sandbox, bench = bare

    def run(probe):
        sandbox.control = probe.control
        try:
            return judge(bench, probe)
        finally:
            bench.renew()
            sandbox.end_survivors(bench.mark)

    return run


def _check(control, probe):
    result = control(probe)
    for _ in range(_TRIES - 1):
        if result.outcome is Outcome.PASSED:
            result = control(probe)
    assert result.outcome is not Outcome.PASSED
    if result.outcome is Outcome.RESIDUAL:
        assert probe.residual
        return
    if probe.expect in _COMPARES:  # a script that merely broke would not show a value
        assert "value None" not in result.detail, result.detail
    if f"value {_ABSENT}.0" in result.detail:
        assert probe.kernel, f"the kernel lacks what this attacks: {result.detail}"


@pytest.mark.parametrize("family", FAMILIES)
def test_the_quick_attacks_of_a_family_work_without_a_sandbox(family, bare, control, subtests):
    """As the quick part makes them: many in one run. What does not work there is tried alone."""
    sandbox, bench = bare
    sandbox.control = Control.PROCESS
    quick = of_family(family, quick=True)
    together = [probe for probe in quick if fits_beside_others(probe) and probe.name not in _ENDS_INIT]
    values = bench.run_several(together).values if together else {}
    assert values is not None
    while bench.targets.touched():
        continue
    sandbox.end_survivors(bench.mark)
    for probe in quick:
        with subtests.test(msg=probe.name):
            if values.get(probe.name) != 1 and not (values.get(probe.name) == _ABSENT and probe.kernel):
                _check(control, probe)


@pytest.mark.deep("an attack rots when it is changed: what the ring test asks of all executors is above")
@pytest.mark.parametrize("probe", CATALOGUE, ids=lambda probe: probe.name)
def test_attack_works_without_a_sandbox(probe, control):
    _check(control, probe)


def test_peaceful_pipeline_succeeds_without_a_sandbox(bare):
    _, bench = bare
    assert bench.run(CATALOGUE[0], role=CALM).value == CALM


def test_catalogue_is_complete_and_consistent():
    names = [probe.name for probe in CATALOGUE]
    assert len(set(names)) == len(names)
    assert len(names) >= 180
    for probe in CATALOGUE:
        assert probe.tries
        # what is declared residual needs its reason as a sentence
        assert all(len(reason) > 20 for reason in (probe.residual, *probe.residual_on.values()) if reason)
        assert (probe.control is Control.SERVER) <= (probe.mode is Mode.SEQUENCE)
