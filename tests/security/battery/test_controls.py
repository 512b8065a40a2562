"""The controls: without a sandbox each attack works, and the judge says so. An attack that has rotted, or a
judge who sees nothing, would pass every sandbox.
"""

import pytest

from sandbox_images.probe.catalogue import CATALOGUE, Control, Expect, Mode
from worker.sandbox.battery import Outcome, judge
from worker.sandbox.battery.bench import CALM

_ABSENT = "value 3.0"
_COMPARES = (Expect.BLOCKED, Expect.SAME_VALUE)


@pytest.fixture
def control(bare):
    """Judge one attack without a sandbox, and remove what it left."""
    sandbox, bench = bare

    def run(probe):
        sandbox.control = probe.control
        return judge(bench, probe)

    yield run
    bench.renew()
    sandbox.end_survivors(bench.mark)


@pytest.mark.parametrize("probe", CATALOGUE, ids=lambda probe: probe.name)
def test_attack_works_without_a_sandbox(probe, control):
    result = control(probe)
    assert result.outcome is not Outcome.PASSED
    if result.outcome is Outcome.RESIDUAL:
        assert probe.residual
        return
    if probe.expect in _COMPARES:  # a script that merely broke would not show a value
        assert "value None" not in result.detail, result.detail
    if _ABSENT in result.detail:
        assert probe.kernel, f"the kernel lacks what this attacks: {result.detail}"


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
