"""Between which ranks a median lies: what is said holds, and says no more than follows."""

from __future__ import annotations

import base64
import json
import math
from fractions import Fraction
from typing import Any

import pytest
from factories import job_request_fields, make_declaration, mechanism_fields

from domain.job import JobRequest
from domain.model import parse
from domain.query import QueryRequest
from domain.query.expected import rank_words
from domain.rank_interval import missed_ranks, said_of_blocks
from domain.release import REMARKS
from dpgate import models
from dpgate.models import Release
from gateway.pages.release import _remarks
from privacy.median import MEDIAN, noisy_quantile, tally


def said(people: int = 600, **chosen: Any) -> str | None:
    asked = parse(JobRequest, job_request_fields(mechanism=mechanism_fields(**chosen)))
    mechanism: Any = asked.mechanism_for(make_declaration(nominal_size=people))
    return said_of_blocks(mechanism, [value.name for value in asked.values])


def test_a_median_of_blocks_lies_between_two_ranks_of_them() -> None:
    told = said(aggregator="median", epsilon="2", block_size=2)
    assert told is not None
    # 300 answers, 120 * 2^14 + 1 points: ln(20 points) = 17.49 ranks on either side of 150
    assert "mean_age lies between the 133rd smallest and the 168th smallest of the 300 answers" in told
    few = said(people=60, aggregator="median", epsilon="0.5", block_size=10)
    assert few is not None
    assert "may lie beyond all of the 6 answers of the runs, anywhere between its bounds" in few
    assert said(aggregator="clipped_mean") is None


@pytest.mark.parametrize("values", [tuple(range(0, 1000, 5)), (0,) * 100 + (1000,) * 100, (500,) * 200])
def test_it_holds_for_any_data(values: tuple[int, ...]) -> None:
    epsilon = Fraction(1, 2)
    most = missed_ranks(1001, epsilon=epsilon, moved=Fraction(1))
    missed = 0
    for _ in range(400):
        point = noisy_quantile(tally(values), cells=1000, quantile=MEDIAN, epsilon=epsilon, sensitivity=1)
        below = sum(value < point for value in values)
        upto = sum(value <= point for value in values)
        missed += max(0, below - 100, 100 - upto) > most
    assert missed <= 40  # 5 % would be 20, and this is more than four deviations beyond


def test_quantiles_of_rows_miss_their_ranks_by_what_the_preview_says() -> None:
    query = {"kind": "quantile", "column": "age", "probabilities": ["0.25", "0.5"]}
    asked = parse(QueryRequest, {"dataset": "heights", "query": query, "epsilon": "1"})
    told = rank_words(asked, make_declaration(nominal_size=100_000)) or ""
    width = getattr(asked.mechanism_for(make_declaration()), "width")  # noqa: B009 - of this kind alone
    ranks = math.floor(4 * 0.75 * math.log(width * 40))
    assert f"quantile 0.25 misses its rank by {ranks} rows at most" in told
    count = parse(QueryRequest, {"dataset": "heights", "query": {"kind": "count"}, "epsilon": "1"})
    assert rank_words(count, make_declaration()) is None


def test_whoever_reads_a_release_is_told() -> None:
    statement = {"predicate": {"mechanism": {"ranks": "By rank it has one."}}}
    payload = base64.b64encode(json.dumps(statement).encode()).decode()
    release: Any = type("Read", (), {"certificate": {"payload": payload}})()
    assert models.REMARKS == REMARKS
    assert _remarks(release) == ["By rank it has one."]
    release.stated = statement["predicate"]
    assert Release.remarks.fget(release) == ("By rank it has one.",)  # type: ignore[attr-defined]
