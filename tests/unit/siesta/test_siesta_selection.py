"""leaveoneout and singlesubject: who stays, who goes, and what is refused because nobody can tell."""

from __future__ import annotations

import os

import pytest
from bids_folders import PEOPLE, dataset, read, write

from companions.siesta import new_folder
from companions.siesta.people import choose
from companions.siesta.selection import select
from dpgate.errors import DpgateError


def refused(root, match, *, participant="sub-1", alone=False, **options):
    out = root.parent / "out"
    with pytest.raises(DpgateError, match=match):
        select(root, out, participant, alone=alone, **options)
    assert [path.name for path in root.parent.iterdir() if path != root] == []


def test_no_trace_of_the_person_stays_in_any_path_or_table(tmp_path):
    done = select(write(tmp_path / "in", dataset()), tmp_path / "out", "sub-2", alone=False)
    left = read(tmp_path / "out")
    assert not [path for path in left if "sub-2" in path]
    assert not [path for path, content in left.items() if b"sub-2" in content]
    assert left["phenotype/iq.tsv"] == b"age\tsubject\tiq\n25\t1\t1e2\n25\t10\t1e2\n25\t11\t1e2\n"
    assert done.rewritten == ("participants.tsv", "phenotype/iq.tsv", "sourcedata/list.csv")
    assert (done.participant, done.files) == ("sub-2", len(left))


def test_other_people_stay_whose_ids_begin_alike(tmp_path):
    select(write(tmp_path / "in", dataset()), tmp_path / "out", "sub-1", alone=False)
    left = read(tmp_path / "out")
    for label in PEOPLE[1:]:
        assert f"sub-{label}/anat/sub-{label}_T1w.json" in left
        assert f"sub-{label}\t".encode() in left["participants.tsv"]
    assert not [path for path in left if path.startswith("sub-1/")]


def test_only_paths_inside_the_data_set_count(tmp_path):
    root = write(tmp_path / "sub-1" / "in", dataset())
    select(root, tmp_path / "sub-1" / "sub-2-out", "sub-2", alone=False)
    assert len(read(tmp_path / "sub-1" / "sub-2-out")) == len(read(root)) - 4


def test_untouched_bytes_stay(tmp_path):
    """`n/a`, whole numbers, exponents, line ends, quotes and a missing last line end."""
    select(write(tmp_path / "in", dataset()), tmp_path / "out", "sub-2", alone=False)
    left = read(tmp_path / "out")
    assert left["participants.tsv"] == (
        b"participant_id\tage\tnote\r\nsub-1\t20\tn/a\r\nsub-10\t22\tn/a\r\nsub-11\t23\tn/a\r\n"
    )
    assert left["sourcedata/list.csv"] == b'note,participant\n"a, ""b""\nc",sub-1\nd,sub-10\nd,sub-11'


def test_one_person_alone(tmp_path):
    select(write(tmp_path / "in", dataset()), tmp_path / "out", "sub-10", alone=True)
    left = read(tmp_path / "out")
    assert left["participants.tsv"] == b"participant_id\tage\tnote\r\nsub-10\t22\tn/a\r\n"
    assert left["sourcedata/list.csv"] == b"note,participant\nd,sub-10\n"
    assert {path.split("/")[0] for path in left if path.startswith("sub-")} == {"sub-10"}
    assert left["README"] == b"Invented.\n"
    assert left["code/run_01.py"] == b"print(1)\n"
    assert not (tmp_path / "out" / "sub-1").exists()


def test_nothing_is_copied_unless_asked_for(tmp_path):
    root = write(tmp_path / "in", dataset())
    for name, copy, links in (("a", False, 2), ("b", True, 1)):
        select(root, tmp_path / name, "sub-1", alone=False, copy=copy)
        assert (tmp_path / name / "README").stat().st_nlink == links


def test_a_file_system_without_links_gets_copies(tmp_path, monkeypatch):
    def no_links(*_):
        raise OSError

    monkeypatch.setattr(new_folder.os, "link", no_links)
    select(write(tmp_path / "in", dataset()), tmp_path / "out", "sub-1", alone=False)
    assert (tmp_path / "out" / "README").read_text() == "Invented.\n"


def test_a_rewritten_table_is_as_readable_as_the_original(tmp_path):
    root = write(tmp_path / "in", dataset())
    (root / "participants.tsv").chmod(0o640)
    select(root, tmp_path / "out", "sub-1", alone=False)
    assert (tmp_path / "out" / "participants.tsv").stat().st_mode & 0o777 == 0o640


A_PARTICIPANT_WHO_IS_NOBODY_IS_AN_ERROR = ("0", "-1", "99", "sub-99", "sub-", "", "1.0", "x", "١", "../1")


def test_a_participant_who_is_nobody_is_an_error(subtests, tmp_path):
    for number, participant in enumerate(A_PARTICIPANT_WHO_IS_NOBODY_IS_AN_ERROR):
        with subtests.test(participant=participant):
            (folder := tmp_path / str(number)).mkdir()
            refused(write(folder / "in", dataset()), "nobody|no participant", participant=participant)


