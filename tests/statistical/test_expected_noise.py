"""Whoever is told before how far the noise moves a trusted query finds that in the releases: 200 of each kind
on known people, in how many the truth lies as near as was said, and how wide the released intervals are."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate
from typing import Any

import pytest
from factories import make_declaration

from domain.dataset import Declaration
from domain.model import parse
from domain.query import QueryRequest
from domain.query.expected import Expected, expected_noise
from privacy.mechanism import NoisedOutput
from privacy.trusted import TrustedQuery

RELEASES, PEOPLE = 200, 500
LEAST_COVERED = 180
"""Of 200 at 95 %, less often than once in a thousand."""
AGES = [18 + 77 * (place / PEOPLE) ** 1.3 for place in range(PEOPLE)]
SEXES = ["f", "m", "d"]


def declaration() -> Declaration:
    columns = [
        {"name": "participant_id", "kind": "person"},
        {"name": "age", "kind": "number", "lower": 0, "upper": 120, "typical": {"mean": 51.5, "sd": 16}},
        {"name": "sex", "kind": "categorical", "categories": SEXES},
    ]
    return make_declaration(nominal_size=PEOPLE, tables=[{"path": "participants.tsv", "columns": columns}])


def totals_of(query: TrustedQuery, ages: list[float]) -> list[int]:
    totals = [0] * query.width
    for age in ages:
        units = [int((Fraction(age) - grid.lower) / grid.step) for grid in query.grids]
        for place, amount in query.contribution(units).items():
            totals[place] += amount
    return totals


def asked(kind: str, epsilon: str, **fields: Any) -> QueryRequest:
    column = {} if kind == "count" else {"column": "age"}
    return parse(
        QueryRequest,
        {"dataset": "heights", "query": {"kind": kind, **column, **fields}, "epsilon": epsilon},
    )


def truth(kind: str, fields: dict[str, Any]) -> list[float]:
    if kind == "histogram":
        width = 120 / fields["bins"]
        return [sum(int(age // width) == place for age in AGES) for place in range(fields["bins"])]
    found = {"count": [PEOPLE], "sum": [sum(AGES)], "mean": [sum(AGES) / PEOPLE, PEOPLE]}
    return [float(each) for each in found[kind]]


@pytest.mark.parametrize(
    ("kind", "epsilon", "fields"),
    [
        ("count", "0.2", {}),
        ("sum", "0.5", {}),
        ("mean", "0.5", {}),
        ("mean", "0.1", {}),
        ("histogram", "0.3", {"bins": 6}),
    ],
)
def test_the_truth_lies_as_near_as_was_said_and_intervals_are_as_wide(
    kind: str, epsilon: str, fields: dict[str, Any]
) -> None:
    request = asked(kind, epsilon, **fields)
    query = request.mechanism_for(declaration())
    said, totals = expected_noise(request, declaration()), totals_of(query, AGES)
    releases = [query.release(totals) for _ in range(RELEASES)]
    for place, (each, true) in enumerate(zip(said, truth(kind, fields), strict=True)):
        outputs = [release[place] for release in releases]
        assert covered(outputs, each, true) >= LEAST_COVERED, each.name
        widths = sorted(float(output.half_width_95 or 0) for output in outputs)
        assert float(each.half_width) == pytest.approx(widths[RELEASES // 2], rel=0.1), each.name


def covered(outputs: list[NoisedOutput], said: Expected, true: float) -> int:
    # reading a value into whole steps of the grid moves a sum by less than a thousandth of the noise
    return sum(abs(float(output.value) - true) <= 1.001 * float(said.half_width) for output in outputs)


@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_a_quantile_misses_by_no_more_rows_than_was_said(epsilon: str) -> None:
    request = asked("quantile", epsilon, probabilities=["0.25", "0.5", "0.9"])
    query = request.mechanism_for(declaration())
    said, totals = expected_noise(request, declaration()), totals_of(query, AGES)
    below = [0, *accumulate(totals)]
    releases = [query.release(totals) for _ in range(RELEASES)]
    for place, each in enumerate(said):
        wanted = float(each.name.removeprefix("quantile ")) * PEOPLE
        ranks = [cell_ranks(release[place], query, below) for release in releases]
        missed = [max(0.0, low - wanted, wanted - high) for low, high in ranks]
        assert sum(miss <= float(each.half_width) for miss in missed) >= LEAST_COVERED, each.name
        # a bound, and no wider than it has to be by an order of magnitude
        assert sorted(missed)[int(0.95 * RELEASES)] > float(each.half_width) / 10, each.name


def cell_ranks(output: NoisedOutput, query: TrustedQuery, below: list[int]) -> tuple[int, int]:
    """Of the rows under the cell of a value, and up to it."""
    cell = int((output.value - query.grids[0].lower) / query.steps[0])
    return below[cell], below[cell + 1]


def test_groups_have_the_noise_of_their_share_of_the_people() -> None:
    (whole, _), (part, _) = (
        expected_noise(asked("mean", "1", **fields), declaration()) for fields in ({}, {"by": ["sex"]})
    )
    assert 2.5 < part.half_width / whole.half_width < 4


def test_what_is_not_known_before_is_not_told() -> None:
    assert expected_noise(asked("variance", "1"), declaration()) == ()
