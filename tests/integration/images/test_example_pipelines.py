"""One statistic in four languages, each in its base image: the same numbers on the same block."""

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

BLOCKS = {
    "everybody": HEIGHTS,
    "three people": "\n".join(HEIGHTS.splitlines()[:4]) + "\n",
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
    description = json.loads((out / "derivatives/dataset_description.json").read_text())
    assert description["DatasetType"] == "derivative"
    (line,) = (out / manifest.outputs[0].file).read_text().splitlines()
    return line.split("\t")


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_every_language_gives_the_same_numbers(
    block: str, tree_of: TreeOf, compiled: Path, tmp_path: Path
) -> None:
    wanted = results(EXAMPLES / "mean-height", block, tree_of, tmp_path)
    assert len(wanted) == 3
    for folder in (EXAMPLES / "mean-height-r", EXAMPLES / "mean-height-awk", compiled):
        found = results(folder, block, tree_of, tmp_path)
        assert list(map(number, found)) == pytest.approx(list(map(number, wanted)), rel=1e-14, nan_ok=True), (
            folder
        )


def number(cell: str) -> float:
    return float("nan") if cell == "n/a" else float(cell)


def test_every_manifest_is_of_one_statistic() -> None:
    """They differ in language and in nothing that a release depends on."""
    names = ("mean-height", "mean-height-r", "mean-height-awk", "mean-height-c")
    pipelines = [parse(Pipeline, load_pipeline(EXAMPLES / name).body, within="pipeline") for name in names]
    assert len({repr((each.manifest.levels, each.manifest.outputs)) for each in pipelines}) == 1
    assert [each.manifest.image for each in pipelines] == ["host-python", "r", "minimal", "minimal"]


PYTHON = """
import io, numpy, pandas, scipy.stats, sklearn.linear_model, pyarrow.parquet, ssl, sqlite3, lzma, readline
days = pandas.date_range("2026", periods=4, tz="Europe/Amsterdam")
table = pandas.DataFrame({"x": [1.0, 2, 3, 4], "t": days})
table.to_parquet("/tmp/t.parquet")
model = sklearn.linear_model.LinearRegression().fit(table[["x"]], table.x * 2)
print(pandas.read_parquet("/tmp/t.parquet").x.mean(), scipy.stats.norm.cdf(0), round(model.coef_[0], 6))
import sys; print(numpy.__cached__.startswith("/usr/local/lib/python3.11/"), sys.flags.dont_write_bytecode)
"""
R = """
suppressMessages({library(jsonlite); library(data.table); library(dplyr); library(optparse)})
people <- data.table(sex = c("f", "m", "f"), height = c(1, 2, 4))
cat(people[, mean(height), by = sex]$V1, (people %>% summarise(most = max(height)))$most, "\\n")
cat(toJSON(fread(cmd = "echo 'a,b'; echo 1,2")), round(coef(lm(height ~ sex, people))[[1]], 6), "\\n")
squares <- parallel::mclapply(1:3, function(i) i^2, mc.cores = 2)
cat(unlist(squares), iconv("caf\\xe9", "latin1", "UTF-8"), "\\n")
"""


@pytest.mark.parametrize(
    ("name", "command", "source", "printed"),
    [
        ("python", "python3", PYTHON, ["2.5 0.5 2.0", "True 0"]),
        ("r", "Rscript", R, ["2.5 2 4", '[{"a":1,"b":2}] 2.5', "1 4 9 café"]),
    ],
)
def test_libraries_work(
    name: str, command: str, source: str, printed: list[str], tree_of: TreeOf, tmp_path: Path
) -> None:
    (tmp_path / "main").write_text(source)
    said = run_in_image(tree_of(name), [command, "/pipeline/main"], {tmp_path: "/pipeline"})
    assert [line.strip() for line in said.splitlines()] == printed
