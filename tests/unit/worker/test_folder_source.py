"""A plain folder as people, tables and parts; and what a sealed snapshot makes of the same files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from factories import column_fields, make_declaration, table_fields

from store.keys import Keys
from store.snapshots import SnapshotArea
from worker.folder_source import FolderSource
from worker.sealed_source import SealedSource, place_of
from worker.stage import Source, open_people, single

TREE = {
    "participants.tsv": b"participant_id\tage\r\nsub-1\tn/a\r\nsub-10\t25\r\n",
    "phenotype/moods.tsv": b"score\tparticipant_id\n3\t10\n4\t1\n5\tsub-1\n",
    "sub-1/eeg/a.json": b"of one",
    "sub-1/b.json": b"of one, too",
    "sub-10/eeg/a.json": b"of ten",
    "derivatives/clean/sub-1/eeg/a.json": b"derived of one",
    "derivatives/clean/sub-10_report.html": b"report on ten",
    "stimuli/tone.wav": b"a tone",
    "README": b"as it lies there",
}
MOODS = {
    "path": "phenotype/moods.tsv",
    "rows_per_person": "many",
    "columns": [column_fields(name="score"), {"name": "participant_id", "kind": "person"}],
}


def declared(**more: Any) -> Any:
    columns = [{"name": "participant_id", "kind": "person"}, column_fields()]
    public = [{"path": "README", "text": "as declared"}, {"path": "stimuli/tone.wav", "as_delivered": True}]
    return make_declaration(
        layout="bids", tables=[table_fields(columns=columns), MOODS], public_files=public, **more
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path, content in TREE.items():
        (tmp_path / "data" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / path).write_bytes(content)
    return tmp_path / "data"


def sealed(folder: Path) -> SealedSource:
    """The same files as an import seals them."""
    area = SnapshotArea(folder.parent / "zone", Keys(bytes(32)))

    def opener(path: str) -> Callable[[], BinaryIO]:
        return lambda: (folder / path).open("rb")

    people = {
        "sub-1": ["sub-1/eeg/a.json", "sub-1/b.json", "derivatives/clean/sub-1/eeg/a.json"],
        "sub-10": ["sub-10/eeg/a.json", "derivatives/clean/sub-10_report.html"],
    }
    name = area.write(
        tables={path: opener(path) for path in ("participants.tsv", "phenotype/moods.tsv")},
        people={person: {path: opener(path) for path in paths} for person, paths in people.items()},
        shared={"stimuli/tone.wav": opener("stimuli/tone.wav")},
    )
    return SealedSource(area.open(name))


@pytest.mark.parametrize("is_sealed", [False, True])
def test_both_sources_give_the_same_input(folder: Path, is_sealed: bool) -> None:
    source: Source = sealed(folder) if is_sealed else FolderSource(folder, declared())
    people = open_people(declared(), source)
    everything = dict(people.view(people.names))
    assert everything == {
        **TREE,
        "README": b"as declared",
        "phenotype/moods.tsv": b"score\tparticipant_id\n4\t1\n5\tsub-1\n3\t10\n",
    }
    one = dict(single(people, "sub-1"))
    assert one["participants.tsv"] == b"participant_id\tage\r\nsub-1\tn/a\r\n"
    assert one["phenotype/moods.tsv"] == b"score\tparticipant_id\n4\t1\n5\tsub-1\n"
    assert not [path for path in one if "sub-10" in path]
    assert {part.place for part in single(people, "sub-1").parts} == {"sub-1", "derivatives/clean/sub-1"}


def test_a_part_is_one_folder_or_one_file(folder: Path) -> None:
    source = FolderSource(folder, declared())
    places = {part.place: part for name in source.people for part in source.parts_of(name)}
    assert set(places) == {
        "sub-1",
        "derivatives/clean/sub-1",
        "sub-10",
        "derivatives/clean/sub-10_report.html",
    }
    assert set(places["sub-1"].files) == {"eeg/a.json", "b.json"}
    assert places["derivatives/clean/sub-10_report.html"].is_file
    assert all(part.folder == folder / place for place, part in places.items())
    assert places["sub-1"].size == len(b"of one" + b"of one, too")


def test_hidden_folders_and_what_is_excluded_are_in_no_input(folder: Path) -> None:
    for path in (".git/sub-1/x", "sourcedata/sub-1/raw.bin", "sub-1/.cache/y"):
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_bytes(b"x")
    declaration = declared(excluded=["sourcedata"])
    people = open_people(declaration, FolderSource(folder, declaration))
    found = people.view(people.names)
    assert set(found) == set(TREE)


def test_a_file_that_changed_changes_its_key(folder: Path) -> None:
    before = {part.place: part.key for part in FolderSource(folder, declared()).parts_of("sub-1")}
    (folder / "sub-1" / "b.json").write_bytes(b"another")
    os.utime(folder / "sub-1" / "b.json", (1, 1))
    after = {part.place: part.key for part in FolderSource(folder, declared()).parts_of("sub-1")}
    assert [place for place in before if before[place] != after[place]] == ["sub-1"]


WHERE_A_PERSONS_FILE_BELONGS = (
    ("sub-1", "sub-1/a/b", "sub-1"),
    ("sub-1", "derivatives/x/sub-1/a", "derivatives/x/sub-1"),
    ("sub-1", "derivatives/x/sub-1_a.tsv", "derivatives/x/sub-1_a.tsv"),
    ("sub-1", "sub-10/a", "sub-10/a"),
    ("1", "sub-1/a", "sub-1"),
    ("sub-1", "x/sub-1", "x/sub-1"),
)


def test_where_a_persons_file_belongs(subtests: pytest.Subtests) -> None:
    for person, path, place in WHERE_A_PERSONS_FILE_BELONGS:
        with subtests.test(person=person, path=path, place=place):
            assert place_of(person, path) == place


def test_people_are_found_by_names_of_any_letters(tmp_path: Path) -> None:
    """And the folder of each is their own, with a name that every program can open."""
    names = ["José", "Jose", "O'Brien", "Nguyễn Văn A", "李小龍"]
    rows = "".join(f"{name}\t{40 + number}\n" for number, name in enumerate(names))
    (tmp_path / "participants.tsv").write_text(f"participant_id\tage\n{rows}", encoding="utf-8")
    columns = [{"name": "participant_id", "kind": "person"}, column_fields()]
    declaration = make_declaration(tables=[table_fields(columns=columns)])
    people = open_people(declaration, FolderSource(tmp_path, declaration))
    for number, name in enumerate(names):
        expected = f"participant_id\tage\n{name}\t{40 + number}\n"
        assert single(people, name).files["participants.tsv"].decode() == expected
    folders = {people.folder_of(name) for name in names}
    assert len(folders) == len(names)
    assert all(folder.isascii() and folder.isprintable() and " " not in folder for folder in folders)
