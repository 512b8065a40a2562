"""Volumes that lie alike, or whose axes run otherwise through the same voxels, against another reader."""

from __future__ import annotations

import itertools
import struct
from random import Random

import nibabel
import numpy as np
import pytest
from nibabel import orientations

from domain import placing
from domain.dataset import TwinVolume
from domain.errors import InvalidRequest, PipelineError
from domain.model import parse
from domain.pipeline import OutputFile
from domain.shape import nifti as nifti_shape
from formats import nifti
from formats.nifti_axes import letters_of
from twins.drawn.file_conformance import compare_file
from twins.drawn.files_volumes import make_file
from worker.intake.volumes import misplaced

DIMS = (4, 5, 6)
WAYS = ("RL", "AP", "SI")
LETTERS = ["".join(each) for order in itertools.permutations(WAYS) for each in itertools.product(*order)]
OBLIQUE = np.array([[1.9, 0.3, 0, -30], [-0.28, 1.95, 0.4, -41.5], [0.1, -0.4, 3, 12.25], [0, 0, 0, 1]])
PLACED = np.diag([2.0, 2, 3, 1]) + np.array([[0, 0, 0, -90], [0, 0, 0, -126], [0, 0, 0, -72], [0] * 4])
UPRIGHT = np.diag([2.0, 2, 3, 1])


def image_of(affine: np.ndarray, voxels: np.ndarray | None = None) -> nibabel.Nifti1Image:
    if voxels is None:
        voxels = np.arange(np.prod(DIMS), dtype=np.float32).reshape(DIMS)
    return nibabel.Nifti1Image(voxels.astype(np.float32), affine)


def turned_to(image: nibabel.Nifti1Image, letters: str) -> nibabel.Nifti1Image:
    """By the other reader: the same voxels in the same places, the axes in this order and direction."""
    start = orientations.io_orientation(image.affine)
    way = orientations.ornt_transform(start, orientations.axcodes2ornt(letters))
    return image.as_reoriented(way)


def locked(image: nibabel.Nifti1Image, **volume: object) -> nifti_shape.NiftiShape:
    asked = {"name": "cube", "lower": 0, "upper": 200, "average": 2, **volume}
    output = OutputFile.model_validate({"file": "mean.nii", "volume": asked})
    return nifti_shape.lock(output, image.to_bytes(), {})


@pytest.mark.parametrize("affine", [UPRIGHT, PLACED, OBLIQUE], ids=["upright", "placed", "oblique"])
def test_axes_in_any_order_and_direction_are_undone(affine, subtests):
    image = image_of(affine)
    shape = locked(image)
    expected = shape.read(image.to_bytes())
    others = {letters: turned_to(image, letters) for letters in LETTERS}
    assert len(others) == 48
    for letters, other in others.items():
        with subtests.test(letters):
            assert shape.read(other.to_bytes()) == expected
    # the test of the test: without the turn, other voxels stand in each place
    as_they_lie = [other.get_fdata().ravel(order="F").tolist() for other in others.values()]
    assert sum(voxels == image.get_fdata().ravel(order="F").tolist() for voxels in as_they_lie) == 1


@pytest.mark.parametrize(
    ("affine", "other"),
    [
        (PLACED, PLACED + np.array([[0, 0, 0, 0.3]] + [[0] * 4] * 3)),
        (PLACED, UPRIGHT),
        (PLACED, OBLIQUE),
        (OBLIQUE, np.diag([-1.0, 1, 1, 1]) @ OBLIQUE),
        (UPRIGHT, np.diag([2.0, 2, 2.5, 1])),
        (PLACED, PLACED @ np.diag([1.2, 1, 1, 1])),
        (PLACED, np.full((4, 4), np.nan)),
    ],
    ids=["a little aside", "another origin", "tilted", "mirrored", "other voxels", "stretched", "no number"],
)
def test_a_volume_that_stands_elsewhere_is_a_failed_run(affine, other):
    shape = locked(image_of(affine))
    moved = bytearray(image_of(affine).to_bytes())
    moved[280:328] = np.asarray(other[:3], "<f4").tobytes()
    with pytest.raises(PipelineError, match="stands elsewhere"):
        shape.read(bytes(moved))


