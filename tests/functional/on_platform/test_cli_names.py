"""People whose names are not of English letters alone: imported, counted, and found by a pipeline's runs."""

from __future__ import annotations

from pathlib import Path

from terminal import Platform, data_folder, ready_pipeline

NAMES = [
    "José", "Øyvind", "O'Brien", "Nguyễn Văn A", "Анна", "李小龍", "محمد", "Zoë Smith", "J. R. Ewing",
    "Łukasz", "Şeyma", "p12",
]  # fmt: skip


def test_people_with_any_letters_are_imported_and_analysed(one_platform: Platform, tmp_path: Path) -> None:
    data, declaration = data_folder(tmp_path, name="letters")
    rows = "".join(f"{name},{20 + number}\n" for number, name in enumerate(NAMES))
    (data / "people.csv").write_text("person,age\n" + rows, encoding="utf-8")
    holder, ada = one_platform.holder, one_platform.ada
    holder.ok("dataset", "check", data, "-d", declaration)
    holder.ok("dataset", "add", data, "-d", declaration, "--deliveries", one_platform.stack.home.deliveries)
    counted = ada.ok(
        "query", "submit", "{kind: count}", "--dataset", "letters", "--epsilon", "1", "--wait", "--json"
    )
    assert counted.json["values"]
    folder = ready_pipeline(one_platform, "letters", "of-letters")
    released = ada.ok("submit", folder, "--epsilon", "2", "--wait", "--json").json
    assert released["values"]
