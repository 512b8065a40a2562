"""Curves on public knots: the basis, what is locked, what is read of a run, what is written of a release."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from factories import make_manifest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.interpolate import BSpline

from domain.errors import InvalidRequest, PipelineError
from domain.model import parse
from domain.outputs import values_of
from domain.pipeline import OutputFile
from domain.shape import CurveShape, Shape, lock
from domain.splines import basis, coefficients_of, determines

KNOTS = [0, 10, 20, 40]
CURVE = {"name": "power", "axis": "hz", "value": "db", "knots": KNOTS, "lower": -5, "upper": 5}
POINTS = [place / 2 for place in range(81)]


def output(**changes: Any) -> OutputFile:
    return parse(OutputFile, {"file": "curve.csv", "curve": CURVE | changes})


def written(values: Any, points: Any = POINTS, head: str = "hz,db,note") -> bytes:
    rows = "".join(f"{point!r},{float(value)!r},x\n" for point, value in zip(points, values, strict=True))
    return f"{head}\n{rows}".encode()


def locked(**changes: Any) -> CurveShape:
    shape = lock(output(**changes), written(np.sin(np.array(POINTS) / 9)), {})
    assert isinstance(shape, CurveShape)
    return shape


@given(
    st.lists(st.integers(-50, 50), min_size=2, max_size=9, unique=True).map(sorted),
    st.integers(0, 5),
    st.lists(st.floats(0, 1), min_size=1, max_size=20),
)
def test_the_basis_is_that_of_another_program_and_adds_up_to_one(
    knots: list[int], degree: int, shares: list[float]
) -> None:
    points = [knots[0] + share * (knots[-1] - knots[0]) for share in (*shares, 0.0, 1.0)]
    found = basis(points, knots, degree)
    assert found.shape == (len(points), coefficients_of(knots, degree))
    assert found.min() >= 0
    assert found.sum(axis=1) == pytest.approx(1)
    ends = [knots[0]] * degree + knots + [knots[-1]] * degree
    assert found == pytest.approx(BSpline.design_matrix(points, ends, degree).toarray(), abs=1e-12)


def test_a_curve_is_read_as_its_coefficients_and_written_as_itself() -> None:
    shape, coefficients = locked(), np.array([1.0, -2.0, 0.5, 3.0, -1.0, 2.0])
    assert shape.numbers == len(coefficients)
    curve = basis(POINTS, KNOTS, 3) @ coefficients
    assert shape.read(written(curve)) == pytest.approx(coefficients.tolist())
    head, *rows = shape.write([repr(float(one)) for one in coefficients]).decode().splitlines()
    assert head == "hz,db"
    assert [row.partition(",")[0] for row in rows] == [repr(point) for point in POINTS]
    assert [float(row.partition(",")[2]) for row in rows] == pytest.approx(curve.tolist(), abs=1e-8)
    with pytest.raises(ValueError, match="holds 6 numbers, got 5"):
        shape.write(["0"] * 5)


def test_a_curve_off_the_basis_is_the_closest_one() -> None:
    rough = np.random.default_rng(1).normal(size=len(POINTS))
    expected = np.linalg.lstsq(basis(POINTS, KNOTS, 3), rough, rcond=None)[0]
    assert locked().read(written(rough)) == pytest.approx(expected.tolist())


def test_the_values_of_a_curve_have_its_bounds() -> None:
    manifest = make_manifest(outputs=[output().model_dump(mode="json")])
    shape = Shape(files=(locked(),))
    shape.check_fits(manifest)
    values = values_of(manifest, shape)
    assert [value.name for value in values] == [f"power-{place}" for place in range(1, 7)]
    assert {(value.lower, value.upper) for value in values} == {(-5, 5)}
    assert parse(Shape, shape.model_dump(mode="json")) == shape
    other = make_manifest(outputs=[output(knots=[0, 40]).model_dump(mode="json")])
    with pytest.raises(ValueError, match="another curve"):
        shape.check_fits(other)
    assert shape.files[0].addresses[0] == "coefficient 1"


def test_a_missing_value_is_a_missing_curve() -> None:
    content = written(POINTS).replace(b"1.0,1.0,x", b"1.0,n/a,x", 1)
    assert locked().read(content) == [None] * 6
    huge = written([1.7e308] * len(POINTS))
    assert None in locked().read(huge)


OTHER_FILES = (
    (written(POINTS[:-1], POINTS[:-1]), "another axis"),
    (written(POINTS, [point + 1 for point in POINTS]), "another axis"),
    (written(POINTS).replace(b"\n1.0,", b"\nx,", 1), "another axis"),
    (written(POINTS, head="hz,level,note"), "no column db, or has it twice"),
    (written(POINTS, head="hz,db,db"), "no column db, or has it twice"),
    (written(POINTS) + b"1,2\n", "rows of another length"),
    (b"\xff", "not UTF-8"),
    (b"", "no column hz"),
)


def test_another_file_is_a_failed_run(subtests: pytest.Subtests) -> None:
    for content, said in OTHER_FILES:
        with subtests.test(said=said), pytest.raises(PipelineError, match=said):
            locked().read(content)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"knots": [0, 20]}, "knots must reach"),
        ({"knots": [0, 0.1, 0.2, 0.3, 40]}, "do not determine"),
        ({"knots": [float(k) / 4 for k in range(161)]}, "do not determine"),
        ({"knots": [0, 10, 10.0001, 10.0002, 10.5, 40], "degree": 1}, "do not determine"),
        ({"axis": "time"}, "no column time"),
    ],
)
def test_a_basis_that_does_not_fit_the_axis_has_no_lock(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(PipelineError, match=said):
        lock(output(**changes), written(POINTS), {})


def test_an_axis_that_is_no_number_has_no_lock() -> None:
    with pytest.raises(PipelineError, match=r"curve\.csv"):
        lock(output(), written(POINTS).replace(b"\n1.0,", b"\nx,", 1), {})


def test_a_column_with_the_delimiter_has_no_shape() -> None:
    fields = locked().model_dump() | {"curve": CURVE | {"axis": "a,b"}}
    with pytest.raises(ValueError, match="holds the delimiter"):
        CurveShape.model_validate(fields)


BAD: tuple[tuple[dict[str, Any], str], ...] = (
    ({"knots": [0]}, "needs 2 entries or more"),
    ({"knots": [0, 10, 10]}, "knots must rise"),
    ({"knots": list(range(400)), "degree": 3}, "at most 400 coefficients"),
    ({"degree": 6}, "is above 5."),
    ({"lower": 5}, "lower must be less than upper"),
)


def test_what_is_no_curve_is_refused(subtests: pytest.Subtests) -> None:
    for changes, said in BAD:
        with subtests.test(said=said), pytest.raises(InvalidRequest, match=said):
            output(**changes)
    fields = {"file": "curve.csv", "curve": CURVE}
    for more, said in (
        ({"constants": ["column:hz"]}, "have no constants"),
        ({"file": "curve.json"}, "curve is for .tsv, .csv and .txt files"),
        ({"values": [{"name": "a", "lower": 0, "upper": 1}]}, "keep one of them"),
    ):
        with subtests.test(said=said), pytest.raises(InvalidRequest, match=said):
            parse(OutputFile, fields | more)


@given(
    st.lists(st.integers(0, 12), min_size=2, max_size=6, unique=True).map(sorted),
    st.integers(0, 3),
    st.lists(st.integers(0, 24), min_size=1, max_size=12),
)
@example([0, 1, 2], 1, [2, 3, 4])  # where the first B-spline ends it is 0
def test_points_determine_a_curve_exactly_where_the_basis_has_full_rank(
    knots: list[int], degree: int, halves: list[int]
) -> None:
    points = [half / 2 for half in halves if knots[0] <= half / 2 <= knots[-1]]
    rank = np.linalg.matrix_rank(basis(points, knots, degree)) if points else 0
    assert determines(points, knots, degree) == (rank == coefficients_of(knots, degree))


@pytest.mark.parametrize("outside", [-0.5, 40.5])
def test_a_point_beyond_either_end_of_the_knots_is_refused(outside: float) -> None:
    with pytest.raises(ValueError, match="knots must reach from the least to the largest"):
        basis([5, outside], KNOTS, 2)


def test_a_shape_that_is_hardly_regular_fails_its_runs_without_a_number() -> None:
    shape = CurveShape.model_construct(
        file="c.csv", axis=("0", "1"), curve=output(knots=[0, 1, 2], degree=1).curve
    )
    with pytest.raises(PipelineError, match="2 points of the axis do not determine 3 coefficients"):
        shape.read(b"hz,db\n0,1\n1,2\n")


def test_more_curves_than_a_release_holds_are_refused() -> None:
    fields = locked().model_dump(mode="json")
    Shape.model_validate({"files": [fields] * 16})
    with pytest.raises(ValueError, match="more than 16 curves"):
        Shape.model_validate({"files": [fields] * 17})