def test_a_number_is_a_place_in_the_list_and_never_a_guess():
    assert choose("1", ("1", "2")) == "1"
    assert choose("02", ("a", "b")) == "b"
    assert choose("sub-b", ("a", "b")) == "b"
    with pytest.raises(DpgateError, match="sub-1 or sub-2, who is number 1"):
        choose("1", ("2", "1"))
    # a loop counts the same person in the data, by their table, and in what was written of them, by folders
    assert choose("2", ("a", "b"), folders=("a", "b")) == "b"
    for labels, folders in ((("b", "a"), ("a", "b")), (("a", "b", "c"), ("a", "c")), (("a", "b"), ("a",))):
        with pytest.raises(DpgateError, match=r"2 is sub-[ab] by participants\.tsv, and somebody else"):
            choose("2", labels, folders=folders)


def test_without_a_list_the_folders_are_the_people(tmp_path):
    files = {path: content for path, content in dataset().items() if path != "participants.tsv"}
    select(write(tmp_path / "in", files), tmp_path / "out", "sub-11", alone=False)
    assert not (tmp_path / "out" / "sub-11").exists()
    refused(write(tmp_path / "other" / "in", {"README": "x"}), "no BIDS data set")


@pytest.mark.parametrize(
    ("path", "content", "reason"),
    [
        ("ses-1_physio.tsv", "onset\n1\n", "without a column of participant ids"),
        ("sourcedata/scan.dcm", "x", "may hold something of anybody"),
        ("derivatives/group/mean.nii", "x", "may hold something of anybody"),
        (".hidden/config", "x", "may hold something of anybody"),
    ],
)
def test_unknown_places_are_refused_or_declared_public_or_excluded(tmp_path, path, content, reason):
    root = write(tmp_path / "in", dataset() | {path: content})
    refused(root, f"{path}.*{reason}")
    select(root, tmp_path / "kept", "sub-1", alone=False, public=[path])
    assert (tmp_path / "kept" / path).read_text() == content
    select(root, tmp_path / "gone", "sub-1", alone=False, exclude=["./" + path.split("/")[0] + "/"])
    assert not (tmp_path / "gone" / path).exists()


PLACES_THAT_MAY_SPEAK_OF_THE_PERSON_ARE_REFUSED_BY_NAME = (
    ("README", "ask Sub-1 for more", "text of README names sub-1,"),
    ("code/notes-sub-1.txt", "x", "seems to name sub-1,"),
    ("code/notesub-1.txt", "x", "seems to name sub-1,"),
    ("sub-2/anat/sub-2_from-sub-1.nii", "x", "seems to name sub-1,"),
    ("sub-2/list.json", '["sub-1"]', "text of sub-2/list.json names sub-1,"),
    ("phenotype/1.tsv", "subject\n2\n", "seems to name 1,"),
    ("phenotype/a.tsv", "subject\tfile\n2\tsub-1_T1w.nii\n", "line 2, column 'file' names sub-1,"),
    ("phenotype/a.tsv", "subject\tlike sub-1\n2\t3\n", "line 1, column 'like sub-1' names sub-1,"),
    ("sub-1_sub-2_hyper.nii", "x", "several people"),
    ("phenotype/a.tsv", "subject\tpatient\n1\t2\n", "several people"),
    ("derivatives/a/sub-average/x.nii", "x", "'average', who is not in participants.tsv"),
    ("phenotype/a.tsv", "subject\n01\n", "'01', who is not in participants.tsv"),
    ("phenotype/a.tsv", "subject\nn/a\n", "line 2, names nobody"),
    ("phenotype/a.tsv", "subject\n1\t2\n", "line 2, has 2 cells, the header 1"),
    ("phenotype/a.tsv", "\ufeffsubject\n1\n", "byte order mark"),
    ("phenotype/a.tsv", b"subject\n\xe9\n", "not UTF-8"),
    ("phenotype/a.tsv", "subject\r1\r", "carriage return alone"),
    ("phenotype/a.csv", 'subject\n"1\n', "line 2, opens a quotation mark"),
    ("phenotype/a.csv", 'subject,b\n"1"2"",3\n', "is not CSV"),
    ("phenotype/a.csv", "", "without a column of participant ids"),
    ("participants.tsv", "age\n1\n", "no column participant_id"),
    ("participants.tsv", "participant_id\nsub-1\nsub-1\n", "line 3: participant_id must"),
    ("participants.tsv", "participant_id\n1\n", "line 2: participant_id must"),
)


def test_places_that_may_speak_of_the_person_are_refused_by_name(subtests, tmp_path):
    for number, (path, content, reason) in enumerate(PLACES_THAT_MAY_SPEAK_OF_THE_PERSON_ARE_REFUSED_BY_NAME):
        with subtests.test(path=path, content=content, reason=reason):
            (folder := tmp_path / str(number)).mkdir()
            refused(write(folder / "in", dataset() | {path: content}), reason)


