"""Orders of counts for twins: what they cost and ask, and what is refused before anything is reserved."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from factories import make_dataset, make_declaration, table_fields
from pydantic import TypeAdapter, ValidationError

from domain.admission import check_policy, needs_approval, needs_review
from domain.dataset import Declaration
from domain.errors import InvalidRequest, NotAllowed
from domain.job import AnyRequest, JobRequest, UserRequest
from domain.loss import texts
from domain.model import parse
from domain.twin import README, TableCounts
from domain.twin.basis import BLANK, TwinBasis
from domain.twin.cells import cell_count
from domain.twin.plan import MAX_CELLS
from domain.twin.request import MAX_WIDTH, TwinOrder, TwinRequest
from privacy.cost import Currency
from privacy.loss import GuaranteeClass
from twins.drawn.draw import draw_twin

TABLE = "participants.tsv"
VISITS = {
    "path": "visits.csv",
    "rows_per_person": "many",
    "columns": [
        {"name": "participant_id", "kind": "person"},
        {"name": "score", "kind": "integer", "lower": 0, "upper": 9},
    ],
}


def made(*tables: dict[str, Any], **fields: Any) -> TwinRequest:
    order = {"dataset": "heights", "tables": list(tables) or [{"path": TABLE}], **fields}
    return parse(TwinRequest, order)


def given(**fields: Any) -> Declaration:
    return make_declaration(**{"tables": [table_fields(), VISITS], **fields})


def refused(request: TwinRequest, declaration: Declaration) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        check_policy(request, make_dataset(declaration=declaration))
    return caught.value


def test_epsilon_is_divided_exactly_over_the_tables() -> None:
    request = made({"path": TABLE, "level": 2}, {"path": "visits.csv"}, epsilon="1.000001", rows=3)
    counted = request.counted(given())
    assert [table.path for table, _ in counted] == [TABLE, "visits.csv"]
    assert sum(mechanism.micro_epsilon for _, mechanism in counted) == 1_000_001
    assert [mechanism.rows for _, mechanism in counted] == [1, 3]
    assert texts(request.cost(given())) == {"epsilon": "1.000001"}
    zcdp = given(accounting="zcdp", budget_delta="0.000001")
    (currency,) = texts(request.cost(zcdp))
    assert currency == "rho"
    rho = sum((mechanism.rho for _, mechanism in counted), Fraction(0))
    assert rho <= Fraction(1_000_001, 10**6) ** 2 / 2


def test_only_named_columns_are_counted() -> None:
    ((table, mechanism),) = made({"path": TABLE, "columns": ["age"]}).counted(given())
    assert table.counted == ("age",)
    assert len(mechanism.cells) == 1


@pytest.mark.parametrize(
    ("order", "field", "said"),
    [
        ({"tables": [{"path": "other.tsv"}]}, "tables", "not a declared table"),
        ({"tables": [{"path": TABLE, "columns": ["participant_id"]}]}, "tables", "can be counted"),
        ({"tables": [{"path": TABLE}], "rows": 2}, "rows", "one row per person"),
        ({"tables": [{"path": TABLE}], "epsilon": "2.1"}, "epsilon", "over a fifth"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_field(order: dict[str, Any], field: str, said: str) -> None:
    error = refused(parse(TwinRequest, {"dataset": "heights", **order}), given())
    assert error.problems[0].field == field
    assert said in error.problems[0].problem


NONSENSE_IS_REFUSED_AT_THE_EDGE = (
    {"tables": []},
    {"tables": [{"path": TABLE}, {"path": TABLE}]},
    {"tables": [{"path": TABLE, "columns": ["age", "age"]}]},
    {"tables": [{"path": TABLE, "level": 3}]},
    {"tables": [{"path": TABLE}], "epsilon": "0"},
    {"tables": [{"path": TABLE}], "rows": 0},
    {"tables": [{"path": TABLE}], "share": 1},
)


def test_nonsense_is_refused_at_the_edge(subtests: pytest.Subtests) -> None:
    for order in NONSENSE_IS_REFUSED_AT_THE_EDGE:
        with subtests.test(order=order), pytest.raises(InvalidRequest):
            parse(TwinOrder, order)


def test_too_many_counts_are_refused_by_their_number() -> None:
    columns = [{"name": f"c{n}", "kind": "integer", "lower": 0, "upper": 199, "bins": 200} for n in range(12)]
    wide = table_fields(columns=[{"name": "participant_id", "kind": "person"}, *columns])
    declaration = given(tables=[wide])
    error = refused(made({"path": TABLE, "level": 2}), declaration)
    assert f"more than {MAX_WIDTH:,}" in error.problems[0].problem
    check_policy(made({"path": TABLE, "level": 1}), make_dataset(declaration=declaration))


def test_a_policy_without_the_class_refuses() -> None:
    policy = {"data_users": ["ada"], "guarantees": ["pac"]}
    with pytest.raises(NotAllowed, match="pure_dp"):
        check_policy(made(), make_dataset(declaration=given(policy=policy, budget_nats="0.1")))


def test_limits_and_reviews_of_data_users_are_not_its_own() -> None:
    policy = {"max_epsilon_per_job": "0.1", "approve_jobs": True, "review_releases": True,
              "mechanisms": ["sample_aggregate"]}  # fmt: skip
    declaration = given(policy=policy)
    check_policy(made(), make_dataset(declaration=declaration))
    assert not needs_approval(made(), declaration.policy)
    assert not needs_review(made(), declaration.policy)


def test_the_question_is_about_what_is_counted_and_nothing_else() -> None:
    ask = made().question(dataset_id="d-1")
    assert ask == made(again=True, beyond_share=True).question(dataset_id="d-1")
    others = [
        made(epsilon="0.5").question(dataset_id="d-1"),
        made({"path": TABLE, "level": 2}).question(dataset_id="d-1"),
        made().question(dataset_id="d-2"),
    ]
    assert len({ask, *others}) == 4
    assert made().once_key(snapshot="s") == made(epsilon="0.5").once_key(snapshot="s")
    assert made().once_key(snapshot="s") != made().once_key(snapshot="t")
    assert made(again=True).once_key(snapshot="s") is None


def test_its_time_is_public_and_grows_with_what_is_counted() -> None:
    one, two = (made({"path": TABLE, "level": level}) for level in (1, 2))
    large = given(nominal_size=10**6)
    assert one.schedule(given(), slots=2).wall_s < one.schedule(large, slots=2).wall_s
    assert one.schedule(large, slots=2).wall_s < two.schedule(large, slots=2).wall_s
    assert one.schedule(large, slots=2).runs == 1


def test_a_data_user_cannot_submit_one() -> None:
    body = made().model_dump(mode="json")
    assert isinstance(TypeAdapter[Any](AnyRequest).validate_python(body), TwinRequest)
    with pytest.raises(ValidationError):
        TypeAdapter[Any](UserRequest).validate_python(body)
    assert not isinstance(made(), JobRequest)


def test_what_a_twin_says_of_itself() -> None:
    basis = TwinBasis("counts-1", made({"path": TABLE, "level": 2}))
    assert (BLANK.level, BLANK.guarantee, basis.level) == (0, None, 2)
    assert basis.guarantee is GuaranteeClass.PURE_DP
    assert (basis.level_of(TABLE), basis.level_of("visits.csv")) == (2, 0)
    declaration = given()
    counts = {}
    for planned, mechanism in made({"path": TABLE, "level": 2}).counted(declaration):
        counts[planned.path] = TableCounts(planned.counted, mechanism.release([3] * mechanism.width), 2)
    text = draw_twin(declaration, basis, counts, seed=4, people=9)[README].decode()
    for fact in ("PATTERNS", "pure_dp", "epsilon 1", "counts-1", "seed 4", "people: 9", "Not protected"):
        assert fact in text


def test_a_plan_is_made_once_for_cost_schedule_and_counts() -> None:
    request, declaration = made({"path": TABLE}, epsilon="0.731"), given()
    plan = request.plan(declaration)
    # another reading of the same job and the same declaration
    again, same = made({"path": TABLE}, epsilon="0.731"), given()
    assert again.plan(same) is plan
    assert again.counted(same)[0][1] is plan.tables[0].mechanism
    assert made({"path": TABLE}, epsilon="0.732").plan(same) is not plan
    assert request.plan(given(nominal_size=4321)) is not plan
    assert request.plan(declaration, spent={}) is plan
    assert request.plan(declaration, spent={Currency.EPSILON: 1}).leaves != plan.leaves


def test_a_plan_of_too_many_cells_is_refused_before_any_is_looked_at() -> None:
    wide = [{"name": f"c{at}", "kind": "number", "lower": 0, "upper": 9, "bins": 200} for at in range(4999)]
    tables = [{"path": f"{at}.csv", "columns": [VISITS["columns"][0], *wide]} for at in range(2)]
    declaration = given(tables=[table_fields(), *tables])
    before = cell_count.cache_info().misses
    with pytest.raises(InvalidRequest, match=f"more than {MAX_CELLS:,}"):
        made({"path": "0.csv"}, {"path": "1.csv"}).plan(declaration)
    assert cell_count.cache_info().misses == before
    # what is left blank costs nothing
    assert made({"path": TABLE}).plan(declaration).tables[0].mechanism is not None
    assert cell_count.cache_info().misses - before < 10
