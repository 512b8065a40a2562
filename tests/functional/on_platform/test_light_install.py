"""`pip install dpgate` brings what a researcher needs; what needs more says what to install."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from terminal import Answer, Platform, pipeline_folder

from dpgate.cli.exit_codes import ExitCode

LIGHT = Path(__file__).parents[2] / "light.py"
HEAVY = ("sqlalchemy", "celery", "fastapi", "sklearn", "scipy", "duckdb", "docker")


def light(platform: Platform, *arguments: object) -> Answer:
    """A command of ada's where only the light installation is there."""
    done = subprocess.run(
        [sys.executable, LIGHT, *map(str, arguments)],
        cwd=platform.ada.folder,
        env=platform.ada.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    return Answer(done.returncode, done.stdout, done.stderr)


@pytest.mark.deep("the same route as elsewhere; what the light client imports is asked by test_light_imports")
def test_a_light_installation_takes_a_researcher_to_a_release(one_platform: Platform) -> None:
    one_platform.dataset("light")
    folder = pipeline_folder(one_platform.ada.folder / "light-mean")
    for arguments in (
        ("login",),
        ("twin", "light", "-o", "twin-light"),
        ("run", folder, "--twin", "twin-light", "--block-size", 3),
        ("preview", folder, "--want", "mean_age=20"),
        ("submit", folder, "--epsilon", 1, "--anyway", "--wait", "--json"),
    ):
        answer = light(one_platform, *arguments)
        assert answer.code == 0, answer
    (one_platform.ada.folder / "light.json").write_text(answer.out, encoding="utf-8")
    verified = light(one_platform, "verify", "light.json", "--json")
    assert verified.code == 0, verified
    assert json.loads(answer.out)["values"]


@pytest.mark.parametrize("command", ["up", "demo"])
def test_what_needs_the_platform_says_what_to_install(one_platform: Platform, command: str) -> None:
    answer = light(one_platform, command)
    assert answer.code == ExitCode.NOT_READY, answer
    assert "pip install 'dpgate[platform]'" in answer.err
    assert "Traceback" not in answer.err


def test_the_heavy_libraries_are_hidden_from_it() -> None:
    """The other tests would pass without a word if the light installation had everything."""
    code = f"""
import importlib, sys
sys.path.insert(0, {str(LIGHT.parent)!r})
from light import OnlyRequired
sys.meta_path.insert(0, OnlyRequired())
for name in {HEAVY!r}:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        print(name)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == list(HEAVY)
