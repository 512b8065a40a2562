"""The battery where the worker is an ordinary user: no users of their own for slots, no control groups.

The quick part here; the whole is marked slow.
"""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from executors import EMBEDDED

from sandbox_images.probe.catalogue import CATALOGUE

QUICK = ["control", *(probe.name for probe in CATALOGUE if probe.quick)]
ORDINARY = Path(__file__).with_name("ordinary.py")


@cache
def results(part: str, executor: str) -> dict[str, list[str]]:
    done = subprocess.run(
        [sys.executable, ORDINARY, part, executor], capture_output=True, text=True, check=False, timeout=280
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)[executor]


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("executor", ["warm", pytest.param("cold", marks=pytest.mark.slow), "bubblewrap"])
def test_attack_is_withstood_for_an_ordinary_user(executor, name):
    outcome, why = results("quick", executor)[name]
    assert outcome != "failed", why


@pytest.mark.slow
@pytest.mark.parametrize("name", [probe.name for probe in CATALOGUE])
@pytest.mark.parametrize("executor", EMBEDDED)
def test_every_attack_is_withstood_for_an_ordinary_user(executor, name):
    outcome, why = results("full", executor)[name]
    assert outcome != "failed", why
