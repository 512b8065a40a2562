"""Citations, data dictionaries and spreadsheets: hostile names stay names."""

from __future__ import annotations

import csv
import io
from itertools import accumulate

import pytest
from factories import make_declaration, make_release, table_fields

from domain import dictionary
from domain.citation import citation, tex
from formats.delimited_text import csv_text
from privacy.loss import GuaranteeClass

HOSTILE = r"100% {of} \input{/etc/passwd} $x$ #1 & a_b^c~d" + "\nnew } @misc{"


def test_a_citation_names_data_release_and_promise():
    found = citation(make_declaration(citation="Town (2025)."), make_release(job_id="job-1"))
    assert found.text == (
        "Town (2025). Statistics released by dpgate on 2 March 2026 from version 1 (differential privacy, "
        "epsilon 0.5); release release-job-1."
    )
    lines = found.bibtex.splitlines()
    assert lines[0] == "@misc{heights-2026-releasej,"
    assert "  title        = {Statistics of Heights of a small town}," in lines
    assert "  month        = mar," in lines
    assert lines[-1] == "}"


def test_a_release_without_a_formal_guarantee_says_so_where_it_is_cited():
    release = make_release(job_id="job-1", guarantee=GuaranteeClass.EMPIRICAL, cost={"releases": "1"})
    found = citation(make_declaration(), release)
    assert "(no formal guarantee, releases 1)" in found.text
    assert "No formal guarantee, releases 1." in found.bibtex


def test_what_people_typed_is_no_command_of_tex_and_ends_no_entry():
    found = citation(make_declaration(title=HOSTILE[:180], citation=HOSTILE), make_release(job_id="job-1"))
    depths = list(accumulate((letter == "{") - (letter == "}") for letter in found.bibtex[5:]))
    # the entry's own brace is closed by its last letter and not before
    assert min(depths[:-1]) == 1
    assert depths[-1] == 0
    assert len(found.bibtex.splitlines()) == 7
    assert r"\input" not in found.bibtex
    assert tex("a\n b") == "a b"


def test_a_dictionary_finds_all_words_anywhere():
    declaration = make_declaration()
    assert [entry.column for entry in dictionary.entries(declaration)] == [
        "participant_id", "age", "sex", "height",
    ]  # fmt: skip
    assert [entry.column for entry in dictionary.entries(declaration, sought="HEI part")] == ["height"]
    assert [entry.column for entry in dictionary.entries(declaration, sought="d m")] == ["sex"]
    assert dictionary.entries(declaration, sought="nothing of that") == ()


def test_a_dictionary_as_a_spreadsheet():
    column = {"name": "=1+1", "kind": "categorical", "categories": ["a,b", 'c"d'], "description": "@SUM(A1)"}
    person = {"name": "participant_id", "kind": "person"}
    declaration = make_declaration(tables=[table_fields(columns=[person, column])])
    rows = list(csv.DictReader(io.StringIO(dictionary.as_csv(dictionary.entries(declaration)))))
    assert (rows[1]["column"], rows[1]["categories"]) == ("'=1+1", 'a,b|c"d')
    assert rows[1]["description"] == "'@SUM(A1)"
    assert rows[1]["missing_rate"] == "0"
    assert rows[1]["typical_rows"] == ""


def test_a_dictionary_says_how_many_rows_the_twin_has():
    table = table_fields(rows_per_person="many", typical_rows=8)
    (first, *_) = dictionary.entries(make_declaration(tables=[table]))
    assert (first.rows_per_person, first.typical_rows) == ("many", 8)


def test_no_text_is_a_formula_and_numbers_stay_numbers(subtests: pytest.Subtests):
    for text in ("=1", "+1", "-1", "@a", "\t=1", "\r=1"):
        with subtests.test(text=text):
            (_, row) = list(csv.reader(io.StringIO(csv_text(["a", "b", "c"], [[text, -1.5, None]]))))
            assert row == [f"'{text}", "-1.5", ""]
