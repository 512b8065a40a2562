"""Where a released volume stands: an object that is bright on people's right, from originals whose first axis
leads right or left, through import, runs and release, read by another program."""

from __future__ import annotations

import base64
import runpy
from pathlib import Path

import nibabel
import numpy as np
import pytest
from zones import Bench, given_delivery, imported, submit

from domain import placing
from domain.dataset import Dataset, DatasetState, ImportProblem, TwinVolume
from domain.model import parse
from domain.pipeline import OutputFile
from domain.release import opened
from domain.shape import Shape, lock
from domain.states import JobState
from twins.drawn import make_twin
from worker.importing import import_dataset

PEOPLE = [f"sub-{number}" for number in range(1, 13)]
SIDE, LEFT, RIGHT = 4, 20.0, 80.0
GRID = {"shape": [SIDE] * 3, "dtype": "float32", "lower": 0, "upper": 100}
AFFINE = [[2.0, 0, 0, -3], [0, 2, 0, 5], [0, 0, 2, 7]]
OUTPUT = {"file": "mean.nii", "volume": {"name": "cube", "lower": 0, "upper": 100, "average": 2}}
# the mean of all volumes under the header of the first one, as pipelines do
MEAN = """\
from array import array
from pathlib import Path
found = [name.read_bytes() for name in sorted(Path("/in").glob("sub-*/x.nii"))]
volumes = [array("f", content[352:]) for content in found]
mean = array("f", (sum(voxels) / len(voxels) for voxels in zip(*volumes)))
Path("/out/mean.nii").write_bytes(found[0][:352] + mean.tobytes())
"""


def bright_on_the_right(affine: np.ndarray) -> bytes:
    """Voxels by where they are in space, whatever the order of the axes."""
    voxels = np.empty((SIDE,) * 3, np.float32)
    middle = (affine @ [*[(SIDE - 1) / 2] * 3, 1])[0]
    for place in np.ndindex(voxels.shape):
        voxels[place] = RIGHT if (affine @ [*place, 1])[0] > middle else LEFT
    image = nibabel.Nifti1Image(voxels, affine)
    image.header.set_data_offset(352)
    return image.to_bytes()


def affine_of(orientation: str) -> np.ndarray:
    volume = parse(TwinVolume, {**GRID, "zooms": [2, 2, 2], "orientation": orientation})
    return np.array([*volume.rows, (0, 0, 0, 1)]) + np.array([[0, 0, 0, 11], [0, 0, 0, -4], [0] * 4, [0] * 4])


def given_volumes(bench: Bench, original: np.ndarray, **declared: object) -> Dataset:
    table = "participant_id\tdiary\theight\n" + "".join(f"{name}\tx\t170\n" for name in PEOPLE)
    content = bright_on_the_right(original)
    files = {"participants.tsv": table, **{f"{name}/x.nii": content for name in PEOPLE}}
    dataset = given_delivery(
        bench,
        files,
        layout="bids",
        public_files=[
            {"path": "dataset_description.json", "text": '{"Name": "Volumes", "BIDSVersion": "1.8.0"}'}
        ],
        person_files=[{"path": "{person}/x.nii", "twin_volume": {**GRID, "zooms": [2, 2, 2], **declared}}],
    )
    import_dataset(bench.zone, dataset.id)
    return imported(bench, dataset.id)


def locked_on_twin(dataset: Dataset, folder: Path) -> Shape:
    """What the pipeline writes on the twin, run where the test runs."""
    (folder / "out").mkdir()
    for path, content in make_twin(dataset.declaration).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    program = MEAN.replace('"/in"', f'"{folder}"').replace('"/out/', f'"{folder}/out/')
    (folder / "main.py").write_text(program)
    runpy.run_path(str(folder / "main.py"))
    output = parse(OutputFile, OUTPUT)
    return Shape(files=(lock(output, (folder / "out/mean.nii").read_bytes(), {}),))


