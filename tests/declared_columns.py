"""Random columns, tables and declarations, for properties that hold of each."""

from __future__ import annotations

import math
from datetime import date

from factories import make_declaration
from hypothesis import strategies as st

WORDS = st.text("abcxyz -é,0", min_size=1, max_size=6).filter(lambda word: word == word.strip())
MISSING = {"missing": "n/a"}
RATES = st.sampled_from([0, 0, 0.3, 1])
PII = {
    "kind": "FREE_TEXT",
    "classification": "quasi",
    "decision": "keep",
    "by": "the holder",
    "why": "Only codes.",
}


def correlations(count):
    """Columns of an output table that ask correlations of two columns, each of other bounds."""
    beside = {"column": "y", "lower": 0, "upper": 1}
    both = {"column": "x", "aggregate": "correlation", "lower": 0, "beside": beside}
    return [both | {"name": f"r-{n}", "upper": n} for n in range(1, count + 1)]


@st.composite
def numeric(draw):
    kind = draw(st.sampled_from(["integer", "number"]))
    scale = draw(st.sampled_from(["linear", "log"]))
    largest = draw(st.sampled_from([1e-6, 1.0, 50.0, 1e9, 1e300]))
    lower = draw(st.floats(0 if scale == "log" else -largest, largest, allow_subnormal=False))
    upper = lower + draw(st.floats(0.001, 3)) * max(largest, 1 if kind == "integer" else 0)
    if kind == "integer":
        lower, upper = math.floor(lower), math.ceil(upper) + 1
    specials = draw(st.lists(st.integers(0, 4), max_size=2, unique=True)) if kind == "integer" else []
    fields = {"kind": kind, "lower": lower, "upper": upper, "scale": scale}
    if specials and lower + 4 <= upper and abs(lower) < 1e9:
        fields["special_values"] = [lower + each for each in specials]
    if kind == "number":
        fields["decimals"] = draw(st.integers(0, 12))
    if draw(st.booleans()):
        fields["bins"] = draw(st.integers(2, 200))
    return fields


@st.composite
def dates(draw):
    first = draw(st.integers(1, date.max.toordinal() - 1))
    last = draw(st.integers(first + 1, min(first + 90_000, date.max.toordinal())))
    lower, upper = (date.fromordinal(day).isoformat() for day in (first, last))
    return {"kind": "date", "lower": lower, "upper": upper, "with_time": draw(st.booleans())}


@st.composite
def categorical(draw):
    categories = draw(st.lists(WORDS, min_size=1, max_size=8, unique=True))
    fields = {"kind": "categorical", "categories": categories}
    if draw(st.booleans()):
        fields["coarsen"] = {each: each[:1] for each in categories}
    if draw(st.booleans()):
        fields["typical_shares"] = {each: 1 + at for at, each in enumerate(categories)}
    return fields


TEXT = st.sampled_from(["code", "line", "paragraph"]).map(
    lambda length: {"kind": "text", "text_length": length, "pii": PII}
)
COUNTED = st.one_of(numeric(), dates(), categorical())
ANY = st.one_of(COUNTED, TEXT)


def columns(kinds=ANY, most=5):
    """Fields of 0 to `most` columns called c0, c1, ..."""

    def named(found):
        return [
            {"name": f"c{at}", **MISSING, "missing_rate": rate, **fields}
            for at, (fields, rate) in enumerate(found)
        ]

    return st.lists(st.tuples(kinds, RATES), max_size=most).map(named)


@st.composite
def declarations(draw):
    """One table of people and one with many rows of each."""
    person = {"name": "id", "kind": "person"}
    many = {
        "path": "visits.csv",
        "rows_per_person": "many",
        "typical_rows": draw(st.integers(1, 3)),
        "columns": [person, *draw(columns())],
        "line_end": draw(st.sampled_from(["lf", "crlf"])),
    }
    return make_declaration(
        nominal_size=draw(st.integers(6, 20)),
        privacy_unit={"table": "people.tsv", "column": "id"},
        tables=[{"path": "people.tsv", "columns": [person, *draw(columns())]}, many],
    )
