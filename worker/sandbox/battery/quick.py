"""The part of the battery that `dpgate doctor` runs: a pipeline that must work, then the attacks that need no
patience, several in one run.
"""

from collections.abc import Iterator
from itertools import groupby

from sandbox_images.probe.catalogue import CATALOGUE, Expect, Mode, Probe
from worker.sandbox.core.slot_user import slot_user
from worker.sandbox.protocol import Image, Sandbox, SandboxUnavailable

from .bench import CALM, DEATH_S, PATIENCE_S, Bench, Conditions
from .judge import judge
from .result import Outcome, ProbeResult
from .targets import Targets

_CONTROL = "control"
_AT_ONCE = 24  # attacks in one run


def run_quick(
    sandbox: Sandbox,
    image: Image,
    *,
    backend: str | None = None,
    patience_s: float = PATIENCE_S,
    death_s: float = DEATH_S,
) -> tuple[ProbeResult, ...]:
    """Some seconds. `backend` is one of warm, cold, docker; by default what the class says. `patience_s` and
    `death_s` are those of the bench.

    The first result is the control pipeline's: if that fails nothing else is run, because a sandbox in which
    nothing runs withstands every attack. Raises SandboxUnavailable where the platform itself fails.
    """
    conditions = Conditions(backend or _backend_of(sandbox), shared_user=slot_user(0) == slot_user(1))
    with (
        Targets() as targets,
        Bench(sandbox, image, targets, conditions, patience_s=patience_s, death_s=death_s) as bench,
    ):
        control = _run_control(bench)
        if control.outcome is Outcome.FAILED:
            return (control,)
        return (control, *_run_attacks(bench))


def _backend_of(sandbox: Sandbox) -> str:
    names = {"ProbedSandbox": "cold", "SupervisedSandbox": "cold", "DockerSandbox": "docker"}
    return names[type(sandbox).__name__]


def _run_control(bench: Bench) -> ProbeResult:
    calm = bench.run(CATALOGUE[0], role=CALM)
    if calm.value == CALM:
        return ProbeResult("control", _CONTROL, Outcome.PASSED, "")
    return ProbeResult("control", _CONTROL, Outcome.FAILED, f"no pipeline can run: {calm.describe()}")


def _run_attacks(bench: Bench) -> Iterator[ProbeResult]:
    quick = [probe for probe in CATALOGUE if probe.quick]
    together = [probe for probe in quick if fits_beside_others(probe)]
    for _, probes in groupby(together, key=lambda probe: probe.category):
        several = list(probes)
        for start in range(0, len(several), _AT_ONCE):
            yield from _judge_together(bench, several[start : start + _AT_ONCE])
    for probe in quick:
        if not fits_beside_others(probe):
            yield judge(bench, probe)


def fits_beside_others(probe: Probe) -> bool:
    """Whether `run_quick` makes it in one run with others, if it is among the quick ones."""
    return probe.mode is Mode.SINGLE and probe.expect is Expect.BLOCKED and probe.category != "output"


def _judge_together(bench: Bench, probes: list[Probe]) -> Iterator[ProbeResult]:
    seen = bench.run_several(probes)
    noticed = bench.targets.touched()
    if seen.values is None:
        raise SandboxUnavailable(f"the attacks on {probes[0].category} did not run: {seen.describe()}")
    for probe in probes:
        worked = seen.values[probe.name] != 0
        excuse = probe.excuse(bench.conditions.names) if worked else ""
        failed = noticed or (worked and not excuse)
        outcome = Outcome.FAILED if failed else Outcome.RESIDUAL if worked else Outcome.PASSED
        why = noticed or excuse or (f"value {seen.values[probe.name]:.0f}" if worked else "")
        yield ProbeResult(probe.name, probe.category, outcome, why)