def released_sides(bench: Bench, dataset: Dataset, folder: Path) -> tuple[float, float, str]:
    """The means of the left and the right half of the released volume, by where its header says they are; and
    what the certificate says of it."""
    shape = locked_on_twin(dataset, folder)
    fields = {
        "manifest": {
            "name": "mean-volume",
            "image": "python",
            "command": ["python3", "-I", "-S", "/pipeline/main.py"],
            "outputs": [OUTPUT],
            "resources": {"wall_seconds": 30, "memory_mib": 128, "scratch_mib": 8, "processes": 16},
        },
        "sources": [{"path": "main.py", "content_base64": base64.b64encode(MEAN.encode()).decode()}],
    }
    job_id = submit(bench, pipeline=fields, shape=shape.model_dump(mode="json"))
    bench.drive()
    assert bench.job(job_id).state is JobState.RELEASED
    release = bench.release(job_id)
    image = nibabel.Nifti1Image.from_bytes(base64.b64decode(release.binary_files["mean.nii"]))
    voxels, affine = image.get_fdata(), image.affine
    middle = (affine @ [*[(SIDE - 1) / 2] * 3, 1])[0]
    is_right = np.array([(affine @ [*place, 1])[0] > middle for place in np.ndindex(voxels.shape)])
    said = opened(release.certificate)["predicate"]["mechanism"]["placing"]
    return float(voxels.ravel()[~is_right].mean()), float(voxels.ravel()[is_right].mean()), said


@pytest.mark.parametrize("orientation", ["RAS", "LAS"])
def test_right_stays_right_where_the_declaration_says_how_originals_lie(
    sqlite_bench: Bench, tmp_path: Path, orientation: str
) -> None:
    dataset = given_volumes(sqlite_bench, affine_of(orientation), orientation=orientation)
    left, right, said = released_sides(sqlite_bench, dataset, tmp_path)
    assert (left, right) == (pytest.approx(LEFT, abs=10), pytest.approx(RIGHT, abs=10))
    assert said.startswith("mean.nii: Volumes lead where the twin's do.")


def test_originals_that_lie_otherwise_are_not_imported(sqlite_bench: Bench) -> None:
    """RAS is what a declaration means that says nothing."""
    dataset = given_volumes(sqlite_bench, affine_of("LAS"))
    assert (dataset.state, dataset.problem) == (DatasetState.REFUSED, ImportProblem.VOLUME_PLACE)


def test_runs_whose_axes_lead_otherwise_are_turned(sqlite_bench: Bench, tmp_path: Path) -> None:
    dataset = given_volumes(sqlite_bench, affine_of("LAS"), any_orientation=True)
    left, right, said = released_sides(sqlite_bench, dataset, tmp_path)
    assert (left, right) == (pytest.approx(LEFT, abs=10), pytest.approx(RIGHT, abs=10))
    assert "undone exactly" in said


def test_without_the_turn_left_and_right_change_places(
    sqlite_bench: Bench, tmp_path: Path, monkeypatch
) -> None:
    """The control: it is what happened, without a word."""
    monkeypatch.setattr(placing, "find_turn", lambda *_: placing.AS_IT_IS)
    dataset = given_volumes(sqlite_bench, affine_of("LAS"), any_orientation=True)
    left, right, _ = released_sides(sqlite_bench, dataset, tmp_path)
    assert (left, right) == (pytest.approx(RIGHT, abs=10), pytest.approx(LEFT, abs=10))


def test_a_declared_affine_is_that_of_the_release(sqlite_bench: Bench, tmp_path: Path) -> None:
    dataset = given_volumes(sqlite_bench, np.array([*AFFINE, (0, 0, 0, 1)]), affine=AFFINE)
    left, right, said = released_sides(sqlite_bench, dataset, tmp_path)
    assert (left, right) == (pytest.approx(LEFT, abs=10), pytest.approx(RIGHT, abs=10))
    assert said.startswith("mean.nii: Volumes stand where the twin's do.")


def test_one_person_elsewhere_is_not_imported_under_a_declared_affine(sqlite_bench: Bench) -> None:
    aside = np.array([*AFFINE, (0, 0, 0, 1)])
    aside[2, 3] += 1
    dataset = given_volumes(sqlite_bench, aside, affine=AFFINE)
    assert (dataset.state, dataset.problem) == (DatasetState.REFUSED, ImportProblem.VOLUME_PLACE)


def test_runs_that_stand_elsewhere_take_the_default(sqlite_bench: Bench, tmp_path: Path) -> None:
    """The middle of the bounds in every block: nothing of a volume that lies nowhere known is averaged."""
    dataset = given_volumes(sqlite_bench, np.diag([3.0, 2, 2, 1]), any_orientation=True)
    left, right, _ = released_sides(sqlite_bench, dataset, tmp_path)
    assert (left, right) == (pytest.approx(50, abs=10), pytest.approx(50, abs=10))
