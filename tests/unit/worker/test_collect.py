"""Hostile outputs become bounded integers or a failed run, and every sealed output has the same length."""

from __future__ import annotations

import pytest
from declared_columns import correlations
from factories import make_declaration, make_job_request
from hypothesis import given
from hypothesis import strategies as st

from domain.mechanism import PacRequest, SampleAggregateRequest, StabilityRequest
from domain.output_value import grids_of
from domain.pipeline import OutputFile, OutputValue
from domain.shape import Shape, TextShape, lock
from privacy.grid import OutputGrid
from worker.collect import collect, default_of, output_context, pack, unpack

GRIDS = (OutputGrid.build(0, 120), OutputGrid.build(-1, 1))
SHAPE = Shape(files=(TextShape(file="result.tsv", rows=(("age", "slope"), (None, None))),))
DEFAULT = (3, 7)


def collected(content: bytes) -> tuple[int, ...] | None:
    return collect({"result.tsv": content}, shape=SHAPE, grids=GRIDS, default=DEFAULT)


def test_numbers_become_grid_units() -> None:
    found = collected(b"age\tslope\n30\t0.5\n")
    assert found is not None
    assert [float(g.value(u)) for g, u in zip(GRIDS, found, strict=True)] == pytest.approx(
        [30, 0.5], abs=1e-4
    )


ANOTHER_SHAPE_IS_A_FAILED_RUN = (
    None,
    {},
    {"other.tsv": b"age\tslope\n30\t0.5\n"},
    {"result.tsv": b""},
    {"result.tsv": b"age\tslope\n30\t0.5\t7\n"},
    {"result.tsv": b"age\tslope\n30\t0.5\n1\t2\n"},
    {"result.tsv": b"age\tslope\n30 0.5\n"},
    {"result.tsv": b"\xff\xfe\x00"},
    {"result.tsv": b"\t\n" * 40_000},
    {"result.tsv": b"age\tslope\n" + b"1" * 70_000 + b"\t1\n"},
    {"result.tsv": b"\x00" * 100},
)


def test_another_shape_is_a_failed_run(subtests: pytest.Subtests) -> None:
    for outputs in ANOTHER_SHAPE_IS_A_FAILED_RUN:
        with subtests.test(outputs=outputs):
            assert collect(outputs, shape=SHAPE, grids=GRIDS, default=DEFAULT) is None


A_CELL_WITHOUT_A_NUMBER_TAKES_ITS_DEFAULT = (
    b"nan",
    b"inf",
    b"-Infinity",
    b"n/a",
    b"",
    b"1e999",
    b"0x1f",
    b"1_000",
    b"1,5",
    b"\xd9\xa3",
    b"30 ",
)


def test_a_cell_without_a_number_takes_its_default(subtests: pytest.Subtests) -> None:
    for cell in A_CELL_WITHOUT_A_NUMBER_TAKES_ITS_DEFAULT:
        with subtests.test(cell=cell):
            found = collected(b"age\tslope\n" + cell + b"\t1\n")
            assert found == (DEFAULT[0], GRIDS[1].cells)


@pytest.mark.parametrize(
    ("cell", "units"), [(b"1e308", GRIDS[0].cells), (b"-1e308", 0), (b"121", GRIDS[0].cells)]
)
def test_a_number_outside_the_bounds_is_moved_to_them(cell: bytes, units: int) -> None:
    found = collected(b"age\tslope\n" + cell + b"\t0\n")
    assert found is not None
    assert found[0] == units


def test_labels_cannot_carry_anything() -> None:
    """What stands where the twin had a label is not even looked at."""
    assert collected(b"sub-7\tsecret\n30\t0\n") == collected(b"age\tslope\n30\t0\n")


@given(st.binary(max_size=300))
def test_any_bytes_are_none_or_a_point_of_the_grids(content: bytes) -> None:
    found = collected(content)
    assert found is None or all(
        type(u) is int and 0 <= u <= grid.cells for u, grid in zip(found, GRIDS, strict=True)
    )


def output_values(output: OutputFile) -> list[OutputValue]:
    return [value for column in output.columns for value in column.values]


def test_what_takes_the_next_runs_turn_to_read_is_a_failed_run() -> None:
    output = OutputFile.model_validate({"file": "result.tsv", "columns": correlations(80)})
    shape = Shape(files=(lock(output, b"x\ty\n1\t0\n0\t1\n", {}),))
    grids = tuple(OutputGrid.build(value.lower, value.upper) for value in output_values(output))
    found = [
        collect(
            {"result.tsv": b"x\ty\n" + b"1\t0\n" * rows}, shape=shape, grids=grids, default=(0,) * len(grids)
        )
        for rows in (100, 400)
    ]
    assert [each is None for each in found] == [False, True]


@given(st.none() | st.tuples(*(st.integers(0, grid.cells) for grid in GRIDS)))
def test_packed_outputs_have_one_length_and_come_back(units: tuple[int, ...] | None) -> None:
    packed = pack(units, width=2)
    assert len(packed) == 17
    assert unpack(packed) == units


def test_the_context_names_job_and_run() -> None:
    places = {output_context(job, block) for job in ("job-1", "job-11") for block in (1, 11, 111)}
    assert len(places) == 6


def test_the_factories_request_is_collected_with_its_own_shape() -> None:
    request = make_job_request()
    mechanism = request.mechanism_for(make_declaration())
    content = {"result.tsv": b"mean_age\n41\n"}
    found = collect(content, shape=request.shape, grids=mechanism.grids, default=default_of(mechanism, 0))
    assert found is not None


def test_the_default_of_a_cell_is_the_mechanisms_own() -> None:
    """A median's alternate between the bounds, so that failures leave its rank where it is."""
    values = make_job_request().values
    (grid,) = grids_of(values)
    choices = [
        SampleAggregateRequest(name="sample_aggregate", epsilon="1"),
        SampleAggregateRequest(name="sample_aggregate", epsilon="1", aggregator="median"),
        PacRequest(name="pac", nats="0.1"),
        StabilityRequest(name="stability_calibrated", noise_multiplier=1),
    ]
    found = [[default_of(chosen.build(values, nominal_size=60), run) for run in (0, 1)] for chosen in choices]
    assert found[1] == [(0,), (grid.cells,)]
    assert found[0] == found[2] == found[3] == [(grid.middle,)] * 2
