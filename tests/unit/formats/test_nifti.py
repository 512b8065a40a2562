"""NIfTI files against nibabel, and against whoever writes them to do harm."""

import gzip
import random
import struct
import tracemalloc
from pathlib import Path

import nibabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import PipelineError
from formats import nifti
from twins.drawn.files import make_volume

AFFINE = np.array([[-2.0, 0, 0, 90], [0, 3, 0, -126], [0, 0, 4, -72], [0, 0, 0, 1]])
KINDS = ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8")


def saved(tmp_path: Path, image: nibabel.spatialimages.SpatialImage, ending: str) -> bytes:
    nibabel.save(image, tmp_path / f"volume{ending}")
    return (tmp_path / f"volume{ending}").read_bytes()


def loaded(tmp_path: Path, content: bytes, ending: str) -> nibabel.Nifti1Image:
    path = tmp_path / f"written{ending}"
    path.write_bytes(content)
    return nibabel.load(path)


def test_what_nibabel_writes_is_read(subtests, tmp_path):
    for ending in (".nii", ".nii.gz"):
        for order in ("<", ">"):
            for form in (nibabel.Nifti1Image, nibabel.Nifti2Image):
                for kind in KINDS:
                    with subtests.test(ending=ending, order=order, form=form, kind=kind):
                        voxels = (np.arange(24).reshape(2, 3, 4) * 5).astype(kind)
                        header = form.header_class(endianness=order)
                        header.set_data_dtype(kind)
                        content = saved(tmp_path, form(voxels, AFFINE, header), ending)

                        found, numbers = nifti.read(f"a{ending}", content)

                        assert (found.dims, found.order, found.voxels) == ((2, 3, 4), order, 24)
                        assert np.array_equal(numbers.reshape((2, 3, 4), order="F"), voxels)


@pytest.mark.parametrize("ending", [".nii", ".nii.gz"])
@pytest.mark.parametrize("form", [nibabel.Nifti1Image, nibabel.Nifti2Image])
def test_what_is_written_lies_where_it_lay_and_says_nothing_of_its_own(tmp_path, form, ending):
    image = form(np.ones((2, 3, 4), dtype="i2"), AFFINE)
    image.header["descrip"], image.header["intent_name"] = b"PatientName=SMITH^JOHN", b"SMITH"
    image.header["aux_file"] = b"smith.txt"
    image.header.set_xyzt_units("mm", "sec")
    image.header.extensions.append(nibabel.nifti1.Nifti1Extension("comment", b"SMITH" * 10))
    content = saved(tmp_path, image, ending)
    header, voxels = nifti.read(f"a{ending}", content)

    written = nifti.write(f"a{ending}", nifti.blank_header(header), voxels * 1.5)

    found = loaded(tmp_path, written, ending)
    plain = gzip.decompress(written) if ending.endswith("gz") else written
    assert b"SMITH" in (gzip.decompress(content) if ending.endswith("gz") else content)
    assert b"SMITH" not in plain
    assert b"smith" not in plain
    assert np.array_equal(found.get_fdata(), np.full((2, 3, 4), 1.5))
    assert np.array_equal(found.affine, AFFINE)
    assert found.header.get_xyzt_units() == ("mm", "sec")
    assert written == nifti.write(f"a{ending}", nifti.blank_header(header), voxels * 1.5)


def test_voxels_are_scaled_as_their_header_says(tmp_path):
    image = nibabel.Nifti1Image(np.arange(8, dtype="i2").reshape(2, 2, 2), AFFINE)
    content = bytearray(saved(tmp_path, image, ".nii"))
    for slope, inter, expected in ((0.5, 3, 0.5), (0, 7, 1.0), (float("nan"), 7, 1.0), (1, 2, 1.0)):
        struct.pack_into("<2f", content, 112, slope, inter)
        _, numbers = nifti.read("a.nii", bytes(content))
        offset = inter if slope == slope and slope else 0
        assert np.array_equal(numbers, np.arange(8).reshape(2, 2, 2).ravel(order="F") * expected + offset)


def test_a_last_axis_of_one_says_nothing(tmp_path):
    content = saved(tmp_path, nibabel.Nifti1Image(np.zeros((2, 3, 4, 1)), AFFINE), ".nii")
    assert nifti.read("a.nii", content)[0].dims == (2, 3, 4)


def valid() -> bytearray:
    return bytearray(make_volume((2, 3, 4), kind="i2", lower=0, upper=9, draw=random.Random(1)))


