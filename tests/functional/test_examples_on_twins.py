"""The examples run, unchanged, on twins of their data sets: of the declaration alone, and of noisy counts."""

from __future__ import annotations

import csv
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
from base_images import base_archive
from lent_data import lent

from domain.dataset import Declaration
from domain.model import parse
from domain.pipeline import Pipeline
from domain.twin import TableCounts, cell_grid, has_cells
from dpgate.cli.declaration import load_declaration
from dpgate.image_store import add_image
from dpgate.local import TwinRun, run_on_twin
from dpgate.pipeline_folder import load_pipeline
from privacy.loss import MICRO
from privacy.twin import ColumnCounts, Patterns
from twins.drawn import make_twin

EXAMPLES = Path(__file__).parents[2] / "examples"
HEIGHTS = EXAMPLES / "heights" / "data"
SPEED = EXAMPLES / "reading-speed" / "data"
EPSILON = 4
NO_COUNTS: Mapping[str, TableCounts] = {}
LEVELS = pytest.mark.deep(
    "a twin without counts and one with pairs are asked here; in between it is the same code"
)
LANGUAGES = pytest.mark.deep("integration/images asks what R and Octave compute; their images take a minute")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """One that users of slots can pass, as pytest's own is not."""
    made = Path(tempfile.mkdtemp(prefix="dpgate-twins-"))
    made.chmod(0o711)
    yield made
    shutil.rmtree(made)


def declared(example: str, data: Path) -> Declaration:
    return load_declaration(EXAMPLES / example / "dataset.yaml", data)


def counted(declaration: Declaration, data: Path, *, level: int) -> dict[str, TableCounts]:
    """Noisy counts of every table, of all its columns that have cells."""
    return {table.path: _counts(declaration, table.path, data, level) for table in declaration.tables}


def _counts(declaration: Declaration, path: str, data: Path, level: int) -> TableCounts:
    (table,) = (table for table in declaration.tables if table.path == path)
    columns = [column for column in table.columns if has_cells(column)]
    size = declaration.nominal_size
    with (data / path).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    grids = [cell_grid(column, size) for column in columns]
    cells = tuple(grid.count for grid in grids)
    codes = [grid.codes([row[one.name] for row in rows]) for grid, one in zip(grids, columns, strict=True)]
    mechanism: ColumnCounts | Patterns = ColumnCounts(cells, EPSILON * MICRO)
    if level == 2:
        mechanism = Patterns(cells, EPSILON * MICRO, nominal_size=size)
    totals = [np.bincount(found, minlength=width) for found, width in zip(codes, cells, strict=True)]
    for one, other in mechanism.pairs:
        joint = codes[one] * cells[other] + codes[other]
        totals.append(np.bincount(joint, minlength=cells[one] * cells[other]))
    noisy = mechanism.release([int(count) for counts in totals for count in counts])
    return TableCounts(tuple(column.name for column in columns), noisy, 2 if level == 2 else 1)


def ran(
    example: str,
    declaration: Declaration,
    folder: Path,
    *,
    counts: Mapping[str, TableCounts] = NO_COUNTS,
    block_size: int,
    images: Path | None = None,
) -> TwinRun:
    """The example as it is in the project, on a new twin."""
    twin = Path(tempfile.mkdtemp(dir=folder))
    twin.chmod(0o755)
    for path, content in make_twin(declaration, counts=counts, seed=1).items():
        (twin / path).parent.mkdir(parents=True, exist_ok=True)
        (twin / path).write_bytes(content)
    pipeline = parse(Pipeline, load_pipeline(EXAMPLES / example).body, within="pipeline")
    return run_on_twin(pipeline, declaration=declaration, twin=twin, block_size=block_size, images=images)


def check(found: TwinRun, example: str) -> None:
    """Every number is one, within the bounds that the example states."""
    (output,) = parse(Pipeline, load_pipeline(EXAMPLES / example).body, within="pipeline").manifest.outputs
    assert len(found.numbers) == len(output.values)
    for number, value in zip(found.numbers, output.values, strict=True):
        assert value.lower <= number <= value.upper
    assert not found.dropped


@pytest.mark.parametrize("level", [0, pytest.param(1, marks=LEVELS), pytest.param(2, marks=LEVELS)])
def test_means_of_a_twin_of_the_heights(folder: Path, level: int) -> None:
    declaration = declared("heights", HEIGHTS)
    counts = counted(declaration, HEIGHTS, level=level) if level else {}
    found = ran("bids-means-python", declaration, folder, counts=counts, block_size=20)
    check(found, "bids-means-python")


@pytest.mark.parametrize("level", [pytest.param(0, marks=LEVELS), pytest.param(1, marks=LEVELS), 2])
def test_groups_of_a_twin_of_the_cohort(folder: Path, level: int) -> None:
    """Tables of counts, and each person's events from the declaration."""
    data = lent("openneuro_ds000030")
    declaration = declared("phenomics", data)
    counts = counted(declaration, data, level=level) if level else {}
    check(ran("phenotype-groups", declaration, folder, counts=counts, block_size=136), "phenotype-groups")


@pytest.fixture(scope="module")
def images(folder: Path) -> Path:
    store = folder / "images"
    for name in ("r", "octave"):
        add_image(base_archive(name), name=name, folder=store)
    return store


@LANGUAGES
@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("language", ["r", "octave"])
def test_means_in_other_languages(folder: Path, images: Path, language: str, level: int) -> None:
    declaration = declared("heights", HEIGHTS)
    counts = counted(declaration, HEIGHTS, level=level) if level else {}
    example = f"bids-means-{language}"
    check(ran(example, declaration, folder, counts=counts, block_size=20, images=images), example)


@LANGUAGES
@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_mixed_model_of_a_twin(folder: Path, images: Path, level: int) -> None:
    declaration = declared("reading-speed", SPEED)
    counts = counted(declaration, SPEED, level=level) if level else {}
    found = ran("mixed-effects-r", declaration, folder, counts=counts, block_size=500, images=images)
    check(found, "mixed-effects-r")
