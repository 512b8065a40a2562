"""The answers of a demo over and over, without a platform: the same data, blocks, mechanisms and noise.

Which block a person is in is drawn anew each time, as for each job, and so is the noise.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from domain.mechanism import SampleAggregateRequest
from domain.model import parse
from domain.pipeline import OutputValue, Pipeline
from domain.query import QueryRequest
from dpgate.cli.declaration import load_declaration
from dpgate.demo.many_people import BLOCK_SIZE, PIPELINE_EPSILON, QUERY_EPSILON
from dpgate.demo.route import COLUMNS
from dpgate.demo.truth import GROUPS, true_hours, true_means
from dpgate.pipeline_folder import load_pipeline
from dpgate.query_file import TWIN_KEY
from privacy.mechanism import NoisedOutput
from privacy.partition import assign_blocks, canonical
from worker.scan.scan import scan
from worker.scan.source import plain_file

EXAMPLES = Path(__file__).parents[1] / "examples"
ADULT, HEIGHTS = EXAMPLES / "adult" / "data", EXAMPLES / "heights" / "data"
FEW_EPSILON = "2"
"""What the preview recommends for the heights, with blocks of one."""


@dataclass(frozen=True)
class Coverage:
    """Of one number of the demo: how often its interval held the truth, of so many times."""

    name: str
    held: int
    times: int


def query_coverage(times: int) -> list[Coverage]:
    """The trusted query: its exact sums are the same each time."""
    declaration = load_declaration(ADULT.parent / "dataset.yaml", ADULT)
    query = {"kind": "mean", "column": {"name": "hours"}, "by": ["sex", "income"]}
    request = parse(QueryRequest, {"dataset": "adult", "query": query, "epsilon": QUERY_EPSILON})
    totals = scan(plain_file(ADULT / "adult.csv"), request, declaration, key=TWIN_KEY)
    mechanism, names = request.mechanism_for(declaration), request.outputs(declaration)
    places = {name: names.index(f"{sex}, {income}: mean") for name, (sex, income) in GROUPS.items()}
    drawn = [mechanism.release(totals) for _ in range(times)]
    truth = true_hours(ADULT)
    return [
        _counted(name, [outputs[place] for outputs in drawn], truth[name]) for name, place in places.items()
    ]


def pipeline_coverage(times: int) -> list[Coverage]:
    """The means over blocks of the researcher's own pipeline."""
    people = _rows(ADULT / "adult.csv", ",")
    hours = np.array([float(one["hours"]) for one in people])
    columns = [
        np.where([(one["sex"], one["income"]) == group for one in people], hours, np.nan)
        for group in GROUPS.values()
    ]
    names = [one["person"] for one in people]
    values = _values("hours")
    drawn = _releases(names, columns, values, BLOCK_SIZE, PIPELINE_EPSILON, times)
    return _all_counted(values, drawn, true_hours(ADULT))


def few_coverage(times: int) -> list[Coverage]:
    """The means of sixty people in blocks of one."""
    people = _rows(HEIGHTS / "participants.tsv", "\t")
    columns = [
        np.array([float(one[column]) if one[column] != "n/a" else np.nan for one in people])
        for column in COLUMNS.values()
    ]
    names = [one["participant_id"] for one in people]
    values = _values("mean-height")
    drawn = _releases(names, columns, values, 1, FEW_EPSILON, times)
    truth = true_means(HEIGHTS, {value.name: value for value in values}, COLUMNS)
    return _all_counted(values, drawn, truth)


def _releases(
    names: Sequence[str],
    columns: Sequence[np.ndarray],
    values: Sequence[OutputValue],
    block_size: int,
    epsilon: str,
    times: int,
) -> list[tuple[NoisedOutput, ...]]:
    request = {"name": "sample_aggregate", "epsilon": epsilon, "block_size": block_size}
    mechanism = parse(SampleAggregateRequest, request).build(values, nominal_size=len(names))
    ids = [canonical(name).decode() for name in names]
    found = []
    for time in range(times):
        key = hashlib.sha256(b"demo %d" % time).digest()
        blocks = np.array(assign_blocks(ids, key=key, blocks=mechanism.blocks, people=len(names)))
        means = [_means(column, blocks, mechanism.blocks) for column in columns]
        outputs = [
            tuple(
                default if np.isnan(mean) else grid.snap(float(mean))
                for mean, grid, default in zip(one, mechanism.grids, mechanism.default(run), strict=True)
            )
            for run, one in enumerate(zip(*means, strict=True))
        ]
        found.append(mechanism.release(outputs))
    return found


def _means(column: np.ndarray, blocks: np.ndarray, count: int) -> np.ndarray:
    """The mean of the known values of each block; NaN where nobody has one."""
    known = ~np.isnan(column)
    sums = np.bincount(blocks[known], column[known], count)
    sizes = np.bincount(blocks[known], minlength=count)
    return np.divide(sums, sizes, out=np.full(count, np.nan), where=sizes > 0)


def _values(example: str) -> tuple[OutputValue, ...]:
    (output,) = parse(Pipeline, load_pipeline(EXAMPLES / example).body).manifest.outputs
    return output.values


def _all_counted(
    values: Sequence[OutputValue], drawn: Sequence[tuple[NoisedOutput, ...]], truth: Mapping[str, float]
) -> list[Coverage]:
    return [
        _counted(value.name, [outputs[place] for outputs in drawn], truth[value.name])
        for place, value in enumerate(values)
    ]


def _counted(name: str, outputs: Sequence[NoisedOutput], truth: float) -> Coverage:
    held = 0
    for output in outputs:
        assert output.half_width_95 is not None
        held += abs(float(output.value) - truth) <= float(output.half_width_95)
    return Coverage(name, held, len(outputs))


def _rows(path: Path, delimiter: str) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))
