"""What a preview says of correlations that two means over people would give with less error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from factories import column_fields, make_declaration, make_manifest, manifest_fields, table_fields

from domain.mechanism import SampleAggregateRequest
from domain.model import parse
from domain.output_value import grids_of
from domain.outputs import values_of
from domain.people import ColumnBounds
from domain.pipeline import Manifest
from domain.shape import Shape, lock
from dpgate.pipeline_folder import Lock, LockedRuns, PipelineFolder
from dpgate.preview import preview_blocks
from dpgate.preview_two_means import Better, NumberColumn, better_correlations, number_columns
from dpgate.proposal import propose, provisional

PEOPLE, BLOCK = 272, 8
HEIGHTS, WEIGHTS = (
    column.tolist()
    for column in np.random.default_rng(4).multivariate_normal((171, 70), ((81, 54), (54, 144)), PEOPLE).T
)
LIMITS = {"height": (120, 220), "weight": (20, 140), "iq": (40, 160)}
REQUEST = parse(SampleAggregateRequest, {"name": "sample_aggregate", "epsilon": "1", "block_size": BLOCK})
COLUMN: dict[str, Any] = {
    "column": "h", "name": "r", "aggregate": "correlation", "lower": 120, "upper": 220,
    "beside": {"column": "w", "lower": 20, "upper": 140},
}  # fmt: skip


@pytest.fixture(scope="module")
def columns(tmp_path_factory: pytest.TempPathFactory) -> tuple[NumberColumn, ...]:
    """Of a twin whose first person has no height."""
    twin = tmp_path_factory.mktemp("twin")
    iq = np.random.default_rng(5).normal(100, 15, PEOPLE).tolist()
    rows = [["n/a", *HEIGHTS], [60.0, *WEIGHTS], [100.0, *iq]]
    people = "".join(
        f"p{number}\t{h}\t{w}\t{q}\n" for number, (h, w, q) in enumerate(zip(*rows, strict=True))
    )
    (twin / "participants.tsv").write_text("participant_id\theight\tweight\tiq\n" + people)
    kinds = [
        column_fields(name=name, kind="number", lower=low, upper=high) for name, (low, high) in LIMITS.items()
    ]
    person = {"name": "participant_id", "kind": "person"}
    tables = [
        table_fields(columns=[person, *kinds]),
        table_fields(columns=[person, *kinds], path="not_there.tsv"),
        table_fields(columns=[person, *kinds], path="visits.tsv", rows_per_person="many"),
    ]
    declared = make_declaration(tables=tables, nominal_size=PEOPLE)
    strict = declared.model_copy(update={"policy": declared.policy.model_copy(update={"min_block_size": 3})})
    assert number_columns(strict, twin) == ()
    return number_columns(declared, twin)


def better(
    manifest: Manifest, shape: Shape, numbers: list[float], runs: list[Any], size: int, columns: Any = ()
) -> tuple[Better, ...]:
    grids = grids_of(values_of(manifest, shape))
    units = tuple(tuple(grid.snap(number) for grid, number in zip(grids, run, strict=True)) for run in runs)
    locked = Lock(
        dataset="heights", pipeline="p", block_size=size, nominal_size=PEOPLE, max_micro_epsilon=100_000,
        shape=shape, twin_numbers=tuple(numbers),
        twin_runs=(LockedRuns(plan="blocks", block_size=size, outputs=units),),
    )  # fmt: skip
    found = preview_blocks(REQUEST, manifest, locked, block_sizes=[size], aggregators=("clipped_mean",))
    many = locked.model_copy(update={"nominal_size": 10**7})
    assert better_correlations(found, REQUEST, manifest, many, columns=columns) == ()
    return better_correlations(found, REQUEST, manifest, locked, columns=columns)


def of_pipeline(number: float, columns: Sequence[NumberColumn]) -> tuple[Better, ...]:
    """That writes one number, which is this on the whole twin."""
    manifest = make_manifest(
        **manifest_fields(outputs=[{"file": "r.tsv", "values": [{"name": "r", "lower": -1, "upper": 1}]}])
    )
    shape = Shape(files=(lock(manifest.outputs[0], b"r\n0.5\n", {}),))
    blocks = [slice(start, start + BLOCK) for start in range(0, PEOPLE, BLOCK)]
    runs = [[float(np.corrcoef(HEIGHTS[block], WEIGHTS[block])[0, 1])] for block in blocks]
    return better(manifest, shape, [number], runs, BLOCK, columns)


def test_a_correlation_of_two_columns_of_the_twin_is_known_for_one(columns: tuple[NumberColumn, ...]) -> None:
    assert [(column.table, column.name) for column in columns] == [
        ("participants.tsv", name) for name in LIMITS
    ]
    truth = float(np.corrcoef(HEIGHTS, WEIGHTS)[0, 1])
    (found,) = of_pipeline(truth, columns)
    assert (found.entry["column"], found.entry["beside"]["column"]) == ("height", "weight")
    assert parse(ColumnBounds, found.entry).standards[0].bounds == LIMITS["height"]
    assert "r is, on the twin, the correlation of height and weight in participants.tsv." in found.words
    assert found.document["on_twin"] == pytest.approx(truth)
    folder = PipelineFolder(Path("nowhere"), manifest_fields(outputs=[{"file": "r.tsv"}]), ())
    outputs = propose(provisional(folder), {"r.tsv": f"r\tn\n{truth}\t2\n".encode()}, (), columns)
    told = [line for line in outputs.splitlines() if "the correlation of height and weight" in line]
    assert [line.split(",")[0] for line in told] == ["      - {name: r"]
    assert of_pipeline(truth + 1e-4, columns) == ()
    assert of_pipeline(truth, columns[1:]) == ()
    # of a spread a thousandth as wide as the bounds nobody knows whether it was meant
    assert of_pipeline(truth, [replace(columns[0], bounds=(0.0, 1e6)), *columns[1:]]) == ()


def test_five_means_are_told_of_two() -> None:
    manifest = make_manifest(
        **manifest_fields(outputs=[{"file": "g.tsv", "columns": [COLUMN]}], levels=["participant"])
    )
    rows = [f"{h}\t{w}\n" for h, w in zip(HEIGHTS, WEIGHTS, strict=True)]
    table = ("h\tw\n" + "".join(rows)).encode()
    shape = Shape(files=(lock(manifest.outputs[0], table, {}),))
    runs = [shape.read({"g.tsv": ("h\tw\n" + row).encode()}) for row in rows]
    whole = [float(number or 0) for number in shape.read({"g.tsv": table})]
    (found,) = better(manifest, shape, whole, runs, 1)
    assert "r is drawn as five means." in found.words
    assert found.document["instead"]["root_mean_square"] > 1.4 * found.document["error"]["root_mean_square"]
