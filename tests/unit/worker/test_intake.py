"""Every problem of the fixed list with what triggers it, and that details stay in the data's own zone."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml
from factories import column_fields, make_declaration, table_fields

from domain.dataset import ImportProblem as P
from domain.dataset import TwinVolume
from domain.model import parse
from formats.checksums import manifest
from twins.drawn.files_volumes import make_file
from worker.intake import Delivery, ImportRefused, check_delivery

TABLE = "participant_id\tage\tsex\theight\nsub-1\t30\tf\t1.7\nsub-10\t40\tm\t1.8\n"
VISITS = table_fields(
    path="visits.csv",
    rows_per_person="many",
    columns=[{"name": "who", "kind": "person"}, column_fields(name="score")],
)
DESCRIPTION = '{"Name": "Heights", "BIDSVersion": "1.8.0"}'
BARE: dict[str, Any] = {
    "layout": "bids",
    "public_files": [{"path": "dataset_description.json", "text": DESCRIPTION}],
}
BIDS: dict[str, Any] = {**BARE, "person_files": [{"path": "{person}/eeg.json"}]}
BOTH: dict[str, Any] = {"tables": [table_fields(), VISITS]}
GRID: dict[str, Any] = {"shape": [2, 2, 2], "lower": 0, "upper": 9}
VOLUMES: dict[str, Any] = {
    **BARE,
    "folders": "some",
    "person_files": [{"path": "{person}/x.nii", "twin_volume": GRID}],
}
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


def volume(orientation: str) -> Callable[[Path], None]:
    grid = parse(TwinVolume, {**GRID, "orientation": orientation})
    content = make_file(grid, random.Random(1), compressed=False)
    return lambda folder: write(folder, {"participants.tsv": TABLE, "sub-1/x.nii": content})


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


def with_sums(text: str) -> Callable[[Path], None]:
    return lambda folder: write(folder, {"participants.tsv": TABLE, "SHA256SUMS.txt": text})


def public(**fields: Any) -> dict[str, Any]:
    return {**BARE, "public_files": [*BARE["public_files"], fields]}


def plain_public(text: str) -> dict[str, Any]:
    return {"public_files": [{"path": "README", "text": text}]}


HEADER = "participant_id\tage\tsex\theight\n"
PHENOTYPE = "score\tparticipant_id\n3\tsub-1\n4\tsub-10\n"
PARQUET: dict[str, Any] = {
    "tables": [table_fields(path="people.parquet")],
    "privacy_unit": {"table": "people.parquet", "column": "participant_id"},
}
PROBLEMS: list[tuple[str, P, Callable[[Path], None], dict[str, Any]]] = [
    ("no folder", P.NOT_DELIVERED, lambda folder: folder.rmdir(), {}),
    ("no file", P.FILE_MISSING, lambda folder: None, {}),
    ("a second table missing", P.FILE_MISSING, table(TABLE), BOTH),
    ("a file too many", P.FILE_UNDECLARED, tree(notes="x"), {}),
    ("a file too many in BIDS", P.FILE_UNDECLARED, tree(notes="x"), BARE),
    ("half a copy", P.UNFINISHED, tree(**{"dpgate-journal.jsonl": "{}"}), {}),
    ("no description", P.NOT_BIDS, tree(), {"layout": "bids"}),
    ("a description of nothing", P.NOT_BIDS, tree(**{"dataset_description.json": "[1]"}), BARE),
    (
        "a table of people",
        P.TABLE_UNDECLARED,
        tree(phenotype__b="1", **{"phenotype__a.tsv": PHENOTYPE}),
        BARE,
    ),
    ("a table of labels", P.TABLE_UNDECLARED, tree(**{"a.tsv": "x\tb\n10\t1\n1\t2\n"}), BARE),
    ("a table of names outside BIDS", P.TABLE_UNDECLARED, tree(**{"a.csv": "x,b\nsub-10,1\n"}), {}),
    ("a file of two", P.PERSON_MENTIONED, tree(**{"sub-1__sub-10_eeg.json": "{}"}), BARE),
    ("another in another case", P.PERSON_MENTIONED, tree(**{"sub-1__SUB-10.json": "{}"}), BARE),
    (
        "a text of another",
        P.PERSON_MENTIONED,
        tree(**{"sub-1__eeg.json": '"like sub-10"'}),
        {**BARE, "folders": "some"},
    ),
    ("a public text of somebody", P.PERSON_MENTIONED, tree(), public(path="a.md", text="not sub-10!")),
    ("a public path of somebody", P.PERSON_MENTIONED, tree(), public(path="sub-10.md", text="")),
    ("a word of somebody", P.PERSON_MENTIONED, tree(), plain_public("as sub-10, often")),
    ("a cell of another", P.PERSON_MENTIONED, table(TABLE.replace("\tf\t", "\tsub-10\t")), BARE),
    ("a public file that is not there", P.FILE_MISSING, tree(), public(path="a.bin", as_delivered=True)),
    ("too many", P.TOO_MANY_PEOPLE, table(HEADER + "".join(f"p{n}\t1\tf\t1\n" for n in range(82))), {}),
    ("no sub", P.PERSON_NAME, table(TABLE.replace("sub-10", "sub_10")), BARE),
    (
        "an empty folder of a stranger",
        P.PEOPLE_MISSING,
        lambda f: [table(TABLE)(f), (f / "sub-9").mkdir()],
        BARE,
    ),
    ("another file", P.CHECKSUM, with_sums("0" * 64 + "  participants.tsv\n"), {}),
    ("a file that was lost", P.CHECKSUM, with_sums(f"{sha256(TABLE.encode()).hexdigest()} *lost\n"), {}),
    ("no checksums", P.CHECKSUM, with_sums("see there\n"), {}),
    (
        "a file more than was delivered",
        P.CHECKSUM,
        tree(**{"dpgate-manifest.json": manifest({}).decode()}),
        {},
    ),
    ("no Parquet", P.NOT_PARQUET, lambda f: write(f, {"people.parquet": TABLE}), PARQUET),
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
    ("a name from right to left", P.PERSON_NAME, table(HEADER + "p\u202e1\t1\tf\t1\n"), {}),
    ("a name with nothing in it", P.PERSON_NAME, table(HEADER + "p\u200b1\t1\tf\t1\n"), {}),
    ("a name with a bell", P.PERSON_NAME, table(HEADER + "p\x071\t1\tf\t1\n"), {}),
    ("a name with two spaces", P.PERSON_NAME, table(HEADER + "p  1\t1\tf\t1\n"), {}),
    ("a name with a hard space", P.PERSON_NAME, table(HEADER + "p\u00a01\t1\tf\t1\n"), {}),
    ("a name in pieces", P.PERSON_NAME, table(HEADER + "Jose\u0301\t1\tf\t1\n"), {}),
    ("a name that is a sign", P.PERSON_NAME, table(HEADER + "'\t1\tf\t1\n"), {}),
    ("a name without an end", P.PERSON_NAME, table(HEADER + "é" * 129 + "\t1\tf\t1\n"), {}),
    (
        "a word of somebody with an accent",
        P.PERSON_MENTIONED,
        table(HEADER + "José\t1\tf\t1\n"),
        plain_public("as José's, often"),
    ),
    (
        "some words of somebody",
        P.PERSON_MENTIONED,
        table(HEADER + "Nguyễn Văn A\t1\tf\t1\n"),
        plain_public("(Nguyễn Văn\nA)"),
    ),
    (
        "somebody in pieces",
        P.PERSON_MENTIONED,
        table(HEADER + "José\t1\tf\t1\n"),
        plain_public("as Jose\u0301 said"),
    ),
    ("two rows", P.PERSON_REPEATED, table(TABLE + "sub-1\t1\tf\t1\n"), {}),
    ("two spellings of one", P.PERSON_REPEATED, table(TABLE + " sub-1 \t1\tf\t1\n"), {}),
    ("a stranger in a table", P.PEOPLE_MISSING, visits(f"who,score\n{SECRET},7\n"), BOTH),
    ("a stranger's folder", P.PEOPLE_MISSING, tree(**{"sub-2__eeg.json": "{}"}), BIDS),
    ("a volume that leads elsewhere", P.VOLUME_PLACE, volume("LAS"), VOLUMES),
    ("a volume that is none", P.VOLUME_PLACE, tree(**{"sub-1__x.nii": SECRET}), VOLUMES),
    ("no folder of a person", P.FOLDER_MISSING, tree(**{"sub-1__eeg.json": "{}"}), BIDS),
]


def test_each_problem(subtests: pytest.Subtests, tmp_path: Path) -> None:
    for number, (name, problem, make, fields) in enumerate(PROBLEMS):
        with subtests.test(name):
            folder = tmp_path / str(number)
            folder.mkdir()
            make(folder)
            with pytest.raises(ImportRefused) as refused:
                check(folder, **fields).verify()
            assert refused.value.problem is problem
            assert SECRET not in refused.value.problem  # the words that pass the gateway


NAMES = [
    "José", "Øyvind", "O'Brien", "O\u2019Brien", "Nguyễn Văn A", "Anne-Marie", "李小龍", "Ольга", "محمد",
    "अनिल", "J. R. Smith", "Martí i Pol", "Gal·la", "ᚠᚢᚦ", "x" * 128,
]  # fmt: skip


def test_people_have_the_names_that_people_have(tmp_path: Path) -> None:
    write(tmp_path, {"participants.tsv": HEADER + "".join(f"{name}\t1\tf\t1\n" for name in NAMES)})
    assert list(check(tmp_path).people) == NAMES


def test_volumes_that_lie_as_declared_are_taken(tmp_path: Path) -> None:
    for orientation, declared in (
        ("RAS", {}),
        ("LAS", {"orientation": "LAS"}),
        ("LAS", {"any_orientation": True}),
    ):
        folder = tmp_path / "-".join([orientation, *declared])
        folder.mkdir()
        volume(orientation)(folder)
        files = [{"path": "{person}/x.nii", "twin_volume": GRID | declared}]
        assert list(check(folder, **{**VOLUMES, "person_files": files}).people["sub-1"]) == ["sub-1/x.nii"]


def test_the_table_covers_the_list() -> None:
    # integration/worker and integration/store have the last ones
    assert {row[1] for row in PROBLEMS} | {P.SAME_PEOPLE, P.WITHDRAWN} == set(P)


WHAT_IS_TAKEN = {
    "plain": TABLE,
    "byte order mark": "\ufeff" + TABLE,
    "CRLF": TABLE.replace("\n", "\r\n"),
    "no last line end": TABLE.removesuffix("\n"),
    "nobody": HEADER,
    "an undeclared column": TABLE.replace("height\n", "height\tdiary\n")
    .replace("1.7\n", "1.7\tx\n")
    .replace("1.8\n", "1.8\ty\n"),
}


def test_what_is_taken(subtests: pytest.Subtests, tmp_path: Path) -> None:
    for number, (name, text) in enumerate(WHAT_IS_TAKEN.items()):
        with subtests.test(name):
            (folder := tmp_path / str(number)).mkdir()
            write(folder, {"participants.tsv": text})
            people = check(folder).people
            assert list(people) == ([] if text == HEADER else ["sub-1", "sub-10"])


def test_what_is_excluded_is_not_looked_at(tmp_path: Path) -> None:
    tree(
        **{
            "sub-1__anat__t1.json": "sub-10",
            "sub-1__eeg.json": "{}",
            "sub-10__eeg.json": "{}",
            "code__sub-77.py": "",
            "group.tsv": "participant_id\nsub-77\n",
        }
    )(tmp_path)
    delivery = check(tmp_path, **BIDS, excluded=["{person}/anat", "code", "group.tsv"])
    assert sorted(delivery.people["sub-1"]) == ["sub-1/eeg.json"]
    with pytest.raises(ImportRefused):
        check(tmp_path, **BIDS, excluded=["{person}/ana", "code", "group.tsv"])


def test_people_without_a_folder_are_taken_if_that_is_declared(tmp_path: Path) -> None:
    tree(**{"sub-1__eeg.json": "{}"})(tmp_path)
    assert dict(check(tmp_path, **BIDS, folders="some").people["sub-10"]) == {}


def test_files_for_everybody_are_taken_as_delivered(tmp_path: Path) -> None:
    tree(**{"stimuli__a.png": "pixels"})(tmp_path)
    stand_in = {"path": "stimuli/a.png", "text": "none", "as_delivered": True}
    delivery = check(tmp_path, **public(**stand_in))
    with delivery.shared["stimuli/a.png"]() as file:
        assert file.read() == b"pixels"


def test_the_words_for_an_undeclared_table_declare_it(tmp_path: Path) -> None:
    tree(**{"phenotype__a.tsv": PHENOTYPE})(tmp_path)
    with pytest.raises(ImportRefused) as refused:
        check(tmp_path, **BARE)
    found = yaml.safe_load(refused.value.detail.partition("\n")[2].replace("?", "9"))
    found[0]["columns"][0] |= {"lower": 0, "upper": 9}
    assert check(tmp_path, **BARE, tables=[table_fields(), *found])
    assert "3" not in refused.value.detail.replace("sub-1", "")


def test_checksums_that_fit_come_along(tmp_path: Path) -> None:
    sums = f"{sha256(TABLE.encode()).hexdigest()} *./participants.tsv\n"
    with_sums(sums)(tmp_path)
    write(tmp_path, {"gone/a": "", "SHA256SUMS.txt": sums + "0" * 64 + "  gone/b\n"})
    delivery = check(tmp_path, excluded=["gone"])
    delivery.verify()
    assert delivery.checksums == (tmp_path / "SHA256SUMS.txt").read_bytes()


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


def test_files_go_to_the_person_whom_their_path_names(tmp_path: Path) -> None:
    tree(
        **{
            "sub-1__eeg.json": "one",
            "sub-10__eeg.json": "ten",
            "sub-10__ses-1__eeg.json": "x",
            "derivatives__mean__sub-1__mean.tsv": "mean\n1\n",
            "sourcedata__sub-10_raw.json": "{}",
        }
    )(tmp_path)
    people = check(tmp_path, **BIDS).people
    assert {person: sorted(files) for person, files in people.items()} == {
        "sub-1": ["derivatives/mean/sub-1/mean.tsv", "sub-1/eeg.json"],
        "sub-10": ["sourcedata/sub-10_raw.json", "sub-10/eeg.json", "sub-10/ses-1/eeg.json"],
    }
