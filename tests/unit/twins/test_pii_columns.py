"""How many identifying columns are found, and how many others are called identifying: floors, not best cases.

The columns are those of `pii_columns.py`. Rules and columns are by the same author, so the figures are a best
case; docs/explanation/identifying-columns.md says what was measured on columns that were not.
"""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Iterator, Sequence

import pytest
from lent_data import lent
from pii_columns import Case, cases

from twins.pii import Action, Class, Finding
from twins.pii.column import ColumnScan
from worker.pii_model import load

Judged = list[tuple[Case, Finding]]


def found_in(header: str | None, values: Sequence[str]) -> Finding:
    scan = ColumnScan(header, model=load())
    scan.add(values)
    return scan.finish()


def scanned(case: Case, *, hidden: bool) -> Finding:
    return found_in(None if hidden else case.header, case.values)


@pytest.fixture(scope="module")
def made() -> list[Case]:
    return list(cases())


@pytest.fixture(scope="module")
def shown(made: list[Case]) -> Judged:
    return [(case, scanned(case, hidden=False)) for case in made]


@pytest.fixture(scope="module")
def hidden(made: list[Case]) -> Judged:
    return [(case, scanned(case, hidden=True)) for case in made]


def recall(judged: Judged) -> float:
    direct = [said.classification is Class.DIRECT for case, said in judged if case.expected == "direct"]
    return sum(direct) / len(direct)


def precision(judged: Judged) -> float:
    called = [case.expected == "direct" for case, said in judged if said.classification is Class.DIRECT]
    return sum(called) / len(called)


def false_hits(judged: Judged) -> float:
    alike = [said.classification is Class.DIRECT for case, said in judged if case.expected == "none"]
    return sum(alike) / len(alike)


def test_there_are_enough_columns_to_judge_by(made: list[Case]) -> None:
    assert len(made) >= 150
    assert {case.expected for case in made} == {"direct", "quasi", "none"}
    assert made == list(cases()), "the same in every process"


def test_with_headers_nearly_all_are_found(shown: Judged) -> None:
    assert recall(shown) >= 0.97
    assert precision(shown) >= 0.95
    assert false_hits(shown) <= 0.05


def test_without_headers_seven_in_eight_are_found_and_nine_in_ten_calls_are_right(hidden: Judged) -> None:
    assert recall(hidden) >= 0.875
    assert precision(hidden) >= 0.9
    assert false_hits(hidden) <= 0.1


def test_the_model_carries_names_without_headers(hidden: Judged) -> None:
    names = [case for case, _ in hidden if case.kind == "PERSON"]
    without = []
    for case in names:
        scan = ColumnScan(None, model=None)
        scan.add(case.values)
        without.append(scan.finish().classification is Class.DIRECT)
    found = [said for case, said in hidden if case.kind == "PERSON"]
    assert sum(without) <= len(names) / 3
    # of 25 cells with nine surnames little can be known: those that it does not call names do not stay either
    assert sum(said.classification is Class.DIRECT for said in found) >= 0.45 * len(names)
    assert all(said.proposed is not Action.KEEP for said in found)


def test_everything_flagged_says_why_and_what_to_do(shown: Judged, hidden: Judged) -> None:
    for case, said in shown + hidden:
        assert said.why.endswith(".")
        assert 0 <= said.confidence <= 1
        if said.classification is Class.DIRECT:
            assert said.proposed is not Action.KEEP, case.header


def test_a_finding_holds_nothing_of_a_value(shown: Judged, hidden: Judged) -> None:
    for case, said in shown + hidden:
        # A and a stand for letters, 9 for digits: nothing else of a value is left
        assert re.fullmatch(r"[Aa9*~@.\-/:+, _()]{0,40}", said.masked_example), case.header
        told = f"{said.why} {' '.join(said.evidence)}"
        for value in case.values:
            if len(value) >= 6:
                assert value not in told
        assert all(isinstance(count, int) for count in said.evidence.values())


def columns_of(name: str) -> dict[str, list[str]]:
    path = lent("synthea_apr2020") / name
    opened = gzip.open if name.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return {column: [row[at] for row in rows] for at, column in enumerate(header)}


DIRECT = {"Id", "BIRTHDATE", "SSN", "DRIVERS", "PASSPORT", "FIRST", "LAST", "MAIDEN", "ADDRESS", "LAT", "LON"}
QUASI = {
    "DEATHDATE",
    "MARITAL",
    "RACE",
    "ETHNICITY",
    "GENDER",
    "BIRTHPLACE",
    "CITY",
    "STATE",
    "COUNTY",
    "ZIP",
}


def flagged(findings: tuple[Finding, ...], wanted: Class) -> set[str]:
    return {said.column for said in findings if said.classification is wanted}


def test_all_eleven_direct_identifiers_of_synthea_are_found_and_no_other() -> None:
    findings = tuple(found_in(*column) for column in columns_of("patients.csv").items())
    assert flagged(findings, Class.DIRECT) == DIRECT
    assert flagged(findings, Class.QUASI) == QUASI


def test_clinical_codes_of_synthea_are_not_flagged() -> None:
    columns = {name: values[:2_000] for name, values in columns_of("conditions.csv.gz").items()}
    findings = tuple(found_in(*column) for column in columns.items())
    assert flagged(findings, Class.DIRECT) == {"PATIENT", "ENCOUNTER"}
    by_name = {said.column: said for said in findings}
    assert by_name["CODE"].classification is by_name["DESCRIPTION"].classification is Class.NONE


def headers() -> Iterator[str]:
    return (case.header for case in cases())


def test_headers_are_all_different() -> None:
    assert len(set(headers())) == len(list(headers()))
