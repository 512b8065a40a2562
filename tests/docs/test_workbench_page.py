"""The page on the workbench: its commands, in order, with real provider, platform, sandbox and call back."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from fenced import ROOT, commands, find_missing, stated_lines
from page_shell import free_port, shell

PAGE = "how-to/use-the-api.md#from-a-bids-app-to-a-call-back"


@pytest.mark.deep("a platform of its own with a provider; tests/integration asks of its parts")
def test_the_page_runs_as_it_stands(tmp_path: Path) -> None:
    for path in ("deploy/workbench", "examples/heights", "examples/mean-height"):
        shutil.copytree(ROOT / path, tmp_path / path)
    (tmp_path / ".venv").symlink_to(ROOT / ".venv")
    script = "\n".join(fence.text for fence in commands(PAGE))
    for port in ("8750", "8761", "8762"):
        script = script.replace(port, str(free_port()))
    done = shell(script, tmp_path, HOME=str(tmp_path / "home"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert find_missing(stated_lines(PAGE), done.stdout) == [], done.stdout
