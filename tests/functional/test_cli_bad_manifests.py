"""Manifests that are refused before anything runs, in words that name the field and the fix."""

from __future__ import annotations

import pytest
from terminal import Answer, Platform, Terminal, pipeline_folder, ready_pipeline

from dpgate.cli.exit_codes import ExitCode


def refused(answer: Answer, code: ExitCode, *words: str) -> None:
    assert answer.code == code, answer
    said = " ".join(answer.err.split())
    for word in words:
        assert word in said


@pytest.mark.parametrize(
    "image", ["python:3.11", "https://dpgate.example.org/python.tar", "/images/python.sif"]
)
def test_an_image_that_is_no_name(shell: Terminal, image: str) -> None:
    folder = pipeline_folder(shell.folder / "tagged", image=image)
    answer = shell("run", folder)
    refused(answer, ExitCode.USAGE, "pipeline.manifest.image", "not the name of an image")
    assert "Write the name of an approved image" in " ".join(answer.err.split())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("LD_PRELOAD", "steers the loader"),
        ("PYTHONPATH", "steers the loader"),
        ("PATH", "is set by the sandbox"),
        ("lower", "is not a name"),
    ],
)
def test_an_environment_that_is_not_for_pipelines(shell: Terminal, name: str, words: str) -> None:
    folder = pipeline_folder(shell.folder / "environment", environment={name: "x"})
    refused(shell("run", folder), ExitCode.USAGE, "pipeline.manifest.environment", name, words)


def test_a_limit_of_zero(shell: Terminal) -> None:
    folder = pipeline_folder(shell.folder / "zero", resources={"memory_mib": 0})
    refused(shell("run", folder), ExitCode.USAGE, "resources.memory_mib", "Use 32 or more.")


def test_a_limit_beyond_the_policy(one_platform: Platform) -> None:
    one_platform.dataset("modest", max_memory_mib=256)
    folder = ready_pipeline(one_platform, "modest", "hungry")
    answer = one_platform.ada("submit", folder, "--epsilon", "1")
    refused(
        answer, ExitCode.USAGE, "resources.memory_mib", "512 is over the policy's 256", "Use 256 or less."
    )