A_HEADER_THAT_LIES_IS_REFUSED = (
    (344, "4s", b"ni1\0", "not a NIfTI file in one piece"),
    (344, "4s", b"n+3\0", "not a NIfTI file in one piece"),
    (0, "i", 347, "not a NIfTI file in one piece"),
    (40, "h", 0, "no sound dimensions"),
    (40, "h", 8, "no sound dimensions"),
    (40, "h", -1, "no sound dimensions"),
    (42, "h", 0, "no sound dimensions"),
    (44, "h", -3, "no sound dimensions"),
    (42, "3h", (32767, 32767, 32767), "more than fit"),
    (70, "h", 128, "voxels of type 128"),
    (70, "h", 32, "voxels of type 32"),
    (70, "h", 1536, "voxels of type 1536"),
    (108, "f", 10.0, "start where they cannot"),
    (108, "f", 352.5, "start where they cannot"),
    (108, "f", 1e30, "start where they cannot"),
    (108, "f", float("nan"), "start where they cannot"),
    (108, "f", -352.0, "start where they cannot"),
    (108, "f", 380.0, "ends before its last voxel"),
    (116, "f", float("inf"), "intercept"),
)


def test_a_header_that_lies_is_refused(subtests):
    for offset, code, value, why in A_HEADER_THAT_LIES_IS_REFUSED:
        with subtests.test(offset=offset, code=code, value=value, why=why):
            content = valid()
            struct.pack_into("<" + code, content, offset, *(value if isinstance(value, tuple) else (value,)))
            with pytest.raises(PipelineError, match=why):
                nifti.read("a.nii", bytes(content))


def test_a_million_million_voxels_take_no_memory():
    content = bytearray(540 + 4)
    struct.pack_into("<i", content, 0, 540)
    content[4:12] = b"n+2\0\r\n\x1a\n"
    struct.pack_into("<2h", content, 12, 16, 32)
    struct.pack_into("<8q", content, 16, 3, 10**4, 10**4, 10**4, 1, 1, 1, 1)
    struct.pack_into("<q", content, 168, 544)
    tracemalloc.start()
    with pytest.raises(PipelineError, match="1000000000000 voxels"):
        nifti.read("a.nii", bytes(content))
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


def test_a_gzip_bomb_is_let_off_at_the_limit():
    bomb = gzip.compress(bytes(nifti.MAX_VOLUME_BYTES + 1000), mtime=0)
    assert len(bomb) < 100_000
    with pytest.raises(PipelineError, match="once unpacked"):
        nifti.read("a.nii.gz", bomb)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda whole: b"no gzip" + whole, "not a gzip file"),
        (lambda whole: whole[:-9], "not one whole gzip file"),
        (lambda whole: whole + b"more", "not one whole gzip file"),
    ],
)
def test_only_one_whole_gzip_file_is_taken(change, why):
    with pytest.raises(PipelineError, match=why):
        nifti.read("a.nii.gz", change(gzip.compress(bytes(valid()))))


def test_a_file_beyond_the_limit_is_not_looked_at():
    with pytest.raises(PipelineError, match="larger than"):
        nifti.read("a.nii", bytes(nifti.MAX_CONTENT_BYTES + 1))


def test_a_header_of_somebody_elses_is_no_lock():
    content = valid()
    content[148:153] = b"SMITH"
    with pytest.raises(PipelineError, match="not as a run on the twin locks it"):
        nifti.write("a.nii", bytes(content[:348]), np.zeros(24))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_whatever_the_bytes_there_are_voxels_or_a_refusal(data):
    content = valid()
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    mutated = (
        bytes(content[: data.draw(st.integers(0, len(content)))]) if data.draw(st.booleans()) else content
    )
    try:
        header, voxels = nifti.read("a.nii", bytes(mutated))
    except PipelineError:
        return
    assert len(voxels) == header.voxels


def test_a_twins_volume_is_inside_its_bounds_and_the_same_each_time(subtests, tmp_path):
    def made(kind: str, *, compressed: bool) -> bytes:
        return make_volume(
            (5, 6, 7),
            kind=kind,
            lower=2.5,
            upper=9.5,
            draw=random.Random(7),
            zooms=(2.0, 2.0, 3.0),
            compressed=compressed,
        )

    for kind in ("u1", "i2", "f4", "f8"):
        for compressed in (False, True):
            with subtests.test(kind=kind, compressed=compressed):
                content = made(kind, compressed=compressed)
                image = loaded(tmp_path, content, ".nii.gz" if compressed else ".nii")
                assert made(kind, compressed=compressed) == content
                assert image.shape == (5, 6, 7)
                assert image.get_data_dtype() == np.dtype(kind)
                assert tuple(map(float, image.header.get_zooms())) == (2.0, 2.0, 3.0)
                assert 2.5 <= image.get_fdata().min() < image.get_fdata().max() <= 9.5


def test_a_twins_volume_that_cannot_be_is_refused():
    draw = random.Random(1)
    with pytest.raises(ValueError, match="cannot hold"):
        make_volume((2, 2, 2), kind="u1", lower=0, upper=256, draw=draw)
    with pytest.raises(ValueError, match="at most"):
        make_volume((1000, 1000, 1000), kind="f8", lower=0, upper=1, draw=draw)
    with pytest.raises(ValueError, match="axes"):
        make_volume((2, 0, 2), kind="u1", lower=0, upper=1, draw=draw)
