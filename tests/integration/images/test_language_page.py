"""What the page on languages shows: readers of volumes that read what nibabel wrote, and every image."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import nibabel
import numpy as np
import pytest
from base_images import ROOT
from in_image import run_in_image

from sandbox_images.bases.recipe import RECIPES

TreeOf = Callable[[str], Path]
PAGE = (ROOT / "docs/how-to/write-a-pipeline.md").read_text(encoding="utf-8")
SHAPE = (3, 4, 5)
TYPES = ("uint8", "int16", "int32", "float32", "float64", "int8", "uint16")
# the sum and one voxel of each file named on the command line
R_MAIN = """
for (path in commandArgs(TRUE)) {
  volume <- read_nifti(path)
  cat(dim(volume), sprintf("%.6g", sum(volume)), sprintf("%.6g", volume[3, 2, 5]), "\\n")
}
"""
OCTAVE_MAIN = """
given = argv ();
for place = 1:numel (given)
  volume = read_nifti (given{place});
  printf ('%d ', size (volume)); printf ('%.6g %.6g\\n', sum (volume(:)), volume(3, 2, 5));
end
"""


def shown(language: str) -> str:
    (code,) = re.findall(rf'^```{language} title="nifti"\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL)
    return code


@pytest.mark.parametrize(
    ("image", "command", "source"),
    [
        ("r", ["Rscript", "/pipeline/main"], shown("r") + R_MAIN),
        ("octave", ["octave-cli", "--quiet", "/pipeline/main"], "1;\n" + shown("octave") + OCTAVE_MAIN),
    ],
    ids=["r", "octave"],
)
def test_volumes_are_read(
    image: str, command: list[str], source: str, tree_of: TreeOf, tmp_path: Path
) -> None:
    """Every type of voxel, compressed and not, and scaled voxels."""
    draw = np.random.default_rng(7)
    names, wanted = [], []
    for kind in TYPES:
        values = draw.integers(-100, 100, SHAPE) if kind[0] in "if" else draw.integers(0, 250, SHAPE)
        volume = nibabel.Nifti1Image(values.astype(kind), np.eye(4))
        if kind == "int16":
            volume.header.set_slope_inter(0.5, 10)
        for ending in (".nii", ".nii.gz"):
            nibabel.save(volume, tmp_path / f"{kind}{ending}")
            found = nibabel.load(tmp_path / f"{kind}{ending}").get_fdata()
            names.append(f"/pipeline/{kind}{ending}")
            wanted.append([*SHAPE, found.sum(), found[2, 1, 4]])
    (tmp_path / "main").write_text(source)
    said = run_in_image(tree_of(image), [*command, *names], {tmp_path: "/pipeline"})
    lines = [[float(cell) for cell in line.split()] for line in said.splitlines()]
    assert lines == [pytest.approx(row, rel=1e-5) for row in wanted]


def test_the_table_names_every_image() -> None:
    assert set(re.findall(r"^\| `([a-z]+)` \| [^|]+ \| 0\.", PAGE, re.MULTILINE)) == set(RECIPES)
    for library in ("statsmodels", "nibabel", "h5py", "lme4", "nlme", "Rniftilib"):
        assert any(library in recipe.title for recipe in RECIPES.values())
        assert library in PAGE
