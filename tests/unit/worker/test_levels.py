"""What of a participant run is a person's own, and what group runs find in their output folder."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from factories import make_declaration, make_pipeline

from worker.levels import DESCRIPTION, FarTooMuch, OutcomeMissing, ParticipantLevel, Tree, own_files
from worker.plain_outputs import PlainOutputs
from worker.stage import open_people
from worker.view import Part

WHAT_IS_A_PERSONS_OWN = (
    ("sub-1/a.txt", True),
    ("sub-1/ses-1/deep/er/a.txt", True),
    ("derivatives/means/sub-1/a.txt", True),
    ("sub-1", False),
    ("sub-1/", False),
    ("sub-10/a.txt", False),
    ("sub-01/a.txt", False),
    ("Sub-1/a.txt", False),
    ("sub-1.html", False),
    ("sub-2/sub-1/a.txt", False),
    ("derivatives/sub-1/a.txt", False),
    ("derivatives/a/b/sub-1/a.txt", False),
    ("logs/sub-1/a.txt", False),
    ("dataset_description.json", False),
    ("derivatives/group/results.tsv", False),
    ("sub-1\n/a.txt", False),
    ("sub-1/a\nb.txt", True),
)


IN_BIDS_AS_WELL = (
    ("sub-1_T1w.nii.gz", True),
    ("sub-1.html", True),
    ("anat/sub-1_T1w.nii.gz", True),
    ("logs/sub-1/a.txt", True),
    ("derivatives/a/b/sub-1/a.txt", True),
    ("sub-1/sub-2/a.txt", True),
    ("sub-1_work/a.txt", True),
    ("sub-2/sub-1/a.txt", False),
    ("sub-2_x/sub-1.txt", False),
    ("sub-2/sub-1_x.txt", False),
    ("sub-/sub-1.txt", False),
    ("sub-10_T1w.nii.gz", False),
    ("sub-1+_T1w.nii.gz", False),
    ("sub-1x/a.txt", False),
    ("asub-1_a.txt", False),
    ("sub-1", False),
    ("sub-1/", False),
    ("sub-1.", False),
    ("logs/run.log", False),
    ("dataset_description.json", False),
    ("sub-1_a\nb.txt", True),
)


def test_what_is_a_persons_own(subtests: pytest.Subtests) -> None:
    """Also that a dot in a name is a dot, and that no path is two people's."""
    for path, is_own in WHAT_IS_A_PERSONS_OWN:
        with subtests.test(path=path, is_own=is_own):
            assert bool(own_files("sub-1", {path: b"x"})) == is_own
    for path, is_own in IN_BIDS_AS_WELL:
        with subtests.test(path=path, is_own=is_own, layout="bids"):
            assert bool(own_files("sub-1", {path: b"x"}, is_bids=True)) == is_own
    assert not own_files("a.b", {"axb/file": b"x"})
    for parts in itertools.product(("sub-1", "sub-2", "sub-1_a", "sub-2.b", "logs"), repeat=3):
        of = [
            person for person in ("sub-1", "sub-2") if own_files(person, {"/".join(parts): b""}, is_bids=True)
        ]
        assert len(of) <= 1, parts


PEOPLE = [f"sub-{number:02d}" for number in range(12)]


class Twelve:
    """A source of twelve people with a file each."""

    people = PEOPLE

    def __init__(self, content: Mapping[str, bytes] | None = None) -> None:
        self._content = content or {}

    def table(self, _path: str) -> bytes:
        rows = "".join(f"{person}\t30\tf\t1.7\n" for person in self.people)
        return f"participant_id\tage\tsex\theight\n{rows}".encode()

    def parts_of(self, person: str) -> list[Part]:
        content = self._content.get(person, b"x")
        return [Part(f"{person}/a", content.hex(), len(content), {"": lambda: BytesIO(content)})]

    def shared(self) -> list[Part]:
        return []


def level_of(
    folder: Path, source: Twelve | None = None, *, image: str = "sha256:1", accepted: tuple[str, ...] = ()
) -> ParticipantLevel:
    people = open_people(make_declaration(layout="bids"), source or Twelve())
    return ParticipantLevel(make_pipeline(), image, people, PlainOutputs(folder), accepted)


