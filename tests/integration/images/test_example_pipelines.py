"""One statistic in five languages, each in its base image: the same numbers on the same block."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from base_images import ROOT
from in_image import run_in_image

from domain.model import parse
from domain.pipeline import Pipeline
from dpgate.pipeline_folder import load_pipeline

TreeOf = Callable[[str], Path]
EXAMPLES = ROOT / "examples"
HEIGHTS = (EXAMPLES / "heights/data/participants.tsv").read_text()
COMPILE = "gcc -std=c11 -D_DEFAULT_SOURCE -O2 -Wall -Wextra -Werror -static -s -o build/app app.c"

BIDS_MEANS = [EXAMPLES / f"bids-means-{language}" for language in ("python", "r", "octave")]

BLOCKS = {
    "everybody": HEIGHTS,
    "columns in another order, other ends of lines": (
        "Weight\tparticipant_id\tHeight\tage\r\n61.3\tsub-01\t170.2\t19\r\nn/a\tsub-02\t165.7\t23\r\n"
    ),
    "no heights": "participant_id\tage\tHeight\tWeight\nsub-01\t19\tn/a\t60.5\nsub-02\t22\tn/a\tn/a\n",
}


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The C example, compiled as its README says."""
    folder = tmp_path_factory.mktemp("c") / "source"
    shutil.copytree(EXAMPLES / "mean-height-c", folder)
    assert COMPILE in (folder / "README.md").read_text()
    (folder / "build").mkdir()
    shutil.copy(folder / "dpgate.yaml", folder / "build")
    subprocess.run(COMPILE.split(), cwd=folder, check=True)
    return folder / "build"


def results(folder: Path, block: str, tree_of: TreeOf, scratch: Path) -> list[str]:
    """The released row of a pipeline folder, run level by level in the image that its manifest names."""
    manifest = parse(Pipeline, load_pipeline(folder).body, within="pipeline").manifest
    given, out = scratch / "in", scratch / f"out-{folder.name}"
    given.mkdir(exist_ok=True)
    out.mkdir()
    (given / "participants.tsv").write_bytes(block.encode())
    image = {"host-python": "python"}.get(manifest.image, manifest.image)
    for level in manifest.levels:
        command = [*manifest.command, "/in", "/out", level]
        run_in_image(tree_of(image), command, {given: "/in", folder: "/pipeline"}, out)
    (description,) = out.rglob("dataset_description.json")
    assert json.loads(description.read_text())["DatasetType"] == "derivative"
    (line,) = (out / manifest.outputs[0].file).read_text().splitlines()
    return line.split("\t")


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_every_language_gives_the_same_numbers(
    block: str, tree_of: TreeOf, compiled: Path, tmp_path: Path
) -> None:
    wanted = results(EXAMPLES / "mean-height", block, tree_of, tmp_path)
    assert len(wanted) == 3
    exact = {EXAMPLES / "mean-height-r", EXAMPLES / "mean-height-awk", compiled}
    for folder in (*exact, *BIDS_MEANS):
        found = results(folder, block, tree_of, tmp_path)
        close = pytest.approx(list(map(number, wanted)), rel=1e-14 if folder in exact else 1e-11, nan_ok=True)
        assert list(map(number, found)) == close, folder


def number(cell: str) -> float:
    return float("nan") if cell == "n/a" else float(cell)


def test_every_manifest_is_of_one_statistic() -> None:
    """They differ in language and levels, and in nothing else that a release depends on."""
    names = ("mean-height", "mean-height-r", "mean-height-awk", "mean-height-c")
    folders = [*(EXAMPLES / name for name in names), *BIDS_MEANS]
    manifests = [
        parse(Pipeline, load_pipeline(folder).body, within="pipeline").manifest for folder in folders
    ]
    assert len({repr(manifest.outputs) for manifest in manifests}) == 1
    levels = [("group",)] * len(names) + [("participant", "group")] * len(BIDS_MEANS)
    assert [manifest.levels for manifest in manifests] == levels
    images = [manifest.image for manifest in manifests]
    assert images == ["host-python", "r", "minimal", "minimal", "host-python", "r", "octave"]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/whitelist.txt")), ids=lambda path: path.parent.name)
def test_a_whitelist_names_what_the_manifest_releases(path: Path) -> None:
    manifest = parse(Pipeline, load_pipeline(path.parent).body, within="pipeline").manifest
    listed = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    assert listed == [output.file for output in manifest.outputs]
