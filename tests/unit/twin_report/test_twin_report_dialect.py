"""An original in its own dialect beside a twin: they are compared as an import would write the original."""

from __future__ import annotations

from pathlib import Path

from factories import make_declaration, table_fields

from companions.twin_report.reading import read_tables
from companions.twin_report.same_shape import compare_folders
from twins.drawn import make_twin

DAYS = {"lower": "2020-01-01", "upper": "2024-12-31"}
PEOPLE = table_fields(
    path="people.csv",
    line_end="crlf",
    dialect={"delimiter": ";", "encoding": "windows-1252", "decimal": ",", "dates": "DD.MM.YYYY"},
    columns=[
        {"name": "Patient", "kind": "person"},
        {"name": "Größe", "kind": "number", "lower": 0, "upper": 3, "decimals": 2},
        {"name": "Tag", "kind": "date", **DAYS},
        {"name": "um", "kind": "date", "with_time": True, **DAYS},
        {"name": "Ort", "kind": "categorical", "categories": ["Köln"]},
    ],
)


def test_an_original_in_its_dialect_has_the_shape_and_the_values_of_a_table_like_the_twin(
    tmp_path: Path,
) -> None:
    declaration = make_declaration(
        tables=[PEOPLE], privacy_unit={"table": "people.csv", "column": "Patient"}, nominal_size=10
    )
    original, twin = tmp_path / "original", tmp_path / "twin"
    original.mkdir()
    twin.mkdir()
    rows = "".join(
        f"Jürgen {n};1,{70 + n};0{n + 1}.03.2024;0{n + 1}.03.2024 14:05;Köln\r\n" for n in range(9)
    )
    (original / "people.csv").write_bytes(f"Patient;Größe;Tag;um;Ort\r\n{rows}".encode("cp1252"))
    for path, content in make_twin(declaration).items():
        (twin / path).write_bytes(content)
    found = compare_folders(declaration, original, twin)
    assert [each.sentence for each in found if not each.on_purpose] == []
    (tables,) = read_tables(declaration, original=original, twin=twin, holdout=original)
    assert tables.holdout is not None
    sizes, days, moments, _ = tables.original.columns
    assert sizes.numbers.tolist() == [float(f"1.{70 + n}") for n in range(9)]
    assert days.numbers.tolist() == moments.numbers.tolist() == [738_946 + n for n in range(9)]
    assert tables.twin.columns[2].present.all()
