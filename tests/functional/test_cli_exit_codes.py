"""Every exit code comes from a real situation: this table is complete."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from terminal import Answer, Platform, Terminal, pipeline_folder, ready_pipeline

from dpgate.cli.exit_codes import ExitCode


@dataclass(frozen=True)
class Scene:
    """Where a situation takes place."""

    platform: Platform
    shell: Terminal
    strange: str

    @property
    def pipeline(self) -> Path:
        folder = self.platform.ada.folder / "exit-codes"
        return folder if folder.exists() else ready_pipeline(self.platform, "ages", "exit-codes")


def same_id_other_job(scene: Scene) -> Answer:
    submit = ["submit", scene.pipeline, "--job-id", "exit-codes-conflict", "--epsilon"]
    scene.platform.ada.ok(*submit, "0.1")
    return scene.platform.ada(*submit, "0.2", "--json")


def over_budget(scene: Scene) -> Answer:
    submit = ["submit", scene.pipeline, "--epsilon", "1.9", "--json"]
    answers = [scene.platform.ada(*submit, "--block-size", size) for size in (3, 4, 5, 6)]
    return answers[-1]


def failing_pipeline(scene: Scene) -> Answer:
    folder = pipeline_folder(scene.shell.folder / "failing", "raise SystemExit(3)")
    scene.platform.ada.ok("twin", "ages", "-o", scene.shell.folder / "twin")
    return scene.shell("run", folder, "--twin", "twin", "--block-size", 3, "--json")


def withdrawn_job(scene: Scene) -> Answer:
    scene.platform.dataset("exit-codes", approve_jobs=True)
    folder = ready_pipeline(scene.platform, "exit-codes", "exit-codes-withdrawn")
    job = scene.platform.ada.ok("submit", folder, "--epsilon", "1", "--json").json["id"]
    scene.platform.ada.ok("cancel", job)
    return scene.platform.ada("result", job, "--json")


def interrupted(scene: Scene) -> Answer:
    process = scene.shell.start("up", "--home", scene.shell.folder / "home", "--port", 0)
    assert process.stderr is not None
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return Answer(process.returncode, out, err)


SITUATIONS: dict[ExitCode, Callable[[Scene], Answer]] = {
    ExitCode.OK: lambda scene: scene.platform.ada("datasets", "--json"),
    ExitCode.FAULT: lambda scene: scene.shell(
        "login", "--url", f"{scene.strange}/broken", "--token", "t", "--json"
    ),
    ExitCode.USAGE: lambda scene: scene.shell("run", "no-such-folder", "--json"),
    ExitCode.NOT_ALLOWED: lambda scene: scene.platform.ada("user", "list", "--json"),
    ExitCode.NOT_FOUND: lambda scene: scene.platform.ada("status", "no-such-job", "--json"),
    ExitCode.CONFLICT: same_id_other_job,
    ExitCode.OVER_BUDGET: over_budget,
    ExitCode.NOT_READY: lambda scene: scene.shell("down", "--home", scene.shell.folder / "home", "--json"),
    ExitCode.PIPELINE_FAILED: failing_pipeline,
    ExitCode.NOT_ISOLATED: lambda scene: scene.shell("doctor", "--python-env", "no-such-env", "--json"),
    ExitCode.NOT_RELEASED: withdrawn_job,
    ExitCode.BROKEN_CHAIN: lambda scene: scene.platform.operator(
        "audit", "verify", "--expected-head", "f" * 64, "--json"
    ),
    ExitCode.INTERRUPTED: interrupted,
}


@pytest.mark.parametrize("code", ExitCode)
def test_a_real_situation_ends_with_each_code(
    code: ExitCode, one_platform: Platform, shell: Terminal, other_server: str
) -> None:
    answer = SITUATIONS[code](Scene(one_platform, shell, other_server))
    assert answer.code == code, answer
    assert code == ExitCode.INTERRUPTED or answer.json is not None