def test_an_id_with_letters_is_noticed_without_its_prefix(tmp_path):
    files = {
        "participants.tsv": "participant_id\nsub-NDAR7\nsub-2\n",
        "stimuli/face_2.png": "x",
        "stimuli/run-2.png": "x",
    }
    select(write(tmp_path / "in", files), tmp_path / "out", "sub-2", alone=False)
    for number, (path, content) in enumerate(
        {"code/scan-ndar7.m": "x", "phenotype/a.tsv": "subject\trater\n2\tNDAR7\n"}.items()
    ):
        refused(write(tmp_path / str(number) / "in", files | {path: content}), "NDAR7|ndar7", participant="1")


def test_a_column_of_ids_is_found_by_its_content(tmp_path):
    table = "scanned\tage\n" + "".join(f"sub-{label}\t1\n" for label in PEOPLE)
    root = write(tmp_path / "in", dataset() | {"list.tsv": table})
    select(root, tmp_path / "out", "sub-1", alone=False)
    assert (tmp_path / "out" / "list.tsv").read_text() == "scanned\tage\nsub-2\t1\nsub-10\t1\nsub-11\t1\n"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"public": ["nothing"]}, "--public nothing: there is no such path"),
        ({"exclude": ["nothing"]}, "--exclude nothing: there is no such path"),
        ({"public": ["sub-1"]}, "cannot be --public"),
        ({"public": ["participants.tsv"]}, "lists the people"),
    ],
)
def test_a_declaration_that_cannot_be_meant_is_refused(tmp_path, options, reason):
    refused(write(tmp_path / "in", dataset()), reason, **options)


def test_links_never_lead_out_and_belong_to_whose_file_it_is(tmp_path):
    root = write(tmp_path / "a" / "in", dataset())
    (root / "code" / "link.json").symlink_to("../sub-1/anat/sub-1_T1w.json")
    select(root, tmp_path / "out", "sub-1", alone=False)
    assert not (tmp_path / "out" / "code" / "link.json").exists()
    select(root, tmp_path / "out2", "sub-2", alone=False)
    assert not (tmp_path / "out2" / "code" / "link.json").is_symlink()
    assert (tmp_path / "out2" / "code" / "link.json").is_file()
    refused(root, "cannot be --public", public=["code"])
    (root / "sub-2" / "link.json").symlink_to("../sub-1/anat/sub-1_T1w.json")
    refused(root, "several people")
    (root / "sub-2" / "link.json").unlink()
    for target, reason in (
        ("/etc/passwd", "out of"),
        ("../../x", "out of"),
        ("anat", "a folder"),
        ("y", "nothing"),
    ):
        (root / "sub-2" / "link").symlink_to(target)
        refused(root, reason)
        (root / "sub-2" / "link").unlink()


def test_what_is_no_file_is_refused(tmp_path):
    root = write(tmp_path / "a" / "in", dataset())
    os.mkfifo(root / "code" / "pipe")
    refused(root, "neither a file nor a folder")
    (root / "code" / "pipe").unlink()
    (root / os.fsdecode(b"code/\xff")).write_text("x")
    refused(root, "not UTF-8; rename")


def test_a_folder_that_is_nobodys_stays_and_one_that_names_the_person_does_not(tmp_path):
    root = write(tmp_path / "a" / "in", dataset())
    (root / "sourcedata" / "empty").mkdir()
    (root / "sub-1" / "empty").mkdir()
    select(root, tmp_path / "out", "sub-1", alone=False)
    assert (tmp_path / "out" / "sourcedata" / "empty").is_dir()
    (root / "notes-sub-1").mkdir()
    refused(root, "notes-sub-1 seems to name sub-1")
    (root / "notes-sub-1").rename(root / "sourcedata" / "1")
    refused(root, "sourcedata/1 seems to name 1")


def test_the_result_is_written_apart_and_over_nothing(tmp_path):
    root = write(tmp_path / "in", dataset())
    taken = write(tmp_path / "taken", {"mine": "x"})
    for out, reason in (
        (taken, "there already"),
        (root / "out", "lie in each other"),
        (tmp_path, "lie in each other"),
        (root, "lie in each other"),
    ):
        with pytest.raises(DpgateError, match=reason):
            select(root, out, "sub-1", alone=False)
    assert read(taken) == {"mine": b"x"}
    (tmp_path / "empty").mkdir()
    select(root, tmp_path / "empty", "sub-1", alone=False)
    assert (tmp_path / "empty" / "README").is_file()
    with pytest.raises(DpgateError, match="not a folder"):
        select(root / "README", tmp_path / "x", "sub-1", alone=False)


def test_an_error_in_the_middle_leaves_nothing(tmp_path, monkeypatch):
    root = write(tmp_path / "in", dataset())

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(new_folder.shutil, "copy", full)
    with pytest.raises(OSError, match="No space"):
        select(root, tmp_path / "out", "sub-1", alone=False, copy=True)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