@pytest.mark.parametrize("twin", [UPRIGHT, PLACED], ids=["upright", "placed"])
def test_huge_numbers_are_a_failed_run_without_a_word(twin):
    """Warnings are errors here, and lines in a log elsewhere."""
    shape = locked(image_of(twin))
    second = nibabel.Nifti2Image(np.zeros(DIMS, np.float32), twin)
    for huge in (1.7e308, -1.7e308, 1e200):
        content = bytearray(second.to_bytes())
        content[400:496] = np.full(12, huge).tobytes()
        content[400:408] = content[440:448] = content[480:488] = np.array(-huge).tobytes()
        with pytest.raises(PipelineError, match="stands elsewhere"):
            shape.read(bytes(content))
    assert not placing.lies_alike(((1e308, 0, 0, 1e308),) * 3, ((-1e308, 0, 0, -1e308),) * 3, DIMS)


def test_a_volume_a_tenth_of_a_voxel_aside_counts():
    shape = locked(image_of(PLACED))
    aside = PLACED.copy()
    aside[0, 3] += 0.19
    assert shape.read(image_of(aside).to_bytes()) == shape.read(image_of(PLACED).to_bytes())


def test_a_twin_without_a_place_compares_directions_and_sizes():
    """A twin of an orientation alone has its first voxel at the origin; people's volumes do not."""
    shape = locked(image_of(UPRIGHT))
    expected = shape.read(image_of(UPRIGHT).to_bytes())
    assert shape.read(image_of(PLACED).to_bytes()) == expected
    assert shape.read(turned_to(image_of(PLACED), "LPI").to_bytes()) == expected
    assert "means nothing" in shape.placing
    assert "means nothing" not in locked(image_of(PLACED)).placing


def test_volumes_that_say_nothing_are_taken_with_each_other_alone():
    silent = bytearray(image_of(UPRIGHT).to_bytes())
    silent[252:256] = bytes(4)
    output = OutputFile.model_validate(
        {"file": "mean.nii", "volume": {"name": "cube", "lower": 0, "upper": 200, "average": 2}}
    )
    shape = nifti_shape.lock(output, bytes(silent), {})
    assert shape.read(bytes(silent))
    assert "which side" in shape.placing
    for one, other in ((shape, image_of(UPRIGHT).to_bytes()), (locked(image_of(UPRIGHT)), bytes(silent))):
        with pytest.raises(PipelineError, match="stands elsewhere"):
            one.read(other)


def test_an_order_of_axes_that_only_sizes_tell_is_no_turn():
    """Five by four by six voxels with the axes of four by five by six lie elsewhere, however few they are."""
    shape = locked(image_of(PLACED))
    other = image_of(PLACED, np.zeros((5, 4, 6)))
    with pytest.raises(PipelineError, match="stands elsewhere"):
        shape.read(other.to_bytes())


def test_flat_volumes_have_a_place_too():
    flat = image_of(PLACED, np.arange(20).reshape(4, 5))
    shape = locked(flat, average=1)
    mirrored = nibabel.Nifti1Image(np.flip(flat.get_fdata(), 0).astype(np.float32), PLACED @ FLIPPED)
    assert shape.read(mirrored.to_bytes()) == shape.read(flat.to_bytes())


