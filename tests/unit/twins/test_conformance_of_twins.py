"""Whether a twin has the original's shape: what a pipeline would notice is found, the rest is on purpose."""

from __future__ import annotations

import io
import random

from declared_columns import PII
from factories import column_fields, make_declaration, table_fields

from formats.delimited import stream_rows
from twins.drawn import check_conformance, make_twin
from twins.drawn.files import make_volume
from twins.drawn.table_facts import TableFacts

PERSON = {"name": "participant_id", "kind": "person"}
VOLUME = {"shape": [3, 4, 5], "dtype": "int16", "lower": -4, "upper": 9}
BIDS = {
    "layout": "bids",
    "nominal_size": 6,
    "person_files": [
        {"path": "{person}/{person}_T1w.nii.gz", "twin_volume": VOLUME},
        {"path": "{person}/{person}_T1w.json", "twin_text": '{"EchoTime": 1}'},
    ],
    "public_files": [{"path": "dataset_description.json", "text": "{}"}],
}


def declared(*columns, **overrides):
    table = table_fields(columns=[PERSON, *columns], **overrides)
    unit = {"table": table["path"], "column": "participant_id"}
    return make_declaration(tables=[table], nominal_size=40, privacy_unit=unit)


def to_mend(declaration, text):
    return _said(declaration, text, on_purpose=False)


def on_purpose(declaration, text):
    return _said(declaration, text, on_purpose=True)


def _said(declaration, text, *, on_purpose):
    original = {"participants.tsv": text.encode()}
    found = check_conformance(declaration, original, make_twin(declaration))
    return [each.sentence for each in found if each.on_purpose is on_purpose]


def ages(*cells):
    rows = "".join(f"sub-{at}\t{cell}\n" for at, cell in enumerate(cells))
    return f"participant_id\tage\n{rows}"


NUMBER = column_fields(kind="number", lower=0, upper=120)


WHAT_A_PIPELINE_WOULD_NOTICE = (
    (column_fields(), ages("25", "31"), []),
    (column_fields(), ages("25", "31.5"), ["declare kind: number"]),
    (column_fields(), ages("25.0", "31.0"), ["declare kind: number"]),
    (NUMBER, ages("25", "31"), ["declare decimals: 0"]),
    (NUMBER, ages("25.5", "31"), []),
    (column_fields(), ages("25", "n/a"), ["declare missing_rate"]),
    (column_fields(missing_rate=0.5), ages("25", "n/a"), []),
    (column_fields(missing_rate=0.5), ages("25", ""), ["1 cells of the original are no number"]),
    (column_fields(), ages("25", "3,5"), ["no number"]),
    (column_fields(name="other"), ages("1", "2"), ["lacks 1 declared columns: other"]),
    (column_fields(), "participant_id\tage\tage\ns\t1\t2\n", ["two columns of one name"]),
    (column_fields(), ages("25").replace("\n", "\r\n"), ["declare line_end: crlf"]),
    (column_fields(), ages("25") + "sub-0\t26\n", ["declare rows_per_person: many"]),
    (column_fields(), ages("25") + "sub-1\n", ["line 3, has 1 cells, the header 2"]),
    (
        {"name": "age", "kind": "date", "lower": "2019-01-01", "upper": "2019-12-31"},
        ages("31.12.2019"),
        ["no date like"],
    ),
    (
        {"name": "age", "kind": "categorical", "categories": ["f", "m"]},
        ages("F", "M"),
        ["their spelling"],
    ),
)


def test_what_a_pipeline_would_notice(subtests):
    for column, text, words in WHAT_A_PIPELINE_WOULD_NOTICE:
        with subtests.test(column=column, text=text, words=words):
            found = to_mend(declared(column), text)
            assert len(found) == len(words)
            for sentence, word in zip(found, words, strict=True):
                assert word in sentence


WHAT_DIFFERS_ON_PURPOSE = (
    (column_fields(), ages("25", "999"), "1 cells of the original are outside the bounds"),
    (NUMBER, ages("25.123"), "up to 3 decimals in the original and 2 in the twin"),
    (column_fields(missing_rate=0.5), ages("25"), "the twin has missing values and the original none"),
    (
        column_fields(),
        "participant_id\tage\tssn\ns\t1\t2\n",
        "1 columns of the original are not declared",
    ),
    ({"name": "age", "kind": "categorical", "categories": ["f"]}, ages("f", "KURU"), "1 others"),
    ({"name": "age", "kind": "text", "pii": PII}, ages("Mary"), "placeholder"),
)


def test_what_differs_on_purpose(subtests):
    for column, text, words in WHAT_DIFFERS_ON_PURPOSE:
        with subtests.test(column=column, text=text, words=words):
            declaration = declared(column)
            assert to_mend(declaration, text) == []
            assert any(words in sentence for sentence in on_purpose(declaration, text))


