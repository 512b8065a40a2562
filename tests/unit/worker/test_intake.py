"""Every problem of the fixed list with what triggers it, and that details stay in the data's own zone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from factories import column_fields, make_declaration, table_fields

from domain.dataset import ImportProblem as P
from worker.intake import Delivery, ImportRefused, check_delivery

TABLE = "participant_id\tage\tsex\theight\nsub-1\t30\tf\t1.7\nsub-10\t40\tm\t1.8\n"
VISITS = table_fields(
    path="visits.csv",
    rows_per_person="many",
    columns=[{"name": "who", "kind": "person"}, column_fields(name="score")],
)
BIDS: dict[str, Any] = {"layout": "bids", "person_files": [{"path": "{person}/eeg.json"}]}
BOTH: dict[str, Any] = {"tables": [table_fields(), VISITS]}
SECRET = "canary-7d1"


def write(folder: Path, files: dict[str, str | bytes]) -> None:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content if isinstance(content, bytes) else content.encode())


def check(folder: Path, *, max_file_bytes: int = 10_000, **fields: Any) -> Delivery:
    return check_delivery(folder, make_declaration(**fields), max_file_bytes=max_file_bytes)


def table(text: str | bytes) -> Callable[[Path], None]:
    return lambda folder: write(folder, {"participants.tsv": text})


def visits(text: str) -> Callable[[Path], None]:
    return lambda folder: write(folder, {"participants.tsv": TABLE, "visits.csv": text})


def tree(**files: str) -> Callable[[Path], None]:
    named = {path.replace("__", "/"): text for path, text in files.items()}
    return lambda folder: write(folder, {"participants.tsv": TABLE, **named})


def linked(folder: Path) -> None:
    write(folder, {"elsewhere": TABLE})
    (folder / "participants.tsv").symlink_to(folder / "elsewhere")


def linked_folder(folder: Path) -> None:
    write(folder, {"participants.tsv": TABLE})
    (folder / "sub-1").symlink_to("/etc")


def fifo(folder: Path) -> None:
    write(folder, {"participants.tsv": TABLE})
    os.mkfifo(folder / "pipe")


def named(name: bytes) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        write(folder, {"participants.tsv": TABLE})
        (folder / "sub-1").mkdir()
        with open(os.fsencode(folder / "sub-1") + b"/" + name, "wb"):
            pass

    return make


def deep(folder: Path) -> None:
    write(folder, {"participants.tsv": TABLE, "sub-1/" + "d/" * 40 + "file": ""})


HEADER = "participant_id\tage\tsex\theight\n"
PROBLEMS: list[tuple[str, P, Callable[[Path], None], dict[str, Any]]] = [
    ("no folder", P.NOT_DELIVERED, lambda folder: folder.rmdir(), {}),
    ("no file", P.FILE_MISSING, lambda folder: None, {}),
    ("a second table missing", P.FILE_MISSING, table(TABLE), BOTH),
    ("a file too many", P.FILE_UNDECLARED, tree(notes="x"), {}),
    ("a file too many in BIDS", P.FILE_UNDECLARED, tree(notes="x"), {"layout": "bids"}),
    ("a person's folder outside BIDS", P.FILE_UNDECLARED, tree(**{"sub-1__eeg.json": "{}"}), {}),
    ("a link", P.NOT_A_FILE, linked, {}),
    ("a linked folder", P.NOT_A_FILE, linked_folder, {"layout": "bids"}),
    ("a FIFO", P.NOT_A_FILE, fifo, {}),
    ("a name with a line end", P.FILE_NAME, named(b"a\nb"), {"layout": "bids"}),
    ("a name that is not UTF-8", P.FILE_NAME, named(b"\xff"), {"layout": "bids"}),
    ("a tree that is too deep", P.FILE_NAME, deep, {"layout": "bids"}),
    ("too large", P.TOO_LARGE, table(TABLE + "x" * 10_000), {}),
    ("not UTF-8", P.NOT_UTF8, table(TABLE.encode() + b"\xff\n"), {}),
    ("UTF-16", P.NOT_UTF8, table(TABLE.encode("utf-16")), {}),
    ("empty", P.NOT_A_TABLE, table(""), {}),
    ("blank", P.NOT_A_TABLE, table("\n\n"), {}),
    ("ragged", P.NOT_A_TABLE, table(HEADER + f"{SECRET}\t1\n"), {}),
    ("a blank line", P.NOT_A_TABLE, table(TABLE + "\n"), {}),
    ("a quote that never ends", P.NOT_A_TABLE, visits('who,score\nsub-1,"7\n'), BOTH),
    ("text after a quote", P.NOT_A_TABLE, visits('who,score\n"sub-1"x,7\n'), BOTH),
    ("no unit column", P.UNIT_COLUMN_MISSING, table("age\tsex\theight\n1\tf\t1\n"), {}),
    ("no declared column", P.COLUMN_MISSING, table("participant_id\tage\tsex\nsub-1\t1\tf\n"), {}),
    ("a column twice", P.COLUMN_REPEATED, table("participant_id\tage\tsex\theight\tage\n"), {}),
    ("a row of nobody", P.PERSON_EMPTY, table(HEADER + " \t1\tf\t1\n"), {}),
    ("a name with a slash", P.PERSON_NAME, table(HEADER + f"{SECRET}/..\t1\tf\t1\n"), {}),
    ("a name like a parent", P.PERSON_NAME, table(HEADER + "..\t1\tf\t1\n"), {}),
    ("two rows", P.PERSON_REPEATED, table(TABLE + "sub-1\t1\tf\t1\n"), {}),
    ("two spellings of one", P.PERSON_REPEATED, table(TABLE + " sub-1 \t1\tf\t1\n"), {}),
    ("a stranger in a table", P.PEOPLE_MISSING, visits(f"who,score\n{SECRET},7\n"), BOTH),
    ("a stranger's folder", P.PEOPLE_MISSING, tree(**{"sub-2__eeg.json": "{}"}), BIDS),
    ("no folder of a person", P.FOLDER_MISSING, tree(**{"sub-1__eeg.json": "{}"}), BIDS),
]


@pytest.mark.parametrize(
    ("problem", "make", "fields"), [row[1:] for row in PROBLEMS], ids=[row[0] for row in PROBLEMS]
)
def test_each_problem(
    problem: P, make: Callable[[Path], None], fields: dict[str, Any], tmp_path: Path
) -> None:
    folder = tmp_path / "delivery"
    folder.mkdir()
    make(folder)
    with pytest.raises(ImportRefused) as refused:
        check(folder, **fields)
    assert refused.value.problem is problem
    assert SECRET not in refused.value.problem  # the words that pass the gateway


def test_the_table_covers_the_list() -> None:
    assert {row[1] for row in PROBLEMS} | {P.SAME_PEOPLE} == set(P)  # integration/worker has the last one


@pytest.mark.parametrize(
    "text",
    [
        TABLE,
        "\ufeff" + TABLE,
        TABLE.replace("\n", "\r\n"),
        TABLE.removesuffix("\n"),
        HEADER,
        TABLE.replace("height\n", "height\tdiary\n")
        .replace("1.7\n", "1.7\tx\n")
        .replace("1.8\n", "1.8\ty\n"),
    ],
    ids=["plain", "byte order mark", "CRLF", "no last line end", "nobody", "an undeclared column"],
)
def test_what_is_taken(text: str, tmp_path: Path) -> None:
    write(tmp_path, {"participants.tsv": text})
    people = check(tmp_path).people
    assert list(people) == ([] if text == HEADER else ["sub-1", "sub-10"])


def test_many_rows_and_quotes_are_taken(tmp_path: Path) -> None:
    visits('who,score\nsub-1,"1\n2"\nsub-10,"a,b"\nsub-1,7\n')(tmp_path)
    with check(tmp_path, **BOTH).tables["visits.csv"]() as file:
        assert file.read().startswith(b"who,score\n")


def test_what_nobody_declared_does_not_enter_the_snapshot(tmp_path: Path) -> None:
    write(
        tmp_path, {"participants.tsv": "age\tsecret\tparticipant_id\tsex\theight\n25\tx-ray\tsub-1\tf\tn/a\n"}
    )
    with check(tmp_path).tables["participants.tsv"]() as file:
        assert file.read() == b"participant_id\tage\tsex\theight\nsub-1\t25\tf\tn/a\n"


def test_files_go_to_the_person_whose_folder_it_is(tmp_path: Path) -> None:
    tree(**{"sub-1__eeg.json": "one", "sub-10__eeg.json": "ten", "sub-10__ses-1__eeg.json": "x"})(tmp_path)
    people = check(tmp_path, **BIDS).people
    assert {person: sorted(files) for person, files in people.items()} == {
        "sub-1": ["sub-1/eeg.json"],
        "sub-10": ["sub-10/eeg.json", "sub-10/ses-1/eeg.json"],
    }
