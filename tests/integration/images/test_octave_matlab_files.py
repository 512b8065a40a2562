"""What Octave saves is read, and Octave loads what is released of it."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

import pytest
from in_image import run_in_image

from domain.pipeline import OutputFile
from domain.shape import MatlabShape, lock

SAVE = """
stats.beta = [1 -2 3]; stats.se = single (0.5); stats.site = 'grüße'; stats.deep.q = int8 (9);
people(1).age = 30; people(2).age = [1 2; 3 4]; none = struct ('a', {});
parts = {1.5, 'abc', [true false], [], {2}}; n = 1:4; empty = zeros (0, 3); labels = ['ab'; 'cd'; 'ef'];
save ('-v7', '/tmp/7.mat', 'stats', 'people', 'none', 'parts', 'n', 'empty', 'labels');
save ('-v6', '/tmp/6.mat', 'stats', 'people', 'none', 'parts', 'n', 'empty', 'labels');
save ('-v4', '/tmp/4.mat', 'n', 'labels');
for name = {'7', '6', '4'}
  file = fopen (['/tmp/' name{1} '.mat']); printf ('%s\\n', base64_encode (fread (file, Inf, '*uint8')'));
end
"""
LOAD = """
for name = {'7', '6'}
  x = load (['/pipeline/' name{1} '.mat']);
  printf ('%g ', x.stats.beta, x.stats.se, x.stats.deep.q, x.people(2).age, x.parts{1}, x.parts{5}{1}, x.n);
  printf ('%s %s %s %s %s\\n', x.stats.site, x.parts{2}, class (x.parts{3}), class (x.n), x.labels(2, :));
  printf ('%d ', size (x.none), size (x.empty), size (x.parts{4})); printf ('\\n');
end
x = load ('/pipeline/4.mat'); printf ('%g ', x.n); printf ('%s\\n', x.labels(3, :));
"""
OUTPUT = OutputFile(file="stats.mat", bounds=[{"select": "*", "name": "x", "lower": 0, "upper": 1}])


@pytest.fixture(scope="module")
def saved(tree_of: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """By version of MATLAB's `save`."""
    folder = tmp_path_factory.mktemp("save")
    (folder / "main").write_text(SAVE)
    said = run_in_image(tree_of("octave"), ["octave-cli", "/pipeline/main"], {folder: "/pipeline"})
    return dict(zip("764", map(base64.b64decode, said.split()), strict=True))


@pytest.mark.parametrize("version", ["7", "6"])
def test_numbers_that_octave_saves(saved: dict[str, bytes], version: str) -> None:
    shape = lock(OUTPUT, saved[version], {})
    assert isinstance(shape, MatlabShape)
    assert shape.compressed is (version == "7")
    assert shape.read(saved[version]) == [1, -2, 3, 0.5, 9, 30, 1, 3, 2, 4, 1.5, 2, 1, 2, 3, 4]


def test_the_oldest_version(saved: dict[str, bytes]) -> None:
    assert lock(OUTPUT, saved["4"], {}).read(saved["4"]) == [1, 2, 3, 4]


def test_octave_loads_releases(
    saved: dict[str, bytes], tree_of: Callable[[str], Path], tmp_path: Path
) -> None:
    for version, content in saved.items():
        shape = lock(OUTPUT, content, {})
        numbers = [f"{position}.5" for position in range(shape.numbers)]
        (tmp_path / f"{version}.mat").write_bytes(shape.write(numbers))
    (tmp_path / "main").write_text(LOAD)
    said = run_in_image(tree_of("octave"), ["octave-cli", "/pipeline/main"], {tmp_path: "/pipeline"})
    of_version_5 = [
        "0.5 1.5 2.5 3.5 4.5 6.5 7.5 8.5 9.5 10.5 11.5 12.5 13.5 14.5 15.5 grüße abc logical double cd",
        "0 0 0 3 0 0",
    ]
    wanted = [*of_version_5, *of_version_5, "0.5 1.5 2.5 3.5 ef"]
    assert [line.strip() for line in said.splitlines()] == wanted
