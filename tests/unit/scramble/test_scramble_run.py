"""A scrambled folder: signed for, with other names everywhere, and nothing of files that are no tables."""

from __future__ import annotations

import hashlib
import json
import stat
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from companions.scramble.agreement import NOTE, RECORD, Agreement, agree
from companions.scramble.methods import Wishes
from companions.scramble.run import Order, Outcome, scramble
from companions.scramble.tables import Named
from companions.scramble.verify import verify
from domain.errors import InvalidRequest
from dpgate.errors import DpgateError

TODAY = date(2026, 3, 2)
PLANTED = ("SMITH^JOHN", "19700101", "MRN-4711")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A BIDS data set with names of people in every place that is not a table."""
    data = tmp_path / "data"
    people = [f"sub-{number:02d}" for number in range(1, 21)]
    rows = [
        f"{who}\t{20 + number}\t{'mf'[number % 2]}\t{1.5 + number / 100:.2f}"
        for number, who in enumerate(people)
    ]
    write(data / "participants.tsv", "participant_id\tage\tsex\theight\n" + "\n".join(rows) + "\n")
    write(data / "participants.json", json.dumps({"age": {"Description": PLANTED[0]}}))
    write(data / "dataset_description.json", json.dumps({"Name": PLANTED[2], "BIDSVersion": "1.9.0"}))
    write(data / "README", f"with thanks to {PLANTED[0]}")
    write(data / "code" / "run.py", f"born = {PLANTED[1]}")
    for who in people[:3]:
        write(data / who / "anat" / f"{who}_T1w.nii", f"header {PLANTED[1]}")
        scans = [f"anat/{who}_T1w.nii\t1\t10", f"func/{who}_bold.nii\t2\t20", f"func/{who}_x.nii\t3\t30"]
        write(data / who / f"{who}_scans.tsv", "filename\trun\tday\n" + "\n".join(scans) + "\n")
    return data


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def signed(**changes: Any) -> Agreement:
    content = {"signed_by": "A. Holder", "agreement": "DTA 12", "expires": "2026-12-31", **changes}
    return agree(**content, today=TODAY)


def run(source: Path, out: Path, *, key: Path | None = None, **changes: Any) -> Outcome:
    settings = {name: changes.pop(name) for name in ("exclude",) if name in changes}
    settings["named"] = Named(
        **{name: changes.pop(name) for name in ("ids", "drop", "keep") if name in changes}
    )
    wishes = Wishes(**{"method": "permute", **changes})
    return scramble(Order(source, out, wishes, signed(), key, **settings), today=TODAY)


def table(path: Path) -> tuple[list[str], list[tuple[str, ...]]]:
    header, *rows = path.read_text().splitlines()
    return header.split("\t"), [tuple(row.split("\t")) for row in rows]


def test_nothing_but_cells_of_tables_is_handed_out(source: Path, tmp_path: Path) -> None:
    found = run(source, tmp_path / "out")
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    held = b"".join(path.read_bytes() + str(path).encode() for path in written)
    assert not [name for name in PLANTED if name.encode() in held]
    assert b"sub-0" not in held
    assert b"sub-1" not in held
    assert found.people == 20
    assert "README" in found.empty
    assert json.loads((tmp_path / "out" / "dataset_description.json").read_text())["BIDSVersion"] == "1.9.0"
    # the folders are those of people whom the table lists, and a scan is called what its folder is called
    listed = {row[0] for row in table(tmp_path / "out" / "participants.tsv")[1]}
    folders = {path.name for path in (tmp_path / "out").glob("sub-*")}
    assert len(folders) == 3
    assert folders <= listed
    for who in folders:
        assert all(who in row[0] for row in table(tmp_path / "out" / who / f"{who}_scans.tsv")[1])


def test_columns_keep_their_cells_and_lose_each_other(source: Path, tmp_path: Path) -> None:
    run(source, tmp_path / "out")
    header, rows = table(tmp_path / "out" / "participants.tsv")
    _, before = table(source / "participants.tsv")
    for place in range(1, len(header)):
        assert sorted(row[place] for row in rows) == sorted(row[place] for row in before)
    # an order of twenty rows comes out as it was with probability 1 / 20!
    assert [row[1] for row in rows] != [row[1] for row in before]
    assert Counter(row[1:] for row in rows) != Counter(row[1:] for row in before)


def test_columns_named_together_stay_together(source: Path, tmp_path: Path) -> None:
    _, before = table(source / "participants.tsv")
    run(source, tmp_path / "one", together=(("age", "height"),))
    _, rows = table(tmp_path / "one" / "participants.tsv")
    assert {(row[1], row[3]) for row in rows} == {(row[1], row[3]) for row in before}
    run(source, tmp_path / "two", within="sex")
    _, rows = table(tmp_path / "two" / "participants.tsv")
    for place in (1, 3):
        assert {(row[2], row[place]) for row in rows} == {(row[2], row[place]) for row in before}
    assert {(row[1], row[3]) for row in rows} != {(row[1], row[3]) for row in before}
    # both at once leave every row as it was
    with pytest.raises(DpgateError, match="copy"):
        run(source, tmp_path / "both", together=(("age", "height"),), within="sex")


def test_swap_jitter_and_stub(source: Path, tmp_path: Path) -> None:
    _, before = table(source / "participants.tsv")
    run(source, tmp_path / "swap", method="swap", share=0.2)
    rows = table(tmp_path / "swap" / "participants.tsv")[1]
    assert sorted(row[3] for row in rows) == sorted(row[3] for row in before)
    # four cells of each column trade places: at most twelve rows are touched
    assert len({row[1:] for row in before} - {row[1:] for row in rows}) <= 12
    run(source, tmp_path / "jitter", method="jitter", reach=0.2, exclude=tuple(scans(source)))
    rows = table(tmp_path / "jitter" / "participants.tsv")[1]
    assert all(20 <= int(row[1]) <= 39 and 1.5 <= float(row[3]) <= 1.69 for row in rows)
    assert Counter(row[2] for row in rows) == Counter(row[2] for row in before)
    assert {row[3] for row in rows} != {row[3] for row in before}
    assert all(len(row[3]) == 4 for row in rows)
    run(source, tmp_path / "stub", method="stub")
    rows = table(tmp_path / "stub" / "participants.tsv")[1]
    assert {row[1:] for row in rows} == {("n/a", "n/a", "n/a")}


def scans(source: Path) -> list[str]:
    return sorted(path.relative_to(source).as_posix() for path in source.rglob("*_scans.tsv"))


def test_a_copy_with_other_names_is_refused(source: Path, tmp_path: Path) -> None:
    everything = (("age", "sex", "height"),)
    with pytest.raises(DpgateError, match=r"participants\.tsv would come out as a copy of its rows"):
        run(source, tmp_path / "out", together=everything, exclude=tuple(scans(source)))
    write(source / "participants.tsv", "participant_id\tsex\nsub-01\tm\nsub-02\tf\n")
    with pytest.raises(DpgateError, match="copy"):
        run(source, tmp_path / "out", method="jitter", exclude=tuple(scans(source)))
    write(source / "participants.tsv", "participant_id\tage\tsex\nsub-01\t41\tf\n")
    with pytest.raises(DpgateError, match="copy"):
        run(source, tmp_path / "out", exclude=tuple(scans(source)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data"]


def test_the_leak_report_stays_behind(source: Path, tmp_path: Path) -> None:
    found = run(source, tmp_path / "out")
    assert found.report == tmp_path / "out.leaks.md"
    assert stat.S_IMODE(found.report.stat().st_mode) == 0o600
    (people,) = [one for one in found.tables if one.path == "participants.tsv"]
    leaks = {column.name: (column.held_by_one, column.reappear, column.extremes) for column in people.columns}
    assert leaks["age"] == (20, 20, (True, True))
    assert leaks["sex"] == (0, 0, None)
    assert "| age | 20 | 20 | shown | shown |" in found.report.read_text()
    assert not any(name in found.report.read_text() for name in (*PLANTED, "1.69"))
    with pytest.raises(DpgateError, match=r"out\.leaks\.md is there already"):
        run(source, tmp_path / "out")


def test_names_of_people_are_keyed(source: Path, tmp_path: Path) -> None:
    key = tmp_path / "key"
    for name in ("one", "two"):
        run(source, tmp_path / name, key=key)
    run(source, tmp_path / "other")
    one, two, other = (
        {row[0] for row in table(tmp_path / name / "participants.tsv")[1]} for name in ("one", "two", "other")
    )
    assert one == two
    assert not one & other
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert key.read_text().strip() not in (tmp_path / "one" / RECORD).read_text()
    key.write_text("00")
    with pytest.raises(DpgateError, match="holds no key"):
        run(source, tmp_path / "three", key=key)
    with pytest.raises(DpgateError, match="lie in each other"):
        run(source, tmp_path / "three", key=tmp_path / "three" / "key")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"signed_by": " "}, "signed_by"),
        ({"agreement": ""}, "agreement"),
        ({"agreement": "a\nb"}, "agreement"),
        ({"expires": "soon"}, "expires"),
        ({"expires": "2026-03-01"}, "is over"),
        ({"expires": "2100-01-01"}, "more than 366 days away; name a day until 2027-03-03"),
        ({"expires": "2027-03-04"}, "more than 366 days away"),
    ],
)
def test_nobody_gets_it_without_a_signature(changes: dict[str, str], words: str) -> None:
    with pytest.raises((InvalidRequest, DpgateError), match=words):
        signed(**changes)


ORDERS_THAT_CANNOT_BE_DONE = (
    ({"method": "swap", "within": "sex"}, "belong to --method permute"),
    ({"share": 0.0}, "--share"),
    ({"reach": float("nan")}, "--reach"),
    ({"together": (("age",), ("age",))}, "twice"),
    ({"together": (("age", "zip"),)}, "lacks one of them"),
    ({"within": "zip"}, "no table has a column 'zip'"),
    ({"ids": ("ssn",)}, "no table has a column 'ssn'"),
    ({"drop": ("ssn",)}, "no table has a column 'ssn'"),
    ({"keep": ("ssn",)}, "--keep: no table has a column 'ssn'"),
    ({"keep": ("participant_id",)}, "--keep participant_id: it says whose a row"),
    ({"exclude": ("nothing",)}, "no such path"),
    ({"method": "bidscramble", "drop": ("sex",)}, "do not reach BIDScramble"),
)


def test_orders_that_cannot_be_done(subtests: pytest.Subtests, source: Path, tmp_path: Path) -> None:
    for number, (changes, words) in enumerate(ORDERS_THAT_CANNOT_BE_DONE):
        with subtests.test(changes=changes, words=words):
            (folder := tmp_path / str(number)).mkdir()
            with pytest.raises(DpgateError, match=words):
                run(source, folder / "out", **changes)
            assert list(folder.iterdir()) == []


def test_one_table_with_a_name_and_a_column_to_leave_out(tmp_path: Path) -> None:
    write(tmp_path / "t.csv", 'name,ssn,age,town\n"Doe, J",1,40,A\nRoe,2,50,B\nPoe,3,60,C\n')
    run(tmp_path / "t.csv", tmp_path / "out", ids=("name",), drop=("ssn",))
    text = (tmp_path / "out" / "t.csv").read_text()
    assert text.startswith("name,age,town\n")
    assert not any(name in text for name in ("Doe", "Roe", "Poe"))


def test_a_table_with_other_marks_is_no_table_of_one_column(tmp_path: Path) -> None:
    write(tmp_path / "people.csv", "name;age;size\n" + "".join(f"Ada{n};{n};1,5\n" for n in range(20)))
    with pytest.raises(DpgateError, match="has ';' between the names of its columns where commas belong"):
        run(tmp_path / "people.csv", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_verify_knows_the_day_and_the_files(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(source, out)
    assert verify(out, today=date(2026, 12, 31)).is_usable
    late = verify(out, today=date(2027, 1, 1))
    assert late.is_expired
    assert not late.is_usable
    assert late.record.guarantee == "none"
    listed = {one.path: one.sha256 for one in late.record.files}
    assert listed[NOTE] == hashlib.sha256((out / NOTE).read_bytes()).hexdigest()
    (out / NOTE).unlink()
    write(out / "participants.tsv", "participant_id\nsub-01\n")
    write(out / "more.txt", "x")
    assert verify(out, today=TODAY).problems == (
        "NOT-ANONYMOUS.md is gone", "more.txt was not handed over", "participants.tsv was changed",
    )  # fmt: skip
    record = json.loads((out / RECORD).read_text())
    for broken in ("[", json.dumps({**record, "guarantee": "pure_dp"}), json.dumps({**record, "more": 1})):
        write(out / RECORD, broken)
        with pytest.raises((DpgateError, InvalidRequest)):
            verify(out, today=TODAY)
    (out / RECORD).unlink()
    with pytest.raises(DpgateError, match="is no scrambled folder"):
        verify(out, today=TODAY)
