"""The points of a released curve in a table: where they lie, and that their intervals hold."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from factories import make_release
from test_curve_shape import POINTS, locked

from domain.curve_points import curve_points
from domain.release import ReleasedValue
from domain.shape import Shape
from gateway.pages.release import as_csv

RAW = (1.0, -2.0, 6.5, 3.0, -1.0, 2.0)  # the third beyond its bounds


def values(*, scale: float = 1.0, has_interval: bool = True) -> tuple[ReleasedValue, ...]:
    halves = [scale * (1 + place / 10) if has_interval else None for place in range(len(RAW))]
    return tuple(
        ReleasedValue(
            name=f"power.coefficient {place + 1}",
            value=value,
            projected=5.0 if value > 5 else None,
            grid_step=0.25,
            lower_95=None if half is None else value - half,
            upper_95=None if half is None else value + half,
        )
        for place, (value, half) in enumerate(zip(RAW, halves, strict=True))
    )


def test_points_are_those_of_the_file_between_the_curves_of_the_ends() -> None:
    shape, found = locked(), values()
    points = list(curve_points(Shape(files=(shape,)), found))
    file = shape.write([str(number) for number in RAW]).decode().splitlines()[1:]
    assert [point.value for point in points] == pytest.approx([float(row.split(",")[1]) for row in file])
    for name, room in (("lower_95", -0.5), ("upper_95", 0.5)):
        ends = shape.at_axis([getattr(value, name) for value in found])
        assert [getattr(point, name) - room for point in points] == pytest.approx(ends)
    assert max(point.projected for point in points) <= 5 < max(point.value for point in points) + 1
    assert points[0].name == "power hz=0.0"
    plain = list(curve_points(Shape(files=(shape,)), values(has_interval=False)))
    assert {(point.lower_95, point.upper_95) for point in plain} == {(None, None)}


def test_a_table_has_them_after_the_values() -> None:
    release = make_release(job_id="job-1", values=values())
    rows = list(csv.DictReader(io.StringIO(as_csv(release, Shape(files=(locked(),))))))
    assert [row["computed"] for row in rows] == [""] * len(RAW) + ["curve of curve.csv"] * len(POINTS)
    assert {row["guarantee"] for row in rows} == {"pure_dp"}
    assert all(float(row["lower_95"]) < float(row["value"]) < float(row["upper_95"]) for row in rows)
    assert len(list(csv.DictReader(io.StringIO(as_csv(release))))) == len(RAW)


Law = Callable[[int], np.ndarray]
REACH = np.arange(-30, 31)


def geometric(scale: int) -> np.ndarray:
    """P of a pair by two draws of their own, up to a factor."""
    one, other = np.exp(-np.abs(REACH) / scale), np.exp(-np.abs(REACH) / (2 * scale))
    return np.outer(one, other)


def gaussian(scale: int) -> np.ndarray:
    one, other = (np.exp(-((REACH / each) ** 2) / 2) for each in (scale, 2 * scale))
    return np.outer(one, other)


def box(scale: int) -> np.ndarray:
    """The joint noise of a box whose second side is twice the first."""
    least = np.maximum(np.abs(REACH)[:, None], np.ceil(np.abs(REACH)[None, :] / 2))
    return np.exp(-least / scale)


@pytest.mark.parametrize("law", [geometric, gaussian, box])
def test_an_interval_holds_at_least_as_often_as_that_of_a_coefficient(law: Law) -> None:
    """By enumeration, for weights, scales and levels: two steps are enough, and none are not."""
    is_needed = False
    for scale, weight in product((1, 2, 4), (0.1, 0.3, 0.5, 0.8)):
        chance = law(scale) / law(scale).sum()
        point = np.abs(weight * REACH[:, None] + (1 - weight) * REACH[None, :])
        of_first, of_second = chance.sum(axis=1), chance.sum(axis=0)
        for level in (0.5, 0.8, 0.95):
            halves = [half_width(each, level) for each in (of_first, of_second)]
            half = weight * halves[0] + (1 - weight) * halves[1]
            assert chance[point <= half + 2].sum() >= level
            is_needed |= bool(chance[point <= half - 1].sum() < level)
    assert is_needed


def half_width(chances: np.ndarray, level: float) -> int:
    return next(half for half in range(61) if chances[np.abs(REACH) <= half].sum() >= level)
