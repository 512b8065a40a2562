"""Every exit code comes from a real situation: this table is complete."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from strange_server import StrangeServer
from terminal import Answer, Platform, Terminal, pipeline_folder, ready_pipeline
from waiting import wait_until

from dpgate.cli.exit_codes import ExitCode


@dataclass(frozen=True)
class Scene:
    """Where a situation takes place."""

    platform: Platform
    shell: Terminal
    strange: str

    def pipeline(self, dataset: str) -> Path:
        """For a data set of its own: what it spends is missed by nobody."""
        self.platform.dataset(dataset, approve_jobs=True)
        return ready_pipeline(self.platform, dataset, f"pipeline-{dataset}")


def same_id_other_job(scene: Scene) -> Answer:
    folder = scene.pipeline("conflicts")
    submit = ["submit", folder, "--job-id", "exit-codes-conflict", "--epsilon"]
    scene.platform.ada.ok(*submit, "0.1")
    return scene.platform.ada(*submit, "0.2", "--json")


def over_budget(scene: Scene) -> Answer:
    submit = ["submit", scene.pipeline("overspent"), "--epsilon", "2", "--json"]
    for size in (3, 4):
        scene.platform.ada.ok(*submit, "--block-size", size)
    return scene.platform.ada(*submit, "--block-size", 5)


def failing_pipeline(scene: Scene) -> Answer:
    folder = pipeline_folder(scene.shell.folder / "failing", "raise SystemExit(3)")
    scene.platform.ada.ok("twin", "ages", "-o", scene.shell.folder / "twin")
    return scene.shell("run", folder, "--twin", "twin", "--block-size", 3, "--json")


def withdrawn_job(scene: Scene) -> Answer:
    folder = scene.pipeline("taken-back")
    job = scene.platform.ada.ok("submit", folder, "--epsilon", "1", "--json").json["id"]
    scene.platform.ada.ok("cancel", job)
    return scene.platform.ada("result", job, "--json")


def interrupted(scene: Scene) -> Answer:
    """While it waits for a server that does not answer."""
    StrangeServer.seen.clear()
    process = scene.shell.start("login", "--url", f"{scene.strange}/slow", "--token", "t", "--json")
    wait_until(lambda: StrangeServer.seen, unless=lambda: process.poll() is not None, said="the request")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
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


def test_a_real_situation_ends_with_each_code(
    one_platform: Platform, shell: Terminal, other_server: str, subtests: pytest.Subtests
) -> None:
    for code in ExitCode:
        with subtests.test(msg=code.name):
            answer = SITUATIONS[code](Scene(one_platform, shell, other_server))
            assert answer.code == code, answer
            assert code == ExitCode.INTERRUPTED or answer.json is not None