FLIPPED = np.array([[-1.0, 0, 0, 3], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def test_a_mask_that_leads_elsewhere_is_refused():
    mask = turned_to(image_of(UPRIGHT, np.ones(DIMS)), "LAS").to_bytes()
    asked = {"name": "roi", "lower": 0, "upper": 200, "mask": "m.nii"}
    output = OutputFile.model_validate({"file": "mean.nii", "volume": asked})
    with pytest.raises(PipelineError, match=r"m\.nii leads to LAS and the volume to RAS; turn the mask"):
        nifti_shape.lock(output, image_of(UPRIGHT).to_bytes(), {"m.nii": mask})


def test_a_mask_that_stands_elsewhere_is_refused():
    """Labels of a template, as many voxels and as upright as the volume, name other places of the head."""
    asked = {"name": "roi", "lower": 0, "upper": 200, "mask": "m.nii"}
    output = OutputFile.model_validate({"file": "mean.nii", "volume": asked})

    def lock(mask: np.ndarray, volume: np.ndarray) -> nifti_shape.NiftiShape:
        content = image_of(mask, np.ones(DIMS)).to_bytes()
        return nifti_shape.lock(output, image_of(volume).to_bytes(), {"m.nii": content})

    aside = PLACED + np.array([[0, 0, 0, 4.0]] + [[0] * 4] * 3)
    with pytest.raises(PipelineError, match=r"m\.nii stands elsewhere than the volume"):
        lock(aside, PLACED)
    assert lock(PLACED, PLACED).numbers == lock(PLACED, UPRIGHT).numbers == 1


@pytest.mark.parametrize("kind", [nibabel.Nifti1Image, nibabel.Nifti2Image])
def test_a_header_whose_two_transforms_disagree_says_nothing(kind):
    """Some programs take the rows first and others the quaternion: one of them would get left for right."""
    both = kind(np.zeros(DIMS, np.float32), PLACED)
    both.set_sform(PLACED, code=1)
    both.set_qform(PLACED + np.array([[0, 0, 0, 5.0]] + [[0] * 4] * 3), code=1)
    assert nifti.read_grid("x.nii", both.to_bytes()).axes == "RAS"  # a template's place beside the scanner's
    both.set_qform(np.diag([-1.0, 1, 1, 1]) @ PLACED, code=1)
    assert nifti.read_grid("x.nii", both.to_bytes()).affine is None
    assert "says it twice and otherwise" in str(misplaced("x.nii", both.to_bytes(), volume()))
    shape = locked(image_of(PLACED))
    with pytest.raises(PipelineError, match="stands elsewhere"):
        shape.read(both.to_bytes())


@pytest.mark.parametrize("place", [252, 254])
@pytest.mark.parametrize("code", [-1, 6, 9, 32767])
def test_an_unknown_code_says_nothing(place, code):
    """nibabel takes it for none, and then a default that leads to the left; others take the transform."""
    image = image_of(PLACED)
    image.set_sform(PLACED, code=1)
    image.set_qform(PLACED, code=1)
    head = bytearray(image.to_bytes())
    assert nifti.read_grid("x.nii", bytes(head)).axes == "RAS"
    struct.pack_into("<h", head, place, code)
    assert nifti.read_grid("x.nii", bytes(head)).affine is None


@pytest.mark.parametrize(
    "affine",
    [((2.0, 2, 0, 0), (0, 0, 0, 0), (0, 0, 2, 0)), ((2.0, 2, 0, 0), (0, 1e-5, 0, 0), (0, 0, 2, 0))],
)
def test_axes_in_one_plane_lead_nowhere(affine):
    assert letters_of(affine) is None


def test_an_edge_below_zero_is_nonsense():
    """nifti1_io.c takes it as 1, others as a mirror."""
    image = image_of(PLACED)
    image.set_sform(None, code=0)
    image.set_qform(PLACED, code=1)
    head = bytearray(image.to_bytes())
    assert nifti.read_grid("x.nii", bytes(head)).axes == "RAS"
    struct.pack_into("<f", head, 80, -2)
    assert nifti.read_grid("x.nii", bytes(head)).affine is None
    struct.pack_into("<h", head, 254, 1)  # rows that are sound do not mend it
    assert nifti.read_grid("x.nii", bytes(head)).affine is None


def test_voxels_too_small_for_a_distance_are_alike_to_nothing():
    tiny = tuple(tuple(1e-200 * float(at == way) for at in range(4)) for way in range(3))
    mirrored = (tuple(-number for number in tiny[0]), *tiny[1:])
    assert placing.find_turn((*tiny[:2], (0, 0, 1e-200, 5)), mirrored, DIMS) is None
    assert not placing.lies_alike(tiny, mirrored, DIMS)


def test_an_affine_is_read_as_another_reader_does(subtests):
    for kind in (nibabel.Nifti1Image, nibabel.Nifti2Image):
        for way in ("sform", "qform"):
            for seed in range(5):
                with subtests.test(kind=kind, way=way, seed=seed):
                    turn, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
                    affine = np.eye(4)
                    affine[:3, :3] = turn @ np.diag([2, 3, 4])
                    affine[:3, 3] = (-90, 11.5, 4)
                    image = kind(np.zeros(DIMS, np.int16), affine)
                    image.set_sform(affine, code=1 if way == "sform" else 0)
                    image.set_qform(affine, code=1 if way == "qform" else 0)
                    found = nifti.read_grid("x.nii", image.to_bytes()).affine
                    assert found is not None
                    assert np.allclose(found, kind.from_bytes(image.to_bytes()).affine[:3], atol=1e-4)


ROWS = [[-2.0, 0, 0, 90], [0, 2, 0, -126], [0, 0, 3, -72]]
GRID = {"shape": [4, 5, 6], "lower": 0, "upper": 9, "zooms": [2, 2, 3]}


def volume(**fields: object) -> TwinVolume:
    return parse(TwinVolume, {**GRID, **fields})


def test_a_declared_affine_is_the_twins(subtests):
    for fill in ("noise", "phantom", "zeros"):
        with subtests.test(fill):
            content = make_file(volume(affine=ROWS, fill=fill), Random(1), compressed=False)
            image = nibabel.Nifti1Image.from_bytes(content)
            assert np.array_equal(image.affine[:3], ROWS)
            assert nibabel.aff2axcodes(image.affine) == ("L", "A", "S")
    assert volume(affine=ROWS).axes == "LAS"
    assert "affine" not in volume().model_dump()
    assert "any_orientation" not in volume().model_dump()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"affine": ROWS[:2]}, "affine"),
        ({"affine": [row[:3] for row in ROWS]}, "affine"),
        ({"affine": [[0, 0, 0, 1], *ROWS[1:]]}, "leads nowhere"),
        ({"affine": ROWS, "orientation": "RAS"}, "the affine leads to LAS; remove orientation"),
        ({"affine": ROWS, "zooms": [2, 2, 2]}, r"state zooms: \[2, 2, 3\]"),
        ({"affine": ROWS, "any_orientation": True}, "remove it or any_orientation"),
    ],
)
def test_an_affine_that_cannot_be(fields, said):
    with pytest.raises(InvalidRequest, match=said):
        volume(**fields)