def keep(level: ParticipantLevel, *people: str) -> None:
    for person in people:
        level.outputs.keep(level.name_of(person), {f"{person}/out.txt": person.encode()})


def test_group_runs_wait_for_everybody(tmp_path: Path) -> None:
    level = level_of(tmp_path)
    keep(level, *PEOPLE[1:])
    with pytest.raises(OutcomeMissing) as missing:
        level.succeeded()
    assert "sub-" not in str(missing.value)
    keep(level, PEOPLE[0])
    assert level.succeeded().names == tuple(PEOPLE)


def test_before_a_group_run_lie_the_outputs_of_its_people_and_a_description(tmp_path: Path) -> None:
    level = level_of(tmp_path)
    keep(level, *PEOPLE)
    found = level.before(["sub-03", "sub-07"])
    assert set(found) == {DESCRIPTION, "sub-03/out.txt", "sub-07/out.txt"}
    assert found["sub-07/out.txt"] == b"sub-07"
    description = json.loads(found[DESCRIPTION])
    assert description["DatasetType"] == "derivative"
    assert {"Name", "BIDSVersion", "GeneratedBy"} <= set(description)
    assert set(level.before([])) == {DESCRIPTION}


class Heavy(PlainOutputs):
    def size(self, _name: bytes) -> int:
        return 3 * 2**20

    def read(self, _name: bytes) -> Tree:
        raise AssertionError("it was read")


def test_far_more_than_the_output_folder_holds_is_not_even_read(tmp_path: Path) -> None:
    level = replace(level_of(tmp_path), outputs=Heavy(tmp_path))
    with pytest.raises(FarTooMuch):
        level.before(PEOPLE[:11])  # 33 MiB for a folder of 16


IN_TABLES_A_NAME_THAT_IS_NO_PLAIN_FOLDER_GETS_ONE = (
    "derivatives",
    "dataset_description.json",
    "A/1",
    "..",
    ".",
    "é",
    "a" * 101,
)


def test_in_tables_a_name_that_is_no_plain_folder_gets_one(subtests: pytest.Subtests) -> None:
    for name in IN_TABLES_A_NAME_THAT_IS_NO_PLAIN_FOLDER_GETS_ONE:
        with subtests.test(name=name):
            people = replace(open_people(make_declaration(), Twelve()), is_bids=False)
            folder = people.folder_of(name)
            assert re.fullmatch(r"person-[0-9a-f]{16}", folder)
            assert people.folder_of("A") == "A"
            assert own_files(folder, {f"{folder}/x": b"1", f"{name}/y": b"2"}) == {f"{folder}/x": b"1"}
            # whoever is called what somebody else's folder is called gets another one
            assert people.folder_of(folder) not in (folder, name)


def test_another_image_other_channels_or_changed_files_are_another_outcome(tmp_path: Path) -> None:
    keep(level_of(tmp_path), *PEOPLE)
    assert all(map(level_of(tmp_path).is_done, PEOPLE))
    assert not any(map(level_of(tmp_path, image="sha256:2").is_done, PEOPLE))
    assert not any(map(level_of(tmp_path, accepted=("pipe_count",)).is_done, PEOPLE))
    changed = level_of(tmp_path, Twelve({"sub-04": b"y"}))
    assert [person for person in PEOPLE if not changed.is_done(person)] == ["sub-04"]


def test_plain_outputs_keep_whole_trees_and_no_failures(tmp_path: Path) -> None:
    outputs, name = PlainOutputs(tmp_path / "kept"), bytes(32)
    outputs.remove_unused(for_s=1)
    outputs.keep(name, None)
    assert outputs.status(name) is None
    outputs.keep(name, {"sub-1/a": b"1", "sub-1/b/c": b""})
    outputs.keep(name, {"sub-1/a": b"2"})
    assert outputs.status(name) is True
    assert outputs.read(name) == {"sub-1/a": b"1", "sub-1/b/c": b""}
    assert len(list((tmp_path / "kept").iterdir())) == 1
    outputs.remove_unused(for_s=60)
    assert outputs.status(name) is True
    for place in (tmp_path / "kept").iterdir():
        os.utime(place, (1, 1))
    outputs.remove_unused(for_s=60)
    assert outputs.status(name) is None
