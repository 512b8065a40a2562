"""mergegroup, calibratenoise and addnoise on files that are no text: every number in them is noised."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import nibabel
import numpy as np
import pytest
import scipy.io
from bids_folders import write

from companions.siesta.calibration import calibrate
from companions.siesta.group_files import read_group_files
from companions.siesta.noising import add_noise
from companions.siesta.results import check_labels
from companions.siesta.samples import merge_group, read_samples
from companions.siesta.shaped_files import Volumes
from domain.formats import format_of
from domain.pipeline import OutputFile
from domain.shape import LOCKS, Shape
from dpgate.errors import DpgateError, PipelineFailed

FILES = ("r.mat", "r.json", "r.npy", "v.nii.gz")
NAMES = (
    "r.mat:stats.mean[1,1]",
    "r.mat:stats.mean[2,1]",
    "r.json:/mean",
    "r.json:/more/0",
    "r.npy:[0]",
    "v.nii.gz:label[1]",
    "v.nii.gz:label[2]",
)


def mat(first: float, second: float, *, note: str = "cm", ok: bool = True) -> bytes:
    content = io.BytesIO()
    stats = {"mean": np.array([[first], [second]]), "unit": note, "ok": np.array([[ok]])}
    scipy.io.savemat(content, {"stats": stats})
    return content.getvalue()


def npy(value: float) -> bytes:
    content = io.BytesIO()
    np.save(content, np.array([value]))
    return content.getvalue()


def volume(voxels: np.ndarray) -> bytes:
    return nibabel.Nifti1Image(voxels, np.eye(4)).to_bytes()


def result(root: Path, a: float, b: float, **texts) -> Path:
    half = np.zeros((2, 2, 2), np.float32)
    half[0], half[1] = a, b
    write(
        root,
        {
            "r.mat": mat(a, b, **texts),
            "r.json": json.dumps({"what": "height", "mean": a, "more": [b, None, True]}),
            "r.npy": npy(a),
            "v.nii.gz": gzip.compress(volume(half)),
        },
    )
    return root


@pytest.fixture
def volumes(tmp_path) -> Volumes:
    labels = np.ones((2, 2, 2), np.uint8)
    labels[1] = 2
    (tmp_path / "mask.nii").write_bytes(volume(labels))
    return Volumes(mask=tmp_path / "mask.nii")


@pytest.fixture
def table(tmp_path, volumes):
    """Noise for 20 samples and everybody."""
    inputs = [result(tmp_path / "loo" / str(i), 160.0 + i / 16, 70.0) for i in range(20)]
    merged = merge_group(inputs, tmp_path / "merged", FILES, volumes=volumes)
    assert read_samples(tmp_path / "merged" / "group-merged.tsv") == merged
    everybody = result(tmp_path / "all", 160.5, 70.0)
    whole = merge_group([everybody], tmp_path / "whole", FILES, volumes=volumes)
    return calibrate(merged, whole, tmp_path / "noise.tsv", bounds=(("0", "256"),) * len(NAMES))


def test_numbers_are_named_by_their_place(tmp_path, volumes):
    files = read_group_files(result(tmp_path / "in", 1.5, 2.5), FILES, volumes=volumes)
    assert tuple(name for file in files for name in file.names) == NAMES
    assert [float(value) for file in files for value in file.values] == [1.5, 2.5, 1.5, 2.5, 1.5, 1.5, 2.5]


def test_no_number_of_any_format_leaves_as_it_was(tmp_path, table, volumes):
    """Four draws: one draw in 300 of a number rounds to no noise, as it must be able to."""
    truth = (160.5, 70.0, 160.5, 70.0, 160.5, 160.5, 70.0)
    draws = []
    for time in range(4):
        noised = add_noise(tmp_path / "all", tmp_path / str(time), FILES, table, volumes=volumes)
        draws.append([float(one.value) for one in noised])
        assert written(tmp_path / str(time)) == draws[-1]
    for position, true in enumerate(truth):
        assert any(draw[position] != true for draw in draws)
        for other in range(position):
            assert any(draw[position] - true != draw[other] - truth[other] for draw in draws)


def written(out: Path) -> list[float]:
    """The numbers of released files, read by others' readers, and beside them what was no number."""
    stats = scipy.io.loadmat(out / "r.mat", simplify_cells=True)["stats"]
    assert (stats["unit"], bool(stats["ok"])) == ("cm", True)
    content = json.loads((out / "r.json").read_text())
    assert (content["what"], content["more"][1:]) == ("height", [None, True])
    voxels = nibabel.load(out / "v.nii.gz").get_fdata()
    assert len({*voxels[0].flat}) == len({*voxels[1].flat}) == 1
    array = np.load(out / "r.npy").tolist()
    return [*stats["mean"], content["mean"], content["more"][0], *array, voxels[0, 0, 0], voxels[1, 0, 0]]


