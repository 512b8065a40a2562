"""The page on running a SIESTA pipeline: its commands, in order, in a folder that holds the examples."""

from __future__ import annotations

import shutil
from pathlib import Path

import yaml
from fenced import ROOT, commands, fences, find_missing, stated_lines
from page_shell import shell

PAGE = "how-to/siesta.md#..what-siestas-use-cases-can-have"
PIPELINE = "examples/bids-means-python"
RESULTS = "derivatives/group/results.tsv"


def test_the_page_runs_as_it_stands(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "heights", tmp_path / "examples" / "heights")
    shutil.copytree(ROOT / PIPELINE, tmp_path / PIPELINE)
    script = "\n".join(fence.text for fence in commands(PAGE))
    done = shell(script, tmp_path, HOME=str(tmp_path / "home"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert find_missing(stated_lines(PAGE), done.stdout) == [], done.stdout
    for out in ("results", "blocks"):  # that without dpgate.yaml is in tests/functional/test_siesta_run.py
        released = tmp_path / out / "released"
        assert sorted(path.name for path in released.iterdir()) == ["derivatives", "dpgate-release.json"]
        assert len((released / RESULTS).read_text().split("\t")) == 3


def test_the_outputs_on_the_page_are_the_examples() -> None:
    shown = yaml.safe_load(next(fence.text for fence in fences(PAGE) if fence.language == "yaml"))
    manifest = yaml.safe_load((ROOT / PIPELINE / "dpgate.yaml").read_text())
    assert shown["outputs"] == manifest["outputs"]
