"""The participant level: one person at a time gives what all together give, in every language."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from statistics import fmean

import pytest
from base_images import ROOT
from in_image import run_in_image
from lent_data import lent

from domain.model import parse
from domain.pipeline import Manifest, Pipeline
from dpgate.pipeline_folder import load_pipeline

TreeOf = Callable[[str], Path]
EXAMPLES = ROOT / "examples"
LANGUAGES = ("python", "r", "octave")
HEIGHTS = (EXAMPLES / "heights/data/participants.tsv").read_text().splitlines(keepends=True)
FEW = 5


class App:
    """An example's levels, called one by one."""

    def __init__(self, name: str, tree_of: TreeOf) -> None:
        self._folder = EXAMPLES / name
        pipeline = parse(Pipeline, load_pipeline(self._folder).body, within="pipeline")
        self.manifest: Manifest = pipeline.manifest
        image = self.manifest.image
        self._tree = tree_of("python" if image == "host-python" else image)

    def __call__(self, given: Path, out: Path, level: str) -> None:
        out.mkdir(exist_ok=True)
        command = [*self.manifest.command, "/in", "/out", level]
        run_in_image(self._tree, command, {given: "/in", self._folder: "/pipeline"}, out)

    def released(self, out: Path) -> str:
        (output,) = self.manifest.outputs
        return (out / output.file).read_text()


def given(folder: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def files_below(folder: Path) -> dict[str, str]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text() for path in found}


@pytest.mark.parametrize(
    "language",
    [
        *LANGUAGES[:-1],
        pytest.param(LANGUAGES[-1], marks=pytest.mark.deep("half a minute; what it writes is asked below")),
    ],
)
def test_one_by_one_is_the_same_as_together(language: str, tree_of: TreeOf, tmp_path: Path) -> None:
    app = App(f"bids-means-{language}", tree_of)
    people = [row.split("\t")[0] for row in HEIGHTS[1 : FEW + 1]]
    together = given(tmp_path / "all", {"participants.tsv": "".join(HEIGHTS[: FEW + 1])})
    app(together, tmp_path / "out", "participant")
    assert {path.split("/")[0] for path in files_below(tmp_path / "out")} == set(people)
    merged = tmp_path / "merged"
    for person, row in zip(people, HEIGHTS[1:], strict=False):
        alone = given(tmp_path / f"in-{person}", {"participants.tsv": HEIGHTS[0] + row})
        app(alone, tmp_path / f"out-{person}", "participant")
        own = files_below(tmp_path / f"out-{person}")
        assert {path.split("/")[0] for path in own} == {person}, "it wrote outside its own folder"
        shutil.copytree(tmp_path / f"out-{person}", merged, dirs_exist_ok=True)
    assert files_below(merged) == files_below(tmp_path / "out")
    for out in (merged, tmp_path / "out"):
        app(together, out, "group")
    assert app.released(merged) == app.released(tmp_path / "out")


def test_every_language_writes_the_same_text(tree_of: TreeOf, tmp_path: Path) -> None:
    """All sixty people, two of them without a height: twelve digits each, in the same bytes."""
    whole = given(tmp_path / "in", {"participants.tsv": "".join(HEIGHTS)})
    found, own = set(), []
    for language in LANGUAGES:
        app, out = App(f"bids-means-{language}", tree_of), tmp_path / language
        app(whole, out, "participant")
        own.append(files_below(out))
        app(whole, out, "group")
        found.add(app.released(out))
    assert len(own[0]) == 60
    assert own[0] == own[1] == own[2], "n/a and 25 stay the text that they were"
    assert found == {"20.0166666667\t163.425\t61.624137931\n"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_group_of_nobody_has_no_means(language: str, tree_of: TreeOf, tmp_path: Path) -> None:
    app = App(f"bids-means-{language}", tree_of)
    nobody = given(tmp_path / "in", {"participants.tsv": HEIGHTS[0]})
    for level in ("participant", "group"):
        app(nobody, tmp_path / "out", level)
    assert app.released(tmp_path / "out") == "n/a\tn/a\tn/a\n"


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def column(path: Path, name: str) -> dict[str, str]:
    return {row["participant_id"]: row[name] for row in rows(path)}


def number_of(values: Iterable[str]) -> float:
    return fmean(float(value) for value in values if value != "n/a")


def test_groups_of_a_phenotype(tree_of: TreeOf, tmp_path: Path) -> None:
    """The example on ds000030 against the same numbers taken straight from its 270 files."""
    data = lent("openneuro_ds000030")
    app = App("phenotype-groups", tree_of)
    for level in app.manifest.levels:
        app(data, tmp_path / "out", level)
    severity, response_s = map(float, app.released(tmp_path / "out").splitlines()[1].split("\t"))

    group_of = column(data / "participants.tsv", "diagnosis")
    scores = column(data / "phenotype/hopkins.tsv", "hopkins_globalseverity")
    times = {}
    for path in data.glob("sub-*/func/*_events.tsv"):
        correct = [row for row in rows(path) if row["ResponseAccuracy"] == "CORRECT"]
        times[path.parts[-3]] = str(number_of(row["ReactionTime"] for row in correct))
    assert (len(times), len(files_below(tmp_path / "out"))) == (268, 272 + 1)
    for found, values in ((severity, scores), (response_s, times)):
        controls = number_of(value for person, value in values.items() if group_of[person] == "CONTROL")
        patients = number_of(value for person, value in values.items() if group_of[person] != "CONTROL")
        assert found == pytest.approx(patients - controls, rel=1e-10)


def test_a_mixed_model(tree_of: TreeOf, tmp_path: Path) -> None:
    """On all of the invented people, on fifty of them, and on none."""
    app, data = App("mixed-effects-r", tree_of), EXAMPLES / "reading-speed/data"
    app(data, tmp_path / "out", "group")
    gain, extra = effects(app.released(tmp_path / "out"))
    assert gain == pytest.approx(2, abs=0.15)  # what simulate.R put in
    assert extra == pytest.approx(1.2, abs=0.2)

    for people in (50, 0):
        chosen = {f"p{7 * number % 1000:04d}" for number in range(1, people + 1)}
        block = {"speed.tsv": part_of(data / "speed.tsv", chosen)}
        out = tmp_path / f"out-{people}"
        app(given(tmp_path / f"in-{people}", block), out, "group")
        if people:
            assert effects(app.released(out)) == pytest.approx([2, 1.2], abs=0.8)
        else:
            assert app.released(out) == "effect\testimate\nweek\tn/a\nweek:new\tn/a\n"


def part_of(table: Path, people: set[str]) -> str:
    header, *lines = table.read_text().splitlines(keepends=True)
    return header + "".join(line for line in lines if line.split("\t")[0] in people)


def effects(text: str) -> list[float]:
    header, *lines = text.splitlines()
    assert header == "effect\testimate"
    assert [line.split("\t")[0] for line in lines] == ["week", "week:new"]
    return [float(line.split("\t")[1]) for line in lines]


def test_invented_people_are_those_of_their_script(tree_of: TreeOf, tmp_path: Path) -> None:
    folder = EXAMPLES / "reading-speed"
    command = ["sh", "-c", "cd /out && Rscript /pipeline/simulate.R"]
    run_in_image(tree_of("r"), command, {folder: "/pipeline"}, tmp_path)
    assert files_below(tmp_path / "data") == files_below(folder / "data")
