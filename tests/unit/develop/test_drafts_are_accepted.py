"""Whatever a profile drafts registers once every question that the draft asks has been answered.

Columns hold whatever people keep in tables. The answers are those of somebody who knows them; what no ASK
asks for is taken as it was drafted."""

from __future__ import annotations

import csv
import io
import re
import string
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from dpgate.cli.app import run
from dpgate.pipeline_folder import parse_yaml
from twins.profile.draft import ASK, open_questions

MOST_ROWS = 70
"""More than a list of categories has."""
ODD = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=12)
CELLS: Mapping[str, st.SearchStrategy[str]] = {
    "numbers": st.floats(-1e6, 1e6).map(lambda number: f"{number:.3f}"),
    "tiny and large": st.floats(allow_nan=False, allow_infinity=False).map(repr),
    "commas": st.floats(-1e6, 1e6).map(lambda number: f"{number:.2f}".replace(".", ",")),
    "whole": st.integers(0, 100).map(str),
    "negative": st.integers(-100, -1).map(str),
    "huge": st.integers(10**15, 10**40).map(str),
    "not numbers": st.sampled_from(["inf", "-inf", "nan", "1e999", "0x10", "1_000", "١٢", "1,5", "007"]),
    "dates": st.dates().map(str),
    "other dates": st.dates().map(lambda day: f"{day.month}/{day.day}/{day.year}"),
    "other moments": st.datetimes().map(lambda moment: f"{moment:%d.%m.}{moment.year:04d} {moment:%H:%M}"),
    "times": st.times().map(str),
    "moments": st.datetimes().map(lambda moment: moment.isoformat(timespec="seconds")),
    "categories": st.sampled_from(["a", "Ä b", "c|d", "e,f", 'g"h', "#k", "l: m", "- n", "ASK", "null", "~"]),
    "odd": ODD,
    "truths": st.sampled_from(["true", "false", "yes", "no", "TRUE"]),
    "long": st.text(string.ascii_letters + " ", min_size=250, max_size=400),
    "ids": st.uuids().map(str),
    "codes": st.integers(1, 4).map(str),
    "mail": st.integers(0, 99).map(lambda number: f"someone{number}@example.net"),
    "formulas": st.sampled_from(["=1+1", "@SUM(A1)", "-", "+"]),
}  # fmt: skip
MISSING = st.sampled_from(["", "n/a", "NA", "-999", "null"])
HEADERS = st.one_of(
    st.sampled_from(
        [
            "age",
            "sex",
            "name",
            "ASK",
            "true",
            "Größe in m",
            "a: b",
            "- c",
            "#d",
            "e,f",
            'g"h',
            "日付",
            "a\tb",
        ]
    ),
    st.text(
        st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=20
    ),
)


@st.composite
def columns(draw: st.DrawFn) -> list[tuple[str, list[str]]]:
    """Some columns of one length, each of one kind, mixed, constant, empty or all missing."""
    rows = draw(st.sampled_from([3, 12, MOST_ROWS]))
    names = draw(st.lists(HEADERS, min_size=1, max_size=6, unique_by=lambda name: name.strip()))
    found = []
    for name in names:
        shape = draw(
            st.sampled_from(["one kind", "one kind", "with gaps", "mixed", "constant", "empty", "missing"])
        )
        kinds = [CELLS[draw(st.sampled_from(sorted(CELLS)))] for _ in range(3 if shape == "mixed" else 1)]
        cell = st.one_of(*kinds, *([MISSING] if shape in ("with gaps", "mixed") else []))
        if shape in ("constant", "missing"):
            cell = st.just(draw(MISSING if shape == "missing" else cell))
        cells = [""] * rows if shape == "empty" else [draw(cell) for _ in range(rows)]
        found.append((name, [one.replace("\r", " ").replace("\n", " ") for one in cells]))
    return found


def answered(content: Any, cells: Mapping[str, Sequence[str]]) -> Any:
    """What the rights holder types in place of each ASK, and nothing else."""
    if isinstance(content, list):
        return [answered(each, cells) for each in content]
    if not isinstance(content, dict):
        return content
    is_date = content.get("kind") == "date"
    answers: dict[str, Any] = {
        "title": "A study", "nominal_size": 70, "typical_rows": 2, "budget_epsilon": 5, "basis": "dictionary",
        "lower": "0001-01-01" if is_date else -(10**9), "upper": "9999-12-31" if is_date else 10**9,
        "categories": sorted({one for one in cells.get(str(content.get("name")), ()) if len(one) <= 200}),
        "decimal": ",", "dates": "DD/MM/YYYY", "decision": "keep", "by": "dana", "why": "agreed",
    }  # fmt: skip
    return {
        name: answers[name] if value == ASK and name in answers else answered(value, cells)
        for name, value in content.items()
    }


@given(columns())
@example([("width", [f"{number},5" for number in range(12)])])
@example([("note", [f"{number} " + "x" * 200 for number in range(12)])])
@example([("code", [f"w{number}" for number in range(MOST_ROWS)])])
@example([("a\tb", ["1", "2", "3"])])
@example([("kg", ["1,5", "2,5", "3,5"]), ("mg", ["0.1", "0.2", "0.3"]), ("g", ["7.5"] * 3)])
@example([("at", ["1.1.2024", "2.1.2024", "31.2.2024"]), ("on", ["2024-01-01", "2024-02-01", "2024-03-01"])])
@example([("sent", ["2024-01-01 00:00", "2024-01-02 00:00", "2024-01-03 00:00"])])
@example([("seen", ["2024-01-01 10:00", "2024-01-02 11:00", "2024-01-03"])])
@example([("seen", ["2024-01-01 10:00", "2024-01-02 11:00", "2024-01-03 12:00"]), ("n", ["1", "2", "03"])])
@example([("on", ["1/2/2024", "2/3/2024", "3/4/2024"]), ("n", ["1,234", "5,678", "9,012"])])
@settings(max_examples=60, phases=[Phase.explicit, Phase.generate])
def test_a_draft_is_accepted_when_its_questions_are_answered(found: list[tuple[str, list[str]]]) -> None:
    rows = len(found[0][1])
    table = [("participant", [f"p{number}" for number in range(rows)])]
    table += [(name, cells) for name, cells in found if name.strip() != "participant"]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([name for name, _ in table])
    writer.writerows(zip(*(cells for _, cells in table), strict=True))
    with tempfile.TemporaryDirectory() as place:
        data, out = Path(place) / "study", Path(place) / "out"
        data.mkdir()
        (data / "people.csv").write_text(text.getvalue(), encoding="utf-8")
        assert run(["twin", "profile", str(data), "-o", str(out), "--without-sandbox", "--json"]) == 0
        proposed = re.sub(
            r"dialect: ASK  # proposed: ", "dialect: ", (out / "dataset.yaml").read_text("utf-8")
        )
        draft = parse_yaml(proposed, place="dataset.yaml")
        assert open_questions(draft)  # as drafted it cannot be registered
        content = answered(draft, dict(table))
        assert open_questions(content) == []
        (out / "dataset.yaml").write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
        assert run(["dataset", "check", str(data), "-d", str(out / "dataset.yaml"), "--json"]) == 0
