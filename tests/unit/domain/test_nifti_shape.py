"""The shape lock of volumes: which numbers leave, and what is written around them."""

import base64
import gzip
import random
import tracemalloc
import zlib
from pathlib import Path

import nibabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from domain.errors import PipelineError
from domain.pipeline import OutputFile
from domain.shape import nifti as nifti_shape
from domain.shape.nifti import NiftiShape
from formats import nifti
from twins.drawn.files import make_volume

DIMS = (4, 5, 6)
LARGE = (8, 8, 8)


def made(seed: int = 1, dims: tuple[int, ...] = DIMS, kind: str = "f4", upper: float = 100) -> bytes:
    return make_volume(dims, kind=kind, lower=0, upper=upper, draw=random.Random(seed))  # type: ignore[arg-type]


def output(**volume: object) -> OutputFile:
    asked = {"name": "roi", "lower": 0, "upper": 100, **volume}
    return OutputFile.model_validate({"file": "mean.nii", "volume": asked})


def locked(sources: dict[str, bytes] | None = None, **volume: object) -> NiftiShape:
    return nifti_shape.lock(output(**volume), made(), sources or {})


def voxels_of(content: bytes) -> np.ndarray:
    return nifti.read("a.nii", content)[1]


def test_cubes_give_their_means():
    shape = locked(average=3)
    assert shape.numbers == 2 * 2 * 2
    assert shape.addresses[:3] == ("cube 0,0,0", "cube 1,0,0", "cube 0,1,0")
    cube = voxels_of(made(2)).reshape(DIMS, order="F")[:3, :3, :3]
    assert shape.read(made(2))[0] == pytest.approx(cube.mean())


def test_labels_give_their_means():
    mask = made(3, kind="u1", upper=3)
    shape = locked({"m.nii": mask}, mask="m.nii")
    labels, voxels = voxels_of(mask), voxels_of(made(2))
    assert shape.addresses == ("label[1]", "label[2]", "label[3]")
    assert shape.read(made(2)) == pytest.approx([voxels[labels == number].mean() for number in (1, 2, 3)])


def test_a_map_of_an_atlas_is_its_numbers_and_is_written_as_itself():
    """On a template's grid at 4 mm: 400 labels that are not consecutive, one region without a number."""
    dims, draw = (46, 55, 46), np.random.default_rng(5)
    near = (draw.permutation(12 * 14 * 12) % 401).reshape(12, 14, 12)[tuple(np.indices(dims) // 4)]
    labels, known = near.astype("u2") * 3, 3 * np.arange(1, 401)
    numbers = draw.normal(2.5, 0.4, 401)
    numbers[[0, 9]] = 0, np.nan

    def volume(kind: str, voxels: np.ndarray) -> bytes:
        header = nifti.new_header(dims, kind=kind, zooms=(4, 4, 4))
        return header + voxels.astype(f"<{kind}").tobytes(order="F")

    painted = volume("f8", numbers[near])
    shape = nifti_shape.lock(output(mask="atlas.nii"), painted, {"atlas.nii": volume("u2", labels)})
    assert shape.addresses == tuple(f"label[{label}]" for label in known)
    found = shape.read(painted)
    assert found[8] is None
    assert found[:8] + found[9:] == pytest.approx([*numbers[1:9], *numbers[10:]], rel=1e-12)
    written = shape.write([repr(1 + place / 400) for place in range(400)])
    assert np.array_equal(voxels_of(written), np.append(0, 1 + np.arange(400) / 400)[near].ravel(order="F"))


def test_a_mask_and_cubes_count_only_what_is_inside():
    inside = np.zeros(DIMS, order="F")
    inside[:2, :2, :2] = 1
    content = nifti.new_header(DIMS, kind="u1", zooms=(1, 1, 1)) + inside.astype("u1").tobytes(order="F")
    shape = locked({"m.nii": content}, mask="m.nii", average=2)
    assert shape.addresses == ("cube 0,0,0",)
    written = voxels_of(shape.write(["7.25"])).reshape(DIMS, order="F")
    assert np.array_equal(written, inside * 7.25)


def test_nibabel_reads_what_is_released(tmp_path: Path):
    shape = locked(average=4)
    content = shape.write([str(number) for number in range(1, shape.numbers + 1)])
    (tmp_path / "a.nii").write_bytes(content)
    image = nibabel.load(tmp_path / "a.nii")
    assert image.get_data_dtype() == np.float64
    assert image.shape == DIMS
    assert image.get_fdata()[0, 0, 0] == 1
    assert image.get_fdata()[3, 4, 5] == shape.numbers
    assert shape.read(content) == pytest.approx(list(range(1, shape.numbers + 1)))


def test_a_shape_survives_the_journey():
    shape = locked(average=2)
    assert NiftiShape.model_validate_json(shape.model_dump_json()) == shape


def test_another_grid_is_a_failed_run():
    with pytest.raises(PipelineError, match="other dimensions"):
        locked(average=2).read(made(2, dims=(4, 5, 7)))


def test_nothing_of_a_run_but_its_voxels_counts():
    shape, other = locked(average=2), bytearray(made(2))
    other[148:160] = b"SMITH^JOHN\0\0"
    other[228:252] = b"SMITH^JOHN\0\0" * 2
    assert shape.read(bytes(other)) == shape.read(made(2))


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({}, "gives 512 numbers.*average: 4 for at most 20 medians, or average: 2 for at most 400 means"),
        ({"mask": "m.nii"}, "gives 512 numbers"),
    ],
)
def test_too_many_numbers_are_refused_with_what_to_declare(asked, why):
    labels = np.arange(1, 513, dtype="u2")
    sources = {"m.nii": nifti.new_header(LARGE, kind="u2", zooms=(1, 1, 1)) + labels.tobytes()}
    with pytest.raises(PipelineError, match=why):
        nifti_shape.lock(output(**asked), made(dims=LARGE), sources)


