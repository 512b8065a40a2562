"""A file that is called after somebody does not come out under that name."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_scramble_identifiers import people, run, written

from dpgate.errors import DpgateError

NAMES = ("Müller, Jörg", "Núñez Ortega, Ana", "Weber, Karl", "Kowalska, Łucja", "Иванов, Пётр")
CALLED = (
    "Müller_Jörg.json", "mueller-joerg.pdf", "scans/2024_nunez_ortega.txt", "Weber, Karl/notes.txt",
    "kowalska.dat", "Иванов Пётр.txt",
)  # fmt: skip
HARMLESS = (
    "karl_task-rest_run-1.json",
    "weber/scan.json",
    "task-rest_bold.json",
    "README",
    "code/analysis.py",
)


def folder(place: Path, other: str) -> Path:
    rows = [row | {"name": NAMES[number % len(NAMES)]} for number, row in enumerate(people())]
    (place / other).parent.mkdir(parents=True, exist_ok=True)
    written(place / "participants.csv", rows)
    (place / other).write_text("{}")
    return place


def test_a_path_with_the_name_of_somebody_in_a_table_is_refused(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for number, path in enumerate(CALLED):
        source, out = folder(tmp_path / f"in{number}", path), tmp_path / f"out{number}"
        with subtests.test(path), pytest.raises(DpgateError, match="has a name of somebody"):
            run(source, out)
        assert not out.exists()


def test_one_word_among_others_and_words_of_studies_are_no_names(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for number, path in enumerate(HARMLESS):
        out = tmp_path / f"out{number}"
        with subtests.test(path):
            run(folder(tmp_path / f"in{number}", path), out)
            assert (out / path).exists()