def test_no_value_of_the_original_is_in_a_finding():
    text = "participant_id\tage\tKURUname\nsub-KURU\tKURU\tKURU\n"
    for column in (column_fields(), {"name": "age", "kind": "categorical", "categories": ["f"]}):
        declaration = declared(column)
        original = {"participants.tsv": text.encode(), "sub-KURU/KURU.txt": b"KURU"}
        found = check_conformance(declaration, original, make_twin(declaration))
        assert found
        assert "KURU" not in repr(found)


def original_of(shape=(3, 4, 5), kind="i2", people=3):
    volume = make_volume(shape, kind=kind, lower=0, upper=1, draw=random.Random(1), compressed=True)
    rows = "".join(f"sub-{at}\t30\tf\t1.50\n" for at in range(people))
    files = {
        "participants.tsv": f"participant_id\tage\tsex\theight\n{rows}".encode(),
        "dataset_description.json": b"{}",
    }
    for at in range(people):
        files[f"sub-{at}/sub-{at}_T1w.nii.gz"] = volume
        files[f"sub-{at}/sub-{at}_T1w.json"] = b'{"EchoTime": 2}'
    return files


def compared(original, **overrides):
    declaration = make_declaration(**{**BIDS, **overrides})
    found = check_conformance(declaration, original, make_twin(declaration))
    return [f"{each.place}: {each.sentence}" for each in found if not each.on_purpose]


def test_a_bids_twin_has_the_grids_names_and_folders_of_its_original():
    assert compared(original_of()) == []


def test_other_grids_types_and_names_are_found():
    larger = compared(original_of(shape=(3, 4, 6)))
    assert larger == [
        "{person}/{person}_T1w.nii.gz: shape is (3, 4, 6) in the original and (3, 4, 5) in the twin. "
        "(3 of 3 people)"
    ]
    assert "dtype is f4" in compared(original_of(kind="f4"))[0]
    more = original_of()
    more["sub-0/sub-0_T1w.json"] = b'{"EchoTime": 2, "PatientName": "KURU"}'
    assert compared(more) == []
    declaration = make_declaration(**BIDS)
    said = [each.sentence for each in check_conformance(declaration, more, make_twin(declaration))]
    assert "the twin lacks 1 names of the object that are not technical. (1 of 3 people)" in said
    more["sub-0/sub-0_T1w.json"] = b'{"EchoTime": 1, "FlipAngle": 9}'
    assert "lacks FlipAngle. (1 of 3 people)" in compared(more)[0]
    broken = original_of()
    broken["sub-0/sub-0_T1w.json"] = b"KURU"
    assert "cannot be compared: it is no JSON" in compared(broken)[0]


def test_files_that_are_not_there():
    lacking = original_of()
    del lacking["participants.tsv"], lacking["dataset_description.json"]
    lacking = {path: content for path, content in lacking.items() if not path.endswith(".json")}
    found = compared(lacking)
    assert sum("the original lacks this" in each for each in found) == 1
    delivered = [{"path": "stimuli.bin", "as_delivered": True}]
    refused = "stimuli.bin: the original lacks this file: the import will refuse it."
    assert refused in compared(lacking, public_files=delivered)
    assert any("the original has this file for nobody" in each for each in found)
    declaration = make_declaration(**BIDS)
    twin = make_twin(declaration)
    found = check_conformance(declaration, lacking, twin)
    assert [each.on_purpose for each in found if each.place == "dataset_description.json"] == [True]
    del twin["sub-twin1/sub-twin1_T1w.json"], twin["dataset_description.json"]
    found = [each.sentence for each in check_conformance(declaration, original_of(), twin)]
    assert "the twin lacks this file." in found
    assert "5 people of the twin have this file, and its table has 6." in found
    partly = original_of()
    del partly["sub-1/sub-1_T1w.json"]
    found = check_conformance(declaration, partly, make_twin(declaration))
    assert any("1 of 3 people of the original lack it" in each.sentence for each in found if each.on_purpose)


def test_facts_stand_for_a_table_that_is_too_large_or_parquet():
    declaration = declared(column_fields())
    table, twin = declaration.tables[0], make_twin(declaration)
    facts = TableFacts.read(table, stream_rows(table.path, io.BytesIO(ages("25.5").encode())))
    found = check_conformance(declaration, {}, twin, facts={table.path: facts})
    assert [each.sentence for each in found if not each.on_purpose] == [
        "numbers of the original have a point and those of the twin none: declare kind: number."
    ]
    columnar = declared(column_fields(), path="participants.parquet")
    twin = make_twin(columnar)
    found = check_conformance(columnar, twin, twin)
    assert [each.on_purpose for each in found] == [True]
    header = TableFacts.of_header(columnar.tables[0], ["participant_id"])
    found = check_conformance(columnar, twin, twin, facts={"participants.parquet": header})
    assert "lacks 1 declared columns" in found[0].sentence
