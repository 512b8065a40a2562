"""What a column may declare, what each mistake is told, and that declarations of before stay as they were."""

from __future__ import annotations

import pytest
from declared_columns import PII
from factories import column_fields, make_column, make_declaration, make_table, table_fields

from domain.dataset import Column, Declaration
from domain.errors import InvalidRequest
from domain.instruments import INSTRUMENTS
from domain.model import digest, parse

DATES = {"kind": "date", "lower": "2019-01-01", "upper": "2020-12-31"}
SEX = {"kind": "categorical", "lower": None, "upper": None, "categories": ["f", "m"]}
TEXT = {"kind": "text", "lower": None, "upper": None}
GONE = {"name": "ssn", "kind": "NATIONAL_ID", "classification": "direct", "by": "x", "why": "Not needed."}
NEW = {
    "count_missing", "bins", "scale", "special_values", "typical_shares", "coarsen", "instrument",
    "text_length", "basis", "declared_by", "pii",
}  # fmt: skip


def test_declarations_of_before_have_the_digest_that_they_had():
    content = make_declaration().model_dump(mode="json")
    assert not NEW & {name for column in content["tables"][0]["columns"] for name in column}
    assert not {"dropped", "row_rules", "line_end"} & set(content["tables"][0])
    content["policy"].pop("isolation")  # written out always
    content["policy"].pop("accepted_channels")  # of these tests; it is not written out where there is none
    content["policy"]["min_block_size"] = 3  # written out always, too: what the least was then stays
    # recorded when these fields did not exist
    assert digest(content) == "sha256:3aa59245c84a8b4111d9bd00c28fe0ca151617c51605569b70b83341c99d2656"


def test_new_fields_are_read_again_as_they_were_written():
    columns = [
        {"name": "participant_id", "kind": "person"},
        column_fields(instrument="age", bins=30, special_values=[99], basis="law", declared_by="the office"),
        {"name": "day", **DATES, "count_missing": True},
        {"name": "sex", **SEX, "typical_shares": {"f": 0.6, "m": 0.4}, "coarsen": {"f": "x", "m": "x"}},
        {"name": "note", **TEXT, "text_length": "code", "pii": PII},
    ]
    rules = ["age >= age2", "`age` ~ 1 + 2 * age2, sd 3"][:1]
    columns.insert(2, column_fields(name="age2"))
    table = table_fields(columns=columns, dropped=[GONE], row_rules=rules, line_end="crlf")
    declaration = make_declaration(tables=[table])
    content = declaration.model_dump(mode="json")
    assert parse(Declaration, content) == declaration
    assert content["tables"][0]["columns"][3]["lower"] == "2019-01-01"
    assert hash(declaration) == hash(parse(Declaration, content))


def test_bounds_of_dates_are_days():
    lower, upper = make_column(**DATES).bounds
    assert upper - lower == 730


WHAT_NO_COLUMN_CAN_BE = (
    ({"lower": "2019-01-01"}, "lower and upper must be numbers"),
    ({"lower": "low"}, "must be a number"),
    ({"lower": True}, "must be a number"),
    ({"lower": float("nan")}, "finite number"),
    ({"lower": 10**400}, "finite number"),
    ({**DATES, "lower": 3}, "must be dates like"),
    ({**DATES, "lower": "2021-01-01"}, "lower must be less than upper"),
    ({**DATES, "upper": "2019-02-30"}, "must be a number"),
    ({**DATES, "instrument": "age"}, "instrument is for kind integer or number"),
    ({**DATES, "typical": {"mean": 1, "sd": 1}}, "typical is for kind"),
    ({**SEX, "lower": "2019-01-01"}, "dates as bounds are for kind date"),
    ({**SEX, "bins": 5}, "bins is for kind"),
    ({**SEX, "coarsen": {"f": "x"}}, "coarsen says nothing of 'm'"),
    ({**SEX, "coarsen": {"f": "x", "m": "x", "d": "x"}}, "'d', which is no category"),
    ({**SEX, "typical_shares": {"f": 1}}, "typical_shares says nothing of 'm'"),
    ({**SEX, "typical_shares": {"f": 0, "m": 0}}, "must add up"),
    ({**SEX, "typical_shares": {"d": 1}}, "'d', which is none of its categories"),
    ({**TEXT}, "stays only by a recorded decision"),
    ({**TEXT, "pii": PII, "lower": 3}, "lower is for kind"),
    ({"text_length": "code"}, "text_length is for kind text"),
    ({"coarsen": {"a": "b"}}, "coarsen is for kind categorical"),
    ({"scale": "log", "lower": -1}, "lower bound of 0 or more"),
    ({"special_values": [121]}, "outside the bounds"),
    ({"special_values": [1.5]}, "no whole number"),
    ({"special_values": [1, 1]}, "hold a number twice"),
    ({"special_values": [1], "typical_shares": {"2": 0.5}}, "none of its special_values"),
    ({"special_values": [1], "typical_shares": {"1": 1.5}}, "to 1 at most"),
    ({"bins": 1}, "is below 2."),
    ({"bins": 201}, "is above 200."),
    ({"missing_rate": 1.1}, "is above 1."),
    ({"instrument": "crystal-ball"}, "is not known; there are sas"),
    ({"instrument": "height-cm", "upper": 3}, "outside the bounds; check the unit"),
    ({"lower": None, "instrument": "mmse"}, "Mini-Mental State Examination goes from 0 to 30"),
    ({"pii": {**PII, "decision": "burn"}}, "decision"),
    ({"pii": {**PII, "kind": "e-mail"}}, "kind"),
    ({"pii": {**PII, "kind": "SECRET", "decision": "mask"}}, "there is no mask for kind SECRET"),
    ({"pii": {name: PII[name] for name in ("kind", "decision")}}, "missing"),
)


def test_what_no_column_can_be(subtests):
    for fields, words in WHAT_NO_COLUMN_CAN_BE:
        with subtests.test(fields=fields, words=words):
            with pytest.raises(InvalidRequest) as caught:
                make_column(**fields)
            assert any(words in f"{each.field} {each.problem}" for each in caught.value.problems)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"dropped": [{**GONE, "name": "age"}]}, "both declared and dropped"),
        ({"dropped": [GONE, GONE]}, "dropped twice"),
        ({"line_end": "cr"}, "line_end"),
    ],
)
def test_what_no_table_can_be(fields, words):
    with pytest.raises(InvalidRequest, match=words):
        make_table(**fields)


def test_every_instrument_is_one_that_a_column_can_name(subtests):
    for instrument in INSTRUMENTS:
        with subtests.test(instrument=instrument):
            assert instrument.lower < instrument.mean < instrument.upper
            assert 0 < instrument.sd < instrument.upper - instrument.lower
            assert bool(instrument.figures) == (
                instrument.looked_up != "neither"
            )  # no guess names a publication
            column = parse(
                Column,
                {"name": "c", "kind": instrument.kind, "lower": instrument.lower, "upper": instrument.upper,
                 "instrument": instrument.key},
            )  # fmt: skip
            assert column.usual is instrument
