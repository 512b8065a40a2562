"""What the operators' page has people type works, and each figure is explained."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest
from fenced import DOCS, commands
from page_shell import shell

from domain.operation import STUCK_AFTER, StuckKind, WorkerState
from dpgate.credentials import Login, keep_login
from dpgate.embedded.stack import Stack

PAGE = "how-to/operate.md"


def test_every_command_of_the_page_works_and_every_metric_is_explained(
    tmp_path: Path, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    credentials = tmp_path / "credentials.json"
    monkeypatch.setenv("DPGATE_CREDENTIALS", str(credentials))
    keep_login(Login(stack.url, stack.operator_token), profile="operator")
    script = "\n".join(fence.text for fence in commands(PAGE))
    done = shell(script, tmp_path, DPGATE_CREDENTIALS=str(credentials), HOME=str(tmp_path))
    bearer = {"Authorization": f"Bearer {stack.operator_token}"}
    figures = httpx.get(f"{stack.url}/metrics", headers=bearer).text
    assert done.returncode == 0, done.stdout + done.stderr
    for said in ("analysis-1 is draining", "analysis-1 is live", "maintenance is on: The disks", "nothing"):
        assert said in done.stdout
    assert 'dpgate_workers{state="live"} 1' in figures
    names = set(re.findall(r"^# TYPE (\S+) (?:gauge|counter)$", figures, re.MULTILINE))
    explained = set(
        re.findall(r"^\| `(dpgate_\w+)`", (DOCS / "reference/metrics.md").read_text(), re.MULTILINE)
    )
    assert names == explained


def test_the_page_names_the_times_and_states_of_the_code() -> None:
    text = (DOCS / PAGE).read_text()
    minutes = {kind: int(after.total_seconds() // 60) for kind, after in STUCK_AFTER.items()}
    assert minutes == {
        StuckKind.QUEUED: 2,
        StuckKind.PREPARING: 2,
        StuckKind.LEASE: 1,
        StuckKind.OVERDUE: 10,
        StuckKind.IMPORT: 10,
        StuckKind.REHEARSAL: 15,
    }
    for said in (
        "`QUEUED` for 2 minutes",
        "a lease ran out a minute ago",
        "passed 10 minutes ago",
        "on for 15 minutes",
    ):
        assert said in text
    assert all(state in (DOCS / "reference/metrics.md").read_text() for state in WorkerState)
