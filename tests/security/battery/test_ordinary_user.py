"""The battery where the worker is an ordinary user: no users of their own for slots, no control groups."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from executors import EMBEDDED
from host_devices import host_nodes

from sandbox_images.probe.catalogue import CATALOGUE

QUICK = ["control", *(probe.name for probe in CATALOGUE if probe.quick)]
ORDINARY = Path(__file__).with_name("ordinary.py")
deep = pytest.mark.deep(
    "rights and walls are those of warm, which the ring test asks; the rest of the catalogue"
)


@cache
def results(part: str, executor: str) -> dict[str, list[str]]:
    command = [sys.executable, ORDINARY, part, executor]
    with host_nodes():
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)[executor]


@pytest.mark.parametrize("executor", ["warm", pytest.param("cold", marks=deep)])
def test_the_quick_attacks_are_withstood_for_an_ordinary_user(executor, subtests):
    found = results("quick", executor)
    for name in QUICK:
        with subtests.test(msg=name):
            outcome, why = found[name]
            assert outcome != "failed", why


@deep
@pytest.mark.parametrize("name", [probe.name for probe in CATALOGUE])
@pytest.mark.parametrize("executor", EMBEDDED)
def test_every_attack_is_withstood_for_an_ordinary_user(executor, name):
    outcome, why = results("full", executor)[name]
    assert outcome != "failed", why
