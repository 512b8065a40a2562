"""Parts of the registration profile: bounded counts, power transform, proposals, and drafts that parse."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy import stats

from formats.yaml_text import read_yaml
from twins.profile import FoundTable, profile_table
from twins.profile.cells import kind_of
from twins.profile.draft import DraftTable, open_questions, write_draft
from twins.profile.power import best_power, transform
from twins.profile.proposals import Proposal, propose
from twins.profile.scale import instrument_for
from twins.profile.sketch import Frequent, Groups, RowSample, hash_of
from twins.profile.unit import find_unit


def table(**columns: list[Any]) -> FoundTable:
    rows = [tuple(map(str, row)) for row in zip(*columns.values(), strict=True)]
    return profile_table(lambda: (tuple(columns), iter(rows)), model=None)


def proposal(found: FoundTable, column: str, person: str | None = None) -> Proposal:
    return next(each for each in propose(found, person=person, dictionary={}) if each.column == column)


def test_the_transform_is_scipys(subtests: pytest.Subtests) -> None:
    for power in (-1.0, 0.0, 0.5, 1.0, 2.0, 3.0):
        with subtests.test(power=power):
            values = np.linspace(-3, 5, 41)
            assert np.allclose(transform(values, power), stats.yeojohnson(values, power))


@pytest.mark.parametrize("seed", range(3))
def test_the_power_is_scipys_where_the_spread_is_one(seed: int) -> None:
    values = np.random.default_rng(seed).gamma(2, size=500)
    values /= values.std()
    assert best_power(values) == pytest.approx(stats.yeojohnson_normmax(values), abs=1e-3)
    assert best_power(np.ones(50)) is None


def test_frequent_values_are_short_by_no_more_than_they_say() -> None:
    draw = random.Random(1)
    values = [f"v{int(draw.paretovariate(0.7)) % 5000}" for _ in range(20_000)]
    true, found = Counter(values), Frequent(200)
    for start in range(0, len(values), 500):
        found.add(Counter(values[start : start + 500]))
    assert len(found.counts) <= 200
    for value, count in true.items():
        assert count - found.short_by <= found.counts.get(value, 0) <= count


def test_groups_are_exact_while_there_is_room_and_fair_beyond() -> None:
    exact, sampled = Groups(5000), Groups(500)
    for number in range(4000):
        for _ in range(1 if number % 4 else 3):
            exact.add(hash_of(f"g{number}"))
            sampled.add(hash_of(f"g{number}"))
    assert (exact.number, exact.alone, exact.is_exact) == (4000, 3000, True)
    assert not sampled.is_exact
    assert sampled.number == pytest.approx(4000, rel=0.2)
    assert sampled.alone == pytest.approx(3000, rel=0.2)
    assert set(sampled.sizes) == {1, 3}  # whole groups are kept, none is cut


def test_a_sample_is_of_all_rows_alike_and_the_same_each_time() -> None:
    def drawn() -> list[int]:
        sample: RowSample[int] = RowSample(1000)
        for number in range(50_000):
            if sample.offers(number):
                sample.keep(number, number)
        return sample.rows

    rows = drawn()
    assert rows == sorted(rows) == drawn()
    assert len(rows) == 1000
    assert all(
        60 < sum(start <= row < start + 5000 for row in rows) < 140 for start in range(0, 50_000, 5000)
    )


KINDS_OF_CELLS = (
        ("0", "whole"), ("-12", "whole"), ("1.5", "decimal"), (".5", "decimal"), ("1e5", "decimal"),
        ("5.54563E+15", "decimal"), ("007", "padded"), ("1,5", "comma"), ("1.234,5", "comma"),
        ("1,234.5", "text"),
        ("2020-01-31", "date"), ("31/1/2020", "date_other"), ("2020-01-31T10:00:00Z", "zoned"),
        ("2020-01-31 10:00", "datetime"), ("31.1.2020 9:05", "datetime_other"),
        ("=1+1", "formula"), ("-A1", "formula"), ("+49", "whole"), ("e5", "text"), ("1 2", "text"),
        ("\u0661", "text"),
        ("1_000", "text"), ("inf", "text"), ("9" * 100_000, "text"), ("1" * 50 + "x", "text"),
)  # fmt: skip


def test_kinds_of_cells(subtests: pytest.Subtests) -> None:
    for text, kind in KINDS_OF_CELLS:
        with subtests.test(text=text, kind=kind):
            assert kind_of(text) == kind


def test_proposals_for_numbers() -> None:
    draw = random.Random(2)
    rows = 400
    found = table(
        gain=[0 if draw.random() < 0.6 else round(draw.lognormvariate(7, 2), 2) for _ in range(rows)],
        score=[draw.randrange(10, 60) if draw.random() < 0.95 else 999 for _ in range(rows)],
        MMSE_total=[draw.randrange(0, 31) for _ in range(rows)],
        group=[draw.randrange(1, 4) for _ in range(rows)],
        constant=["a"] * rows,
        empty=["n/a"] * rows,
    )
    gain = proposal(found, "gain")
    assert (gain.role, gain.is_log, gain.special_values, gain.bins) == ("number", True, (0.0,), 10)
    assert gain.power is not None
    assert any("999" in reason for reason in proposal(found, "score").reasons)
    instrument = proposal(found, "MMSE_total").instrument
    assert instrument is not None
    assert instrument.key == "mmse"
    assert proposal(found, "group").role == "categorical"
    assert proposal(found, "group").encoding == ("1", "2", "3")
    assert (proposal(found, "constant").role, proposal(found, "empty").role) == ("categorical", "leave")
    assert proposal(table(comma=[f"{row % 9},5" for row in range(rows)]), "comma").role == "number"


def test_names_that_speak_of_no_scale() -> None:
    assert instrument_for("Height") is not None
    assert instrument_for("heighten") is None
    assert instrument_for("passage") is None


def test_the_unit_is_the_table_that_others_point_at() -> None:
    people = table(id=[f"p{n}" for n in range(50)], age=list(range(50)))
    visits = table(id=[f"v{n}" for n in range(200)], patient=[f"p{n % 50}" for n in range(200)])
    other = table(id=[f"x{n}" for n in range(500)])
    unit = find_unit({"other.csv": other, "visits.csv": visits, "people.csv": people})
    assert unit.table == "people.csv"
    assert unit.people == {"people.csv": "id", "visits.csv": "patient"}
    assert find_unit({"a.csv": table(x=[1, 1, 2])}).table is None
    chosen = find_unit({"visits.csv": visits, "people.csv": people}, {"visits.csv": "id"})
    assert chosen.people.get("visits.csv") != "patient"


NASTY = [
    "a: b",
    "- x",
    "#y",
    "'q'",
    '"d"',
    "{z}",
    "ASK",
    "yes",
    "1.5",
    "é\u2028\x85",
    "back\\slash",
    "&a *b",
    "%",
    "@",
]


def test_a_draft_parses_whatever_columns_are_called() -> None:
    found = table(id=["a", "b", "c"], **{name: ["u", "v", "u"] for name in NASTY})
    proposals = propose(found, person="id", dictionary={})
    text = write_draft(
        [DraftTable("t: {.csv", found, proposals, is_one_row=True)],
        name="no slug!",
        layout="tables",
        unit="t: {.csv",
        profile_id="0" * 32,
        left_out={"evil\n- path: x": "why\nnot"},
    )
    content = read_yaml(text)
    assert [column["name"] for column in content["tables"][0]["columns"]] == ["id", *NASTY]
    assert [one["path"] for one in content["tables"]] == ["t: {.csv"]
    assert content["name"] == "ASK"
    places = [question.place for question in open_questions(content)]
    assert "nominal_size" in places
    assert "tables.t: {.csv.columns.a: b.categories" in places
    assert "tables.t: {.csv.columns.ASK.name" not in places  # a column that is called so
