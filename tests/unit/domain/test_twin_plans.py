"""What a twin would be worth and cost, told from the declaration alone."""

from __future__ import annotations

import pytest
from declared_columns import PII
from factories import column_fields, make_declaration, table_fields

from domain.errors import InvalidRequest
from domain.twin.levels import CUSTODIAN_LABELS, LOOKED_AT, SHOWS
from domain.twin.plan import LARGEST_SHARE, plan_twin
from privacy.cost import Currency
from privacy.twin import ColumnCounts, Patterns

PERSON = {"name": "participant_id", "kind": "person"}
NOTE = {"name": "note", "kind": "text", "pii": PII}
MAIL = column_fields(name="born", pii={**PII, "classification": "direct"})
ZIP = {"name": "zip", "kind": "categorical", "categories": [f"{code:05d}" for code in range(51)]}
VISITS = {
    "path": "visits.csv", "rows_per_person": "many", "typical_rows": 4,
    "columns": [PERSON, column_fields(name="score")],
}  # fmt: skip
EPSILON = 10**6
UNIT = "participants.tsv"


def plan(
    people=5000, epsilon=EPSILON, tables=None, levels=None, wanted=None, rows=1, spent=None, **overrides
):
    declaration = make_declaration(nominal_size=people, tables=tables or [table_fields()], **overrides)
    return plan_twin(declaration, micro_epsilon=epsilon, levels=levels, wanted=wanted, rows=rows, spent=spent)


@pytest.mark.parametrize(
    ("people", "epsilon", "level", "kind"),
    [
        (60, EPSILON, 0, None),
        (60, 10 * EPSILON, 1, ColumnCounts),
        (1000, EPSILON, 1, ColumnCounts),
        (5000, EPSILON, 2, Patterns),
        (500, 10 * EPSILON, 2, Patterns),
    ],
)
def test_the_level_rule_decides_where_nobody_asked(people, epsilon, level, kind):
    found = plan(people, epsilon).tables[0]
    assert found.level == found.suggested == level
    assert found.label == CUSTODIAN_LABELS[level]
    assert (type(found.mechanism) if found.mechanism else None) is kind
    assert (found.predicted_tv1 is None) is (level == 0)
    assert (found.mechanism.micro_epsilon if found.mechanism else 0) == (epsilon if level else 0)


def test_labels_are_those_that_rights_holders_know():
    assert CUSTODIAN_LABELS[0] == "Blank form: made without opening your data"
    assert CUSTODIAN_LABELS[1] == "Each column looks right, columns do not belong together"
    assert CUSTODIAN_LABELS[2] == "Columns and their strongest pairs look right"
    assert CUSTODIAN_LABELS[3] == "NOT anonymous: real values in mixed order. Treat as personal data"
    assert set(SHOWS) == set(CUSTODIAN_LABELS)


def test_each_column_has_a_level_and_a_reason():
    columns = [PERSON, column_fields(), NOTE, MAIL, ZIP]
    found = plan(wanted={UNIT: 1}, tables=[table_fields(columns=columns)]).tables[0]
    assert [column.level for column in found.columns] == [0, 1, 0, 0, 0]
    reasons = [column.reason for column in found.columns]
    for reason, words in zip(
        reasons, ("made up", "20 cells", "never counted", "directly", "declare coarsen"), strict=True
    ):
        assert words in reason
    assert found.counted == ("age",)


def test_a_column_of_many_categories_is_counted_when_asked_for_or_coarsened():
    both = [table_fields(columns=[PERSON, column_fields(), ZIP])]
    assert plan(tables=both, levels={(UNIT, "zip"): 1}).tables[0].counted == ("age", "zip")
    coarse = {**ZIP, "coarsen": {code: code[:4] for code in ZIP["categories"]}}
    found = plan(tables=[table_fields(columns=[PERSON, coarse])]).tables[0]
    assert (found.columns[1].level, found.columns[1].cells) == (1, 6)
    assert any("without coarsen" in warning for warning in plan(tables=both).warnings)


def test_single_columns_are_left_out():
    found = plan(wanted={UNIT: 2}, levels={(UNIT, "sex"): 0, (UNIT, "age"): 2}).tables[0]
    assert found.counted == ("age", "height")
    assert found.columns[2].reason == "You left it blank."


