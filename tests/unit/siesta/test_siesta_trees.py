"""mergesubjects, and what holds for every data set: random trees, with an oracle that never parses one."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from bids_folders import PEOPLE, dataset, read, write
from hypothesis import given, settings
from hypothesis import strategies as st
from random_datasets import datasets

from companions.siesta.merging import merge_subjects
from companions.siesta.selection import select
from dpgate.errors import DpgateError


@settings(max_examples=50, deadline=None)
@given(datasets(), st.data())
def test_leaving_out_a_person_takes_all_of_theirs_and_not_a_byte_more(made, data):
    gone = data.draw(st.sampled_from(made.people))
    kept = [label for label in made.people if label != gone]
    with tempfile.TemporaryDirectory() as folder:
        root = write(Path(folder) / "in", made.files(made.people))
        select(root, Path(folder) / "out", f"sub-{gone}", alone=False)
        left = read(Path(folder) / "out")
        assert read(root) == made.files(made.people)
        names = [path.relative_to(folder).as_posix() for path in (Path(folder) / "out").rglob("*")]
    assert left == made.files(kept)
    word = re.compile(rf"(?<![A-Za-z0-9])sub-{re.escape(gone)}(?![A-Za-z0-9+])")
    assert not [text for text in [*names, *(left[t.path].decode() for t in made.tables)] if word.search(text)]


@settings(max_examples=30, deadline=None)
@given(datasets())
def test_all_single_subjects_merged_are_the_data_set(made):
    with tempfile.TemporaryDirectory() as folder:
        root = write(Path(folder) / "in", made.files(made.people))
        singles = []
        for number, label in enumerate(made.people, start=1):
            singles.append(Path(folder) / "single" / str(number))
            select(root, singles[-1], f"sub-{label}", alone=True)
            assert read(singles[-1]) == made.files([label])
        merge_subjects(singles, Path(folder) / "out")
        assert read(Path(folder) / "out") == made.files(made.people)


def test_inputs_may_lie_anywhere_and_their_order_is_that_of_the_rows(tmp_path):
    root = write(tmp_path / "in", dataset())
    places = [tmp_path / "a" / "b" / "c", tmp_path / "a" / "d", tmp_path / "e"]
    for place, label in zip(places, ("11", "2", "1"), strict=True):
        select(root, place, f"sub-{label}", alone=True)
    merged = merge_subjects(places, tmp_path / "out")
    left = read(tmp_path / "out")
    assert left["sourcedata/list.csv"] == b'note,participant\nd,sub-11\n,sub-2\n"a, ""b""\nc",sub-1\n'
    assert merged.files == len(left) == 8 + 3 * 4
    assert merged.tables == ("participants.tsv", "phenotype/iq.tsv", "sourcedata/list.csv")


def test_a_last_line_without_an_end_gets_the_end_of_the_table(tmp_path):
    inputs = [write(tmp_path / label, {"a.tsv": f"sub\r\n{label}"}) for label in PEOPLE[:2]]
    merge_subjects(inputs, tmp_path / "out")
    assert read(tmp_path / "out")["a.tsv"] == b"sub\r\n1\r\n2"


def test_outputs_of_the_participant_level_merge_as_well(tmp_path):
    description = '{"DatasetType": "derivative"}'
    inputs = [
        write(tmp_path / label, {f"sub-{label}/x.tsv": label, "dataset_description.json": description})
        for label in PEOPLE
    ]
    merge_subjects(inputs, tmp_path / "out", copy=True)
    assert len(read(tmp_path / "out")) == 5


INPUTS_THAT_DO_NOT_FIT_ARE_AN_ERROR_AND_LEAVE_NOTHING = (
    ({"sub-1/a": "x"}, {"sub-1/b": "x"}, "sub-1 is both in"),
    ({"README": "x"}, {"README": "y"}, "README differs between"),
    ({"results.tsv": "1\n"}, {"results.tsv": "2\n"}, "results.tsv differs between"),
    ({"a.tsv": "sub\n1\n"}, {"a.tsv": "sub\tb\n2\t3\n"}, "header of a.tsv differs"),
    ({"a.tsv": "sub\tb\n1\t2\n"}, {"a.tsv": "sub\tc\n2\t3\n"}, "header of a.tsv differs"),
    ({"a.tsv": "sub\n1\n"}, {"a.tsv": "sub\nsub-1\n"}, "a.tsv names 1 both in"),
    ({"a.tsv": "sub\n1\n"}, {"a.tsv": "sub\nn/a\n"}, "line 2, names nobody"),
    ({"a": "x"}, {"a/b": "x"}, "a is a file in one input and a folder in another"),
)


def test_inputs_that_do_not_fit_are_an_error_and_leave_nothing(subtests, tmp_path):
    for number, (first, second, reason) in enumerate(INPUTS_THAT_DO_NOT_FIT_ARE_AN_ERROR_AND_LEAVE_NOTHING):
        with subtests.test(first=first, second=second, reason=reason):
            (folder := tmp_path / str(number)).mkdir()
            inputs = [write(folder / "1", first), write(folder / "2", second)]
            with pytest.raises(DpgateError, match=reason):
                merge_subjects(inputs, folder / "out")
            assert sorted(path.name for path in folder.iterdir()) == ["1", "2"]


def test_an_input_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(DpgateError, match="is not a folder"):
        merge_subjects([tmp_path / "none"], tmp_path / "out")


def test_a_public_table_is_kept_once(tmp_path):
    files = {"a.tsv": "sub\nsub-1\n", "code/people.tsv": "sub\nsub-1\n"}
    inputs = [write(tmp_path / name, files) for name in ("1", "2")]
    merge_subjects(inputs, tmp_path / "out", public=["a.tsv"])
    assert read(tmp_path / "out")["a.tsv"] == b"sub\nsub-1\n"