def test_a_volume_with_time_is_refused():
    with pytest.raises(PipelineError, match="average over time"):
        nifti_shape.lock(output(average=2), made(dims=(4, 5, 6, 2)), {})


def test_a_mask_on_another_grid_is_refused():
    with pytest.raises(PipelineError, match="has 2x2x2 voxels, the volume 4x5x6"):
        locked({"m.nii": made(dims=(2, 2, 2))}, mask="m.nii")


def test_a_handful_of_voxels_can_be_bounded_one_by_one():
    tiny = OutputFile.model_validate(
        {"file": "a.nii", "bounds": [{"select": "*", "name": "v", "lower": 0, "upper": 1}]}
    )
    shape = nifti_shape.lock(tiny, made(dims=(2, 2, 2)), {})
    assert shape.addresses[:3] == ("0,0,0", "1,0,0", "0,1,0")
    assert shape.read(made(5, dims=(2, 2, 2))) == pytest.approx(voxels_of(made(5, dims=(2, 2, 2))).tolist())
    with pytest.raises(PipelineError, match="gives 512 numbers"):
        nifti_shape.lock(tiny, made(dims=LARGE), {})


A_LOCK_THAT_SOMEBODY_WROTE_BY_HAND_IS_REFUSED = (
    {"addresses": ("one",)},
    {"addresses": tuple(map(str, range(9)))},
    {"header": base64.b64encode(bytes(348)).decode()},
    {"header": "?"},
    {"regions": base64.b64encode(zlib.compress(bytes(10))).decode()},
    {"regions": base64.b64encode(zlib.compress(bytes(10**7))).decode()},
    {"regions": base64.b64encode(b"no zlib").decode()},
    {"regions": "?"},
)


def test_a_lock_that_somebody_wrote_by_hand_is_refused(subtests):
    for change in A_LOCK_THAT_SOMEBODY_WROTE_BY_HAND_IS_REFUSED:
        with subtests.test(change=change), pytest.raises(ValidationError):
            NiftiShape.model_validate(locked(average=3).model_dump() | change)


def test_as_many_numbers_as_regions_are_written():
    with pytest.raises(ValueError, match="holds 8 numbers, got 1"):
        locked(average=3).write(["1"])


@pytest.mark.parametrize("ending", [".nii", ".nii.gz"])
def test_a_volume_on_a_larger_grid_costs_nothing(ending):
    """Many megabytes of a run that were read, or not, would be seen in when the next run starts."""
    content = nifti.new_header((256, 256, 256), kind="u1", zooms=(1, 1, 1)) + bytes(256**3)
    content = gzip.compress(content, 1) if ending == ".nii.gz" else content
    shape = NiftiShape.model_validate(locked(average=3).model_dump() | {"file": f"mean{ending}"})
    tracemalloc.start()
    try:
        with pytest.raises(PipelineError, match=r"other dimensions|once unpacked"):
            shape.read(content)
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_whatever_a_run_writes_there_are_as_many_numbers_or_a_refusal(data):
    shape, content = locked(average=3), bytearray(made(2))
    for _ in range(data.draw(st.integers(0, 5))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    try:
        numbers = shape.read(bytes(content[: data.draw(st.integers(len(content) - 4, len(content)))]))
    except PipelineError:
        return
    assert len(numbers) == shape.numbers