def test_what_it_costs_and_what_it_leaves():
    found = plan(wanted={UNIT: 1}, spent={Currency.EPSILON: 3 * EPSILON})
    assert found.cost[Currency.EPSILON] == EPSILON
    assert found.share == LARGEST_SHARE / 2
    assert found.leaves == {Currency.EPSILON: 6 * EPSILON}
    assert found.guarantee == "pure_dp"
    assert found.within_share
    large = plan(epsilon=3 * EPSILON, wanted={UNIT: 1})
    assert not large.within_share
    assert "takes 30% of the budget" in large.warnings[0]
    beyond = plan(wanted={UNIT: 1}, spent={Currency.EPSILON: 9_500_000})
    assert "does not have as much left" in beyond.warnings[0]


def test_a_blank_form_costs_nothing():
    found = plan(wanted={UNIT: 0})
    assert (found.cost, found.share, found.guarantee) == (None, 0, None)
    assert found.leaves == {Currency.EPSILON: 10 * EPSILON}
    assert found.warnings == ()


def test_the_cost_in_rho_where_losses_are_counted_so():
    found = plan(wanted={UNIT: 1}, accounting="zcdp", budget_delta="1e-9")
    assert set(dict(found.cost)) == {Currency.RHO}
    assert 0 < found.share < 1


def test_tables_share_epsilon_and_many_rows_of_a_person_cost():
    tables = [table_fields(), VISITS]
    found = plan(tables=tables, wanted={UNIT: 1, "visits.csv": 1}, epsilon=EPSILON + 1, rows=3)
    assert [table.mechanism.micro_epsilon for table in found.tables] == [500_000, 500_001]
    assert [table.rows for table in found.tables] == [1, 3]
    assert found.tables[1].mechanism.rows == 3
    assert any("3 times as wide" in warning for warning in found.warnings)
    once = plan(tables=tables, wanted={UNIT: 1, "visits.csv": 1}, rows=1)
    assert once.tables[1].predicted_tv1 == pytest.approx(found.tables[1].predicted_tv1, rel=1e-3)


def test_patterns_leave_less_for_single_columns():
    alone, pairs = (plan(wanted={UNIT: level}).tables[0] for level in (1, 2))
    share = pairs.mechanism.shares[0] / EPSILON
    assert 0 < share < 1
    assert pairs.predicted_tv1 == pytest.approx(alone.predicted_tv1 / share)


def test_more_than_the_data_can_carry_is_said():
    found = plan(60, wanted={UNIT: 2})
    assert found.tables[0].suggested == 0
    said = " ".join(found.warnings)
    assert "more than the data can carry" in said
    assert "predicted error" in said
    wide = [table_fields(columns=[PERSON, *(column_fields(name=f"c{at}") for at in range(100))])]
    assert "About 18 of its 100 columns" in plan(60, 10 * EPSILON, tables=wide).tables[0].why


def test_both_prices_and_the_number_of_folders_are_said():
    found = plan(wanted={UNIT: 1}, layout="bids")
    said = " ".join(found.warnings)
    assert "epsilon for the first, 2 epsilon for the second" in said
    assert "5000 people, and as many folders" in said


def test_what_was_looked_up_in_the_data_changes_the_label():
    columns = [PERSON, column_fields(basis="looked_at_data", declared_by="the office")]
    found = plan(wanted={UNIT: 0}, tables=[table_fields(columns=columns), {**VISITS}])
    assert found.tables[0].label == f"{CUSTODIAN_LABELS[0]}; {LOOKED_AT} (age)"
    assert found.tables[1].label == CUSTODIAN_LABELS[found.tables[1].level]
    assert LOOKED_AT in " ".join(found.warnings)


WHAT_CANNOT_BE_PLANNED = (
    ({"wanted": {"x.tsv": 1}}, "x.tsv is no declared table"),
    ({"wanted": {UNIT: 3}}, "3 is no level"),
    ({"levels": {(UNIT, "x"): 1}}, "is no declared column"),
    ({"levels": {("x.tsv", "age"): 1}}, "is no declared column"),
    ({"levels": {(UNIT, "participant_id"): 1}}, "is never counted"),
    ({"levels": {(UNIT, "age"): 1}, "wanted": {UNIT: 2}}, "in a table of level 2"),
    ({"levels": {(UNIT, "age"): 1, (UNIT, "sex"): 2}}, "asks for two levels"),
)


def test_what_cannot_be_planned(subtests):
    for fields, words in WHAT_CANNOT_BE_PLANNED:
        with subtests.test(fields=fields, words=words), pytest.raises(InvalidRequest, match=words):
            plan(**fields)


def test_a_table_that_has_nothing_to_count_stays_blank():
    found = plan(wanted={UNIT: 1}, tables=[table_fields(columns=[PERSON, NOTE])])
    assert found.tables[0].level == 0
    assert found.cost is None
