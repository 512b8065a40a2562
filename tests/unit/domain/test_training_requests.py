"""What may be asked of a training: everything that is refused is refused by the declaration alone."""

import pytest
from factories import make_dataset, make_declaration

from domain.admission import check_policy
from domain.errors import InvalidRequest, NotAllowed
from domain.model import parse
from domain.training import TrainingRequest, check_training
from domain.training.proposed import proposed
from domain.training.request import check_accounts
from privacy.cost import Currency
from privacy.loss import GuaranteeClass

COLUMNS = [
    {"name": "person", "kind": "person"},
    {"name": "age", "kind": "integer", "lower": 0, "upper": 120},
    {"name": "height", "kind": "number", "lower": 1, "upper": 2.2},
    {"name": "sex", "kind": "categorical", "categories": ["f", "m"]},
    {"name": "site", "kind": "categorical", "categories": ["north", "south", "east"]},
    {"name": "one", "kind": "categorical", "categories": ["only"]},
    {"name": "many", "kind": "categorical", "categories": [f"c{number}" for number in range(4500)]},
    {"name": "born", "kind": "date", "lower": "1900-01-01", "upper": "2020-01-01"},
]
MODEL = {"kind": "logistic", "target": "sex", "features": ["age", "site"], "batch": 100}


def declared(*, rows="one", **changed):
    table = {"path": "people.csv", "columns": COLUMNS, "rows_per_person": rows}
    unit = {"table": "people.csv", "column": "person"}
    fixed = {"nominal_size": 1000, "budget_epsilon": "10", "budget_delta": "0.001"}
    return make_declaration(tables=[table], privacy_unit=unit, **fixed | changed)


def asked(model=(), **changed):
    body = {"dataset": "heights", "model": MODEL | dict(model), "epsilon": "1", "delta": "0.00001"}
    return parse(TrainingRequest, body | changed)


def test_a_model_is_fixed_by_request_and_declaration():
    request = asked({"hidden": [8], "clip": 0.5})
    check_training(request, declared())
    trainer = request.trainer(declared())
    # one input for the age, three for the sites
    assert trainer.network.shapes == ((5, 8), (9, 1))
    assert (trainer.nominal_size, trainer.batch, trainer.steps, float(trainer.clip)) == (1000, 100, 500, 0.5)
    assert dict(request.cost(declared())) == {Currency.EPSILON: 1_000_000, Currency.DELTA: 10**13}
    assert request.cost(declared()) == trainer.cost
    assert request.guarantee is GuaranteeClass.APPROX_DP
    assert request.title == "logistic model of sex"
    assert request.limit(declared()) is None
    assert "At most 3 rows" in asked({"rows": 3}).limit(declared(rows="many"))


def test_a_softmax_has_an_output_for_each_category():
    request = asked({"kind": "softmax", "target": "site", "features": ["age"]})
    assert request.trainer(declared()).network.shapes == ((2, 3),)


def test_equal_questions_are_one_and_others_are_not():
    same = asked(epsilon=1.0, delta="1e-5").question(dataset_id="d")
    assert asked().question(dataset_id="d") == same
    others = [
        asked().question(dataset_id="e"),
        asked(epsilon="2").question(dataset_id="d"),
        asked(delta="0.000001").question(dataset_id="d"),
        asked({"steps": 501}).question(dataset_id="d"),
    ]
    assert len({same, *others}) == 5
    # all of it, also what was left to its default; rows of a person only where there are several
    assert asked().choices() == {"epsilon": "1", "delta": "0.00001"} | asked().model.model_dump(
        mode="json", exclude_none=True, exclude={"rows"}
    )


MISFITS = [
    ({"features": ["weight"]}, "model.features.0", "not a column"),
    ({"features": ["age", "born"]}, "model.features.1", "is not"),
    ({"features": ["born"]}, "model.features.0", "is not"),
    ({"features": ["person"]}, "model.features.0", "is not"),
    ({"features": ["age", "age"]}, "model.features.1", "twice"),
    ({"features": ["age", "sex"]}, "model.features.1", "target as well"),
    ({"features": ["many"]}, "model.features", "4,500 inputs"),
    ({"features": [{"name": "age", "upper": 200}]}, "model.features.0", "not inside"),
    ({"features": [{"name": "site", "upper": 2}]}, "model.features.0", "no bounds"),
    ({"target": "one"}, "model.target", "1 declared categories"),
    ({"target": "site"}, "model.target", "softmax"),
    ({"target": "age"}, "model.target", "not categorical"),
    ({"kind": "softmax", "target": "one"}, "model.target", "2 to 64"),
    ({"kind": "softmax", "target": "many"}, "model.target", "2 to 64"),
    ({"kind": "linear", "target": "sex"}, "model.target", "not integer or number"),
    ({"batch": 1001}, "model", "expected batch"),
    ({"table": "other.csv"}, "model.table", "not a declared table"),
    ({"rows": 2}, "model.rows", "one row per person"),
]