def test_texts_and_truth_values_come_from_the_skeleton(tmp_path, table, volumes):
    """A text or a truth value of the data could hold anything: they must be the same in all results."""
    for number, texts in enumerate(({"note": "sub-01 is ill"}, {"ok": False})):
        other = result(tmp_path / f"other-{number}", 1.0, 2.0, **texts)
        with pytest.raises(DpgateError, match=r"r\.mat has another structure, or another text in it"):
            add_noise(other, tmp_path / "out", FILES, table, skeleton=tmp_path / "all", volumes=volumes)
        with pytest.raises(DpgateError, match="another text"):
            merge_group([tmp_path / "all", other], tmp_path / "out", FILES, volumes=volumes)
    assert not (tmp_path / "out").exists()


A_FILE_THAT_IS_NOT_WHAT_ITS_NAME_SAYS_IS_AN_ERROR = (
    ("r.mat", b"no matlab", "r.mat"),
    ("r.mat", mat(float("nan"), 1), "no finite number at stats.mean"),
    ("r.json", "{", "r.json"),
    ("r.json", '{"a": "b"}', "no number that could be noised"),
    ("r.npy", b"\x93NUMPY", "r.npy"),
    ("r.npy", npy(float("inf")), "no finite number at"),
    ("r.json", "1" * 70_000, "larger than"),
    ("v.nii", volume(np.zeros((20, 20, 20), np.float32)), "8000 numbers"),
)


def test_a_file_that_is_not_what_its_name_says_is_an_error(subtests, tmp_path):
    for number, (file, content, reason) in enumerate(A_FILE_THAT_IS_NOT_WHAT_ITS_NAME_SAYS_IS_AN_ERROR):
        with subtests.test(file=file, content=content, reason=reason):
            (folder := tmp_path / str(number)).mkdir()
            with pytest.raises(DpgateError, match=reason):
                read_group_files(write(folder / "in", {file: content}), [file])


def test_a_volume_by_cubes(tmp_path):
    voxels = np.zeros((4, 2, 2), np.float32)
    voxels[:2] = 6
    folder = write(tmp_path / "in", {"v.nii": volume(voxels)})
    (file,) = read_group_files(folder, ["v.nii"], volumes=Volumes(average=2))
    assert [float(value) for value in file.values] == [6, 0]


def test_a_text_that_is_a_number_to_whoever_reads_it_is_refused(subtests, tmp_path):
    """It is the same in every result as soon as nobody moves it, and would leave without noise."""
    written = {
        "r.json": {
            text: json.dumps({"n": 1, "more": [{"mean": text}]}).encode() for text in ("12.5", "3/20")
        },
        "r.mat": {text: mat(1, 2, note=text) for text in ("12,5", "\uff11\uff12.5")},
    }
    cases = [(file, text, content) for file, known in written.items() for text, content in known.items()]
    for number, (file, text, content) in enumerate(cases):
        with subtests.test(file=file, text=text):
            write(tmp_path / str(number), {file: content})
            with pytest.raises(DpgateError, match=f"has the text '{text}'"):
                read_group_files(tmp_path / str(number), [file])
            shape = Shape(files=(LOCKS[format_of(file)](everything(file), content, {}),))
            with pytest.raises(PipelineFailed, match=f"has the text '{text}'"):
                check_labels(shape, leave=True)
            check_labels(shape, leave=False)


def everything(file: str) -> OutputFile:
    return OutputFile.model_validate(
        {"file": file, "bounds": [{"select": "*", "name": "value", "lower": 0, "upper": 1}]}
    )
