"""Manifests that are refused before anything runs, in words that name the field and the fix."""

from __future__ import annotations

import pytest
from terminal import Answer, Terminal, pipeline_folder

from dpgate.cli.exit_codes import ExitCode


def refused(answer: Answer, code: ExitCode, *words: str) -> None:
    assert answer.code == code, answer
    said = " ".join(answer.err.split())
    for word in words:
        assert word in said


def test_an_image_that_is_no_name(shell: Terminal, subtests: pytest.Subtests) -> None:
    images = ("python:3.11", "https://dpgate.example.org/python.tar", "/images/python.sif")
    for number, image in enumerate(images):
        with subtests.test(msg=image):
            answer = shell("run", pipeline_folder(shell.folder / f"tagged-{number}", image=image))
            refused(answer, ExitCode.USAGE, "dpgate.yaml, image: ", "not the name of an image")
            assert "Write the name of an approved image" in " ".join(answer.err.split())


WRONG_NAMES = (
    ("LD_PRELOAD", "steers the loader"),
    ("PYTHONPATH", "steers the loader"),
    ("PATH", "is set by the sandbox"),
    ("lower", "is not a name"),
)


def test_an_environment_that_is_not_for_pipelines(shell: Terminal, subtests: pytest.Subtests) -> None:
    for name, words in WRONG_NAMES:
        with subtests.test(msg=name):
            folder = pipeline_folder(shell.folder / name, environment={name: "x"})
            refused(shell("run", folder), ExitCode.USAGE, "dpgate.yaml, environment", name, words)


def test_a_limit_of_zero(shell: Terminal) -> None:
    folder = pipeline_folder(shell.folder / "zero", resources={"memory_mib": 0})
    refused(shell("run", folder), ExitCode.USAGE, "dpgate.yaml, resources, memory_mib: ", "Use 32 or more.")