def test_a_training_that_does_not_fit_the_declaration_is_refused(subtests):
    for model, field, said in MISFITS:
        with subtests.test(model=model):
            with pytest.raises(InvalidRequest, match=said) as refused:
                check_training(asked(model), declared())
            assert f"{refused.value}".startswith(f"{field}: ")


REFUSED_AT_THE_EDGE = [
    ({"epsilon": 1e-9}, "epsilon"),
    ({"epsilon": "nan"}, "epsilon"),
    ({"delta": 0}, "delta"),
    ({"model": MODEL | {"steps": 10_001}}, "model.steps"),
    ({"model": MODEL | {"features": []}}, "model.features"),
    ({"model": MODEL | {"features": ["age"] * 4096}}, "model.features"),
    ({"model": MODEL | {"features": ["age"] * 10**6}}, "model.features"),
    ({"model": MODEL | {"hidden": [64, 64, 64]}}, "model.hidden"),
    ({"model": MODEL | {"hidden": [65]}}, "model.hidden.0"),
    ({"model": MODEL | {"clip": float("inf")}}, "model.clip"),
    ({"model": MODEL | {"learning_rate": float("nan")}}, "model.learning_rate"),
    ({"model": MODEL | {"rows": 1025}}, "model.rows"),
    ({"model": MODEL | {"code": "x"}}, "model.code"),
]


def test_a_training_that_nobody_can_make_is_refused_at_the_edge(subtests):
    for changed, field in REFUSED_AT_THE_EDGE:
        with subtests.test(changed=changed):
            with pytest.raises(InvalidRequest) as refused:
                asked(**changed)
            assert f"{refused.value}".startswith(f"{field}: ")


def test_a_number_without_bounds_cannot_be_declared_and_so_not_be_learnt_from():
    unbounded = {"path": "people.csv", "columns": [*COLUMNS[:1], {"name": "weight", "kind": "number"}]}
    with pytest.raises(InvalidRequest, match="lower"):
        make_declaration(tables=[unbounded])


def test_a_price_that_is_too_low_or_a_delta_that_is_too_large_is_refused():
    with pytest.raises(InvalidRequest, match="change epsilon"):
        check_training(asked(epsilon="0.001"), declared())
    with pytest.raises(InvalidRequest, match="tenth of one in the nominal size"):
        check_training(asked(delta="0.0002"), declared())


def test_what_would_not_fit_into_time_or_memory_is_refused():
    with pytest.raises(InvalidRequest, match=r"^model\.steps: by its public sizes"):
        check_training(
            asked({"steps": 10_000, "batch": 50_000}, delta="1e-7"), declared(nominal_size=100_000)
        )
    with pytest.raises(InvalidRequest, match=r"^model\.features: rows of all people times inputs"):
        check_training(asked(delta="1e-9"), declared(nominal_size=40_000_000))


def test_the_time_of_a_training_follows_from_public_sizes():
    request = asked({"rows": 3})
    one, many, more = (
        request.schedule(declaration, slots=1).wall_s
        for declaration in (declared(), declared(rows="many"), declared(nominal_size=100_000))
    )
    assert 20 < one < many < more
    assert asked({"steps": 1000}).schedule(declared(), slots=1).wall_s > one


def test_an_account_of_rho_takes_no_training():
    """What is proven is an epsilon with a delta, which bounds no rho."""
    with pytest.raises(InvalidRequest, match="does not fit an account of rho"):
        check_training(asked(), declared(accounting="zcdp"))
    with pytest.raises(NotAllowed, match="accounts in rho"):
        check_accounts(declared(accounting="zcdp"))
    with pytest.raises(NotAllowed, match="no budget of delta"):
        check_accounts(declared(budget_delta=None))
    check_accounts(declared())


def test_what_a_form_proposes_is_taken(subtests):
    for size, batch, delta in ((30, 30, "0.00001"), (1000, 64, "0.00001"), (200_000, 2048, "0.0000001")):
        with subtests.test(size=size):
            declaration = declared(nominal_size=size)
            found = proposed(declaration, declaration.tables[0])
            assert (found.batch, found.delta) == (batch, delta)
            assert (found.target, found.kind) == ("sex", "logistic")
            assert found.features == {"age", "height", "sex", "site", "one"}
            features = sorted(found.features - {found.target})
            check_training(
                asked({"features": features, "batch": found.batch}, delta=found.delta), declaration
            )


POLICIES = [
    ({"guarantees": ["pure_dp"]}, NotAllowed, "promises approx_dp"),
    ({"mechanisms": ["trusted_query"]}, NotAllowed, "does not allow model_training"),
    ({"max_epsilon_per_job": "0.5"}, InvalidRequest, "over the 0.5"),
]


def test_the_policy_decides_on_class_mechanism_and_price(subtests):
    allowed = {"data_users": ["ada"], "guarantees": ["pure_dp", "approx_dp"]}
    check_policy(asked(), make_dataset(declaration=declared(policy=allowed)))
    for changed, refusal, said in POLICIES:
        with subtests.test(changed=changed), pytest.raises(refusal, match=said):
            check_policy(asked(), make_dataset(declaration=declared(policy=allowed | changed)))
