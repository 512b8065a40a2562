"""Masks and cubes: which voxels make one number together."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain import regions
from domain.errors import PipelineError
from formats import nifti
from twins.drawn.files import make_volume


def test_a_region_for_each_label():
    found = regions.of_labels(np.array([0, 7, 7, 3, 0, 3.0]), mask="m.nii")
    assert found.names == ("label[3]", "label[7]")
    assert regions.means(found, np.array([99, 1, 2, 10, 99, 20.0])) == [15.0, 1.5]
    assert regions.spread(found, [5.0, -1.0]).tolist() == [0, -1, -1, 5, 0, 5]


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        ([0, 1.5], "no whole numbers"),
        ([0, math.nan], "no whole numbers"),
        ([-1, 1], "outside 0 to 65535"),
        ([0, 70_000], "outside 0 to 65535"),
        ([0, 0], "no label above zero"),
    ],
)
def test_a_mask_that_is_none_is_refused(labels, why):
    with pytest.raises(PipelineError, match=why):
        regions.of_labels(np.array(labels, dtype=float), mask="m.nii")


@settings(max_examples=60, deadline=None)
@given(
    st.tuples(st.integers(1, 7), st.integers(1, 7), st.integers(1, 7)),
    st.integers(1, 8),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_cubes_are_what_a_loop_would_find(dims, edge, masked, seed):
    rng = np.random.default_rng(seed)
    voxels, inside = rng.normal(size=dims), rng.random(dims) < 0.6
    expected, names = [], []
    for z in range(0, dims[2], edge):
        for y in range(0, dims[1], edge):
            for x in range(0, dims[0], edge):
                cube = np.s_[x : x + edge, y : y + edge, z : z + edge]
                member = inside[cube] if masked else np.ones_like(inside[cube])
                if member.sum() and member.sum() >= member.size / 2:
                    expected.append(voxels[cube][member].mean())
                    names.append(f"cube {x // edge},{y // edge},{z // edge}")
    flat = inside.ravel(order="F") if masked else None
    if not expected:
        with pytest.raises(PipelineError, match="average less"):
            regions.of_cubes(dims, edge, flat)
        return
    found = regions.of_cubes(dims, edge, flat)
    assert list(found.names) == names
    assert regions.means(found, voxels.ravel(order="F")) == pytest.approx(expected)


def test_voxels_without_a_finite_number_do_not_count():
    found = regions.of_labels(np.array([1, 1, 2, 2.0]), mask="m.nii")
    assert regions.means(found, np.array([math.nan, 4, math.inf, math.nan])) == [4.0, None]
    assert regions.means(found, np.array([1e308, 1e308, 1, 1])) == [None, 1.0]


def test_a_mask_lies_on_the_volumes_own_grid():
    content = make_volume((2, 3, 4), kind="u1", lower=0, upper=1, draw=random.Random(1))
    header, _ = nifti.read("m.nii", content)
    assert regions.read_mask("m.nii", content, header).size == 24
    with pytest.raises(PipelineError, match=r"m\.nii has 2x3x4 voxels, the volume 4x3x2"):
        regions.read_mask("m.nii", content, replace(header, dims=(4, 3, 2)))


def test_too_many_cubes_are_refused():
    with pytest.raises(PipelineError, match="average more"):
        regions.of_cubes((100, 100, 100), 1, None)


@pytest.mark.parametrize("most", [1, 20, 4096])
def test_the_edge_that_leaves_few_enough(most):
    dims = (91, 109, 91)
    edge = regions.edge_for(dims, most)
    assert math.prod(-(-side // edge) for side in dims) <= most
    assert edge == 1 or math.prod(-(-side // (edge - 1)) for side in dims) > most
