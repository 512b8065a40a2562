"""Counts for twins with a delta: what they cost and promise, and what is refused before that."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from factories import column_fields, make_dataset, make_declaration, table_fields

from domain.admission import check_policy
from domain.dataset import Dataset, Declaration
from domain.errors import InvalidRequest, NotAllowed
from domain.loss import texts
from domain.model import parse
from domain.twin import README, TableCounts
from domain.twin.basis import TwinBasis
from domain.twin.plan import TwinPlan
from domain.twin.request import FILE, PlanOrder, TwinOrder, TwinRequest
from privacy.concentrated import largest_pico_rho
from privacy.cost import PICO
from privacy.loss import GuaranteeClass
from privacy.twin import GaussianColumns, GaussianPatterns
from twins.drawn.draw import draw_twin
from worker.scan.chunk import pack_sums
from worker.twin.answer import draw_counts

TABLE = "participants.tsv"
DELTA = "0.000000001"
PERSON = {"name": "participant_id", "kind": "person"}
VISITS = {
    "path": "visits.csv", "rows_per_person": "many",
    "columns": [PERSON, {"name": "score", "kind": "integer", "lower": 0, "upper": 9}],
}  # fmt: skip
BOTH = ("pure_dp", "approx_dp")


def made(*tables: dict[str, Any], **fields: Any) -> TwinRequest:
    order = {"dataset": "heights", "tables": list(tables) or [{"path": TABLE}], "delta": DELTA, **fields}
    return parse(TwinRequest, order)


def given(guarantees: tuple[str, ...] = BOTH, **fields: Any) -> Declaration:
    policy = {"data_users": ["ada"], "guarantees": list(guarantees)}
    known = {"tables": [table_fields(), VISITS], "budget_delta": "0.00001", "nominal_size": 5000}
    return make_declaration(policy=policy, **{**known, **fields})


def held(declaration: Declaration) -> Dataset:
    return make_dataset(declaration=declaration)


def plan(*tables: dict[str, Any], declaration: Declaration | None = None, **fields: Any) -> TwinPlan:
    return made(*tables, **fields).plan(declaration or given())


def test_without_a_delta_everything_reads_and_digests_as_it_did() -> None:
    """Written down when there was no delta: what is on record keeps its digests."""
    pure = parse(TwinRequest, {"dataset": "heights", "tables": [{"path": TABLE}]})
    assert pure.model_dump(mode="json") == {
        "tables": [{"path": TABLE, "level": 1, "columns": []}],
        "epsilon": "1",
        "rows": 1,
        "beyond_share": False,
        "again": False,
        "dataset": "heights",
    }
    assert pure.choices() == {"epsilon": "1", "tables": [{"path": TABLE, "level": 1}]}
    assert pure.question(dataset_id="d-1") == (
        "sha256:a4f31eefdcec93456808ad56dea1049c33faee151f67a70c55b740a3a21a5af3"
    )
    assert pure.guarantee is GuaranteeClass.PURE_DP


def test_a_delta_is_another_question_and_another_promise() -> None:
    pure = parse(TwinRequest, {"dataset": "heights", "tables": [{"path": TABLE}]})
    asked = {one.question(dataset_id="d-1") for one in (pure, made(), made(delta="0.00000001"))}
    assert len(asked) == 3
    assert made(delta=1e-9).question(dataset_id="d-1") in asked
    assert made().guarantee is GuaranteeClass.APPROX_DP
    assert made().choices() == {"epsilon": "1", "delta": DELTA, "tables": [{"path": TABLE, "level": 1}]}
    # a second set is a second set, whatever its noise
    assert made().once_key(snapshot="s") == pure.once_key(snapshot="s")
    assert parse(TwinRequest, made().model_dump(mode="json")) == made()
    assert parse(PlanOrder, {"tables": [{"path": TABLE}], "delta": DELTA}).to_make().delta == DELTA


def test_epsilon_and_delta_are_taken_once_for_all_tables() -> None:
    request = made({"path": TABLE, "level": 2}, {"path": "visits.csv"}, rows=3)
    check_policy(request, held(given()))
    assert texts(request.cost(given())) == {"epsilon": "1", "delta": DELTA}
    (_, patterns), (_, columns) = request.counted(given())
    assert isinstance(patterns, GaussianPatterns)
    assert isinstance(columns, GaussianColumns)
    assert (patterns.rows, columns.rows) == (1, 3)
    whole = Fraction(largest_pico_rho(Fraction(1), 10**9), PICO)
    assert whole - Fraction(4, PICO) < patterns.rho + columns.rho < whole
    assert request.plan(given()).guarantee == "approx_dp"


def test_accounts_of_rho_are_charged_its_rho() -> None:
    zcdp = given(accounting="zcdp", budget_delta="0.000001")
    ((_, mechanism),) = made().counted(zcdp)
    assert Fraction(texts(made().cost(zcdp))["rho"]) == mechanism.rho


WHAT_IS_NO_DELTA_IS_REFUSED_AT_THE_EDGE = (
    "0",
    "-0.000001",
    -1e-9,
    "nan",
    "inf",
    "much",
    True,
    "1e-19",
    "1e-400",
    {},
)


def test_what_is_no_delta_is_refused_at_the_edge(subtests: pytest.Subtests) -> None:
    for delta in WHAT_IS_NO_DELTA_IS_REFUSED_AT_THE_EDGE:
        with subtests.test(delta=delta):
            with pytest.raises(InvalidRequest) as caught:
                parse(TwinOrder, {"tables": [{"path": TABLE}], "delta": delta})
            assert caught.value.problems[0].field == "delta"


A_DELTA_THAT_DOES_NOT_FIT_IS_REFUSED_WITH_ITS_FIELD = (
    ({"delta": "0.0001"}, {}, "a tenth of one in the nominal size"),
    ({"delta": "0.02"}, {}, "a tenth of one in the nominal size"),
    ({}, {"budget_delta": None}, "no budget_delta to take it from"),
    ({"epsilon": "31"}, {"budget_epsilon": "500"}, "an epsilon of at most 30"),
    ({"delta": "0.0000021"}, {}, "over a fifth of the budget"),
    ({"epsilon": "0.001", "delta": "0.000000000000000001"}, {"nominal_size": 10}, None),
)


def test_a_delta_that_does_not_fit_is_refused_with_its_field(subtests: pytest.Subtests) -> None:
    for fields, declared, said in A_DELTA_THAT_DOES_NOT_FIT_IS_REFUSED_WITH_ITS_FIELD:
        with subtests.test(fields=fields, declared=declared, said=said):
            request, dataset = made(**fields), held(given(**declared))
            if said is None:
                check_policy(request, dataset)  # tiny, and still a promise that can be kept
                continue
            with pytest.raises(InvalidRequest) as caught:
                check_policy(request, dataset)
            assert caught.value.problems[0].field == "delta"
            assert said in caught.value.problems[0].problem


def test_a_policy_that_does_not_name_the_class_refuses() -> None:
    with pytest.raises(NotAllowed, match="promises approx_dp"):
        check_policy(made(), held(given(("pure_dp",))))
    check_policy(made(), held(given(("approx_dp",))))


def test_both_prices_of_a_plan_and_what_replacing_somebody_costs() -> None:
    found = plan({"path": TABLE, "level": 2})
    assert {str(currency) for currency, _ in found.cost or ()} == {"epsilon", "delta"}
    assert "epsilon and delta for the first, 2 epsilon and (1 + e^epsilon) delta" in " ".join(found.warnings)


def test_few_columns_are_told_that_a_delta_does_not_pay() -> None:
    wide = [PERSON, *(column_fields(name=f"c{at}") for at in range(40))]
    many = given(tables=[table_fields(columns=wide)])
    told = [" ".join(plan(declaration=one).warnings) for one in (given(), many)]
    assert ["less noise without a delta" in each for each in told] == [True, False]


def test_many_columns_have_less_error_with_a_delta() -> None:
    wide = [PERSON, *(column_fields(name=f"c{at}") for at in range(40))]
    declaration = given(tables=[table_fields(columns=wide)])
    pure = parse(TwinRequest, {"dataset": "heights", "tables": [{"path": TABLE}]}).plan(declaration).tables[0]
    found = plan(declaration=declaration).tables[0]
    assert found.predicted_tv1 is not None
    assert pure.predicted_tv1 is not None
    assert found.predicted_tv1 < 0.8 * pure.predicted_tv1


def test_the_level_rule_goes_by_what_a_table_gets() -> None:
    alone = parse(PlanOrder, {"delta": DELTA}).plan(given(tables=[table_fields()])).tables[0]
    assert (alone.level, type(alone.mechanism)) == (2, GaussianPatterns)
    assert (
        parse(PlanOrder, {"delta": DELTA}).plan(given(tables=[table_fields()], nominal_size=60)).cost is None
    )
    assert parse(PlanOrder, {"delta": DELTA}).plan(given(nominal_size=60)).guarantee is None


def test_what_a_twin_says_of_itself() -> None:
    request, declaration = made({"path": TABLE, "level": 2}), given()
    counts = {}
    for planned, mechanism in request.counted(declaration):
        counts[planned.path] = TableCounts(planned.counted, mechanism.release([3] * mechanism.width), 2)
    text = draw_twin(declaration, TwinBasis("counts-1", request), counts, seed=4)[README].decode()
    for fact in ("approx_dp", f"epsilon 1, delta {DELTA}", "counts-1"):
        assert fact in text
    assert "pure_dp" not in text


def test_the_release_says_its_class_its_noise_and_its_rho() -> None:
    request, declaration = made({"path": TABLE, "level": 2}), given()
    ((_, mechanism),) = request.counted(declaration)
    drawn = draw_counts(request, declaration, pack_sums([10] * mechanism.width))
    assert drawn.guarantee is GuaranteeClass.APPROX_DP
    said = drawn.parameters["tables"][TABLE]
    assert (said["level"], said["noise"], Fraction(said["rho"])) == (2, "discrete_gaussian", mechanism.rho)
    assert "micro_epsilon" not in said
    assert json.loads(drawn.files[FILE])["tables"][TABLE]["counts"]["noise"] == "gaussian"
