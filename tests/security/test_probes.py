"""Every hostile script twice: allowed bare, blocked in the sandbox."""

import json
import os
import signal
import time
from dataclasses import replace

import pytest
from sandbox_harness import SECRET, TIGHT, processes_with
from sandbox_probes import OUTPUTS, PROBES, STOPPED, STRAGGLER

from worker.sandbox.protocol import MIB, Audience, Cause

by_name = pytest.mark.parametrize("probe", PROBES, ids=lambda probe: f"{probe.category}-{probe.name}")


@by_name
def test_attack_works_bare(probe, run_bare):
    assert run_bare(probe.script)[0] == "ALLOWED"


@by_name
def test_attack_is_blocked_inside(probe, run_inside):
    result = run_inside(probe.script)
    assert result.outputs == {"verdict": b"BLOCKED"}, result.detail


def test_probes_have_distinct_names():
    names = [probe.name for probe in PROBES]
    assert len(set(names)) == len(names)


def _attack(code: str) -> str:
    body = "\n".join(f"    {line}" for line in code.strip().splitlines())
    return f"def attack():\n{body}\njudge(attack)\n"


@pytest.mark.parametrize("name", STOPPED)
def test_endless_attack_works_bare(name, run_bare, tmp_path):
    cause, code = STOPPED[name]
    verdict, _ = run_bare(_attack(code), timeout_s=1.2 if cause == "WALL" else 20)
    assert verdict == ("STILL RUNNING" if cause == "WALL" else "ALLOWED")


@pytest.mark.parametrize("name", STOPPED)
def test_endless_attack_is_stopped_inside(name, run_inside):
    cause, code = STOPPED[name]
    wall_s = 1.0 if cause == "WALL" else 10.0
    limits = replace(TIGHT, wall_s=wall_s, memory_bytes=128 * MIB, output_bytes=64 * MIB)
    started = time.monotonic()
    result = run_inside(_attack(code), limits=limits)
    assert result.outputs is None
    assert result.detail.cause is Cause[cause]
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("name", OUTPUTS)
def test_hostile_output_fools_a_plain_open(name, run_bare):
    _, out = run_bare(
        "P = os.path.join(OUT, 'd', 'target.json')\nos.mkdir(os.path.dirname(P))\n" + OUTPUTS[name]
    )
    path = out / "d" / "target.json"
    assert len(path.read_bytes()) > TIGHT.file_bytes or path.is_symlink() or path.read_text()


@pytest.mark.parametrize("name", OUTPUTS)
def test_hostile_output_is_not_collected(name, run_inside):
    script = "P = os.path.join(OUT, 'd', 'target.json')\nos.mkdir(os.path.dirname(P))\n" + OUTPUTS[name]
    result = run_inside(script, outputs=("d/target.json",))
    assert result.outputs is None
    assert result.detail.cause is Cause.OUTPUT, result.detail


@pytest.mark.parametrize(
    "script", ["pass", "os.mkdir(os.path.join(OUT, 'verdict'))"], ids=["missing", "directory"]
)
def test_no_file_is_not_collected(script, run_inside):
    assert run_inside(script).detail.cause is Cause.OUTPUT


def test_straggler_changes_the_output_bare(run_bare):
    _, out = run_bare(STRAGGLER)
    try:
        deadline = time.monotonic() + 10
        while (out / "verdict").read_text() != "evil" and time.monotonic() < deadline:
            time.sleep(0.01)
        assert (out / "verdict").read_text() == "evil"
    finally:
        for pid in processes_with(str(out)):
            os.kill(pid, signal.SIGKILL)


def test_straggler_is_dead_before_the_output_is_read(run_inside):
    for _ in range(5):
        assert run_inside(STRAGGLER).outputs == {"verdict": b"good"}


def test_flood_of_text_is_cut(run_inside):
    flood = (
        "for _ in range(200):\n    sys.stdout.write('x' * 100_000)\njudge(lambda: False)\nprint('the end')"
    )
    result = run_inside(flood)
    assert result.outputs == {"verdict": b"BLOCKED"}
    assert len(result.detail.tail) == 64 * 1024
    assert result.detail.tail.endswith("the end\n")


def test_descriptor_of_the_worker_is_not_inherited(run_inside, tmp_path):
    fd = os.open(tmp_path / "secret", os.O_CREAT | os.O_RDWR)
    os.set_inheritable(fd, True)
    try:
        probe = next(probe for probe in PROBES if probe.name == "inherited_descriptors")
        assert run_inside(probe.script).outputs == {"verdict": b"BLOCKED"}
    finally:
        os.close(fd)


def test_environment_of_the_worker_is_not_inherited(run_inside, monkeypatch):
    monkeypatch.setenv("WORKER_SECRET", SECRET)
    seen = "open(os.path.join(OUT, 'verdict'), 'w').write(json.dumps(dict(os.environ)))"
    environment = json.loads(run_inside(seen).outputs["verdict"])
    assert SECRET not in environment.values()
    assert environment["HOME"] == "/tmp"
    assert environment["OMP_NUM_THREADS"] == "1"


def test_no_trace_reaches_an_audience_that_may_not_hear(run_inside):
    for script in ("print(T); raise SystemExit(3)", "print(T); judge(lambda: True)"):
        assert run_inside(script, audience=Audience.ORIGINAL).detail is None