def test_what_is_wrong_with_a_volume_and_what_to_do():
    las = turned_to(image_of(PLACED), "LAS").to_bytes()
    silent = bytearray(las)
    silent[252:256] = bytes(4)
    exact = volume(affine=PLACED[:3].tolist())
    assert misplaced("x.nii", las, volume(orientation="LAS")) is None
    assert misplaced("x.nii", image_of(PLACED).to_bytes(), exact) is None
    for head, declared, words in (
        (las, volume(), "leads to LAS and is declared RAS; turn it, or declare orientation: LAS"),
        (las, exact, "its affine is not the declared one"),
        (bytes(silent), volume(), "set its sform"),
        (b"no volume", volume(), "no NIfTI volume"),
    ):
        said = misplaced("x.nii", head, declared)
        assert said is not None
        assert words in said


def test_compare_tells_where_volumes_lie(tmp_path):
    def said(theirs: bytes, ours: bytes) -> list[tuple[str, str]]:
        (tmp_path / "one.nii").write_bytes(theirs)
        (tmp_path / "two.nii").write_bytes(ours)

        def opened(place: str):
            return (tmp_path / place).open("rb")

        return list(compare_file("x.nii", "one.nii", "two.nii", opened, opened))

    placed, upright = image_of(PLACED).to_bytes(), image_of(UPRIGHT).to_bytes()
    assert said(placed, placed) == []
    ((words, when),) = said(placed, upright)
    assert (when, "not declared: the twin stands upright at the origin" in words) == ("purpose", True)
    assert said(image_of(OBLIQUE).to_bytes(), image_of(OBLIQUE).to_bytes()) == []
    aside = PLACED.copy()
    aside[1, 3] += 4
    ((words, when),) = said(image_of(aside).to_bytes(), placed)
    assert (when, "its affine is not the declared one" in words) == ("mend", True)
    silent = bytearray(placed)
    silent[252:256] = bytes(4)
    ((words, when),) = said(bytes(silent), placed)
    assert (when, "set its sform" in words) == ("mend", True)


def test_no_two_turns_of_a_placed_volume_are_one():
    """Each of the 48 orders and directions is told from the others, so none is undone by another's turn."""
    affine = tuple(map(tuple, OBLIQUE[:3]))
    turns = {
        placing.find_turn(affine, nifti.read_grid("x.nii", other.to_bytes()).affine, other.shape)
        for other in (turned_to(image_of(OBLIQUE), letters) for letters in LETTERS)
    }
    assert len(turns - {None}) == 48


def in_two_places(sform: np.ndarray, qform: np.ndarray) -> nibabel.Nifti1Image:
    image = image_of(PLACED)
    image.set_sform(sform, 1)
    image.set_qform(qform, 1)
    return image


def test_of_two_places_on_the_same_sides_the_sform_is_compared() -> None:
    """As the page on output formats says it; and the released header has both of the twin's."""
    elsewhere = PLACED.copy()
    elsewhere[:3, 3] += 100
    shape = locked(in_two_places(PLACED, elsewhere))
    numbers = shape.read(in_two_places(PLACED, PLACED).to_bytes())
    with pytest.raises(PipelineError, match="stands elsewhere"):
        shape.read(in_two_places(elsewhere, PLACED).to_bytes())
    released = nibabel.Nifti1Image.from_bytes(shape.write([repr(number) for number in numbers]))
    assert np.allclose(released.get_sform(), PLACED)
    assert np.allclose(released.get_qform(), elsewhere)


def test_units_are_the_twins() -> None:
    in_metres = image_of(PLACED)
    in_metres.header.set_xyzt_units("meter")
    shape = locked(image_of(PLACED))
    assert shape.read(in_metres.to_bytes()) == shape.read(image_of(PLACED).to_bytes())
    assert locked(in_metres).write(["0"] * shape.numbers)[123] & 7 == 1
