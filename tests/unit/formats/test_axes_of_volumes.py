"""Where the axes of a volume lead: as declared in the twin, and as other writers say it in originals."""

from __future__ import annotations

import itertools
import random

import nibabel
import numpy as np
import pytest

from domain.dataset import TwinVolume
from domain.errors import InvalidRequest
from domain.model import parse
from formats import nifti
from twins.drawn.files_volumes import make_file


@pytest.mark.parametrize("fill", ["noise", "zeros", "phantom"])
def test_volumes_lie_as_declared_to_another_reader(fill):
    ways = ("RL", "AP", "SI")
    for order in itertools.permutations(ways):
        for letters in itertools.product(*order):
            orientation = "".join(letters)
            if fill != "zeros" and orientation not in ("RAS", "LPI", "SLP"):
                continue  # the header is made alike
            fields = {"shape": [6, 5, 4], "lower": 0, "upper": 9, "zooms": [2, 3, 4], "fill": fill}
            volume = parse(TwinVolume, {**fields, "orientation": orientation})
            content = make_file(volume, random.Random(1), compressed=False)
            image = nibabel.Nifti1Image.from_bytes(content)
            assert "".join(nibabel.aff2axcodes(image.affine)) == orientation
            assert image.header.get_zooms() == (2, 3, 4)
            assert nifti.read_grid("x.nii", content).axes == orientation


def test_axes_of_oblique_volumes_of_another_writer(subtests):
    for kind in (nibabel.Nifti1Image, nibabel.Nifti2Image):
        for way in ("sform", "qform", "neither"):
            with subtests.test(kind=kind, way=way):
                for seed in range(10):
                    turn, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
                    affine = np.eye(4)
                    affine[:3, :3] = turn @ np.diag([2, 3, 4])
                    image = kind(np.zeros((3, 4, 5), np.int16), affine)
                    image.set_sform(affine, code=1 if way == "sform" else 0)
                    image.set_qform(affine, code=1 if way == "qform" else 0)
                    found = nifti.read_grid("x.nii", image.to_bytes()).axes
                    assert found == (None if way == "neither" else "".join(nibabel.aff2axcodes(affine)))


def test_an_orientation_has_one_letter_of_each_pair():
    for wrong in ("RAR", "ras", "RA", "RASL", "XYZ"):
        with pytest.raises(InvalidRequest, match="orientation"):
            parse(TwinVolume, {"shape": [2, 2, 2], "lower": 0, "upper": 1, "orientation": wrong})
    assert (
        "orientation"
        not in parse(
            TwinVolume, {"shape": [2, 2, 2], "lower": 0, "upper": 1, "orientation": "RAS"}
        ).model_dump()
    )
