"""A folder opened for runs: what each input holds is what the tools would have written, without a copy."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from bids_folders import PEOPLE, dataset, read, write
from hypothesis import given, settings
from hypothesis import strategies as st
from random_datasets import datasets

from companions.siesta.inputs import mechanism_of
from companions.siesta.selection import select
from companions.siesta.study import digest_of_data, open_study
from domain.mechanism import StabilityRequest
from domain.pipeline import OutputValue
from dpgate.errors import DpgateError


def view(root: Path, *labels: str, **options) -> dict[str, bytes]:
    return dict(open_study(root, **options).view([f"sub-{label}" for label in labels]))


@settings(max_examples=50, deadline=None)
@given(datasets(), st.data())
def test_an_input_holds_its_people_and_what_is_for_all_byte_for_byte(made, data):
    kept = [label for label in made.people if data.draw(st.booleans())]
    with tempfile.TemporaryDirectory() as folder:
        root = write(Path(folder) / "in", made.files(made.people))
        assert view(root, *kept) == made.files(kept)
        assert view(root, *made.people) == read(root)


INHERITED = {
    "task-rest_events.tsv": "onset\tduration\n1\t2\n",
    "task-rest_acq-fast_channels.tsv": "name\ttype\nCz\tEEG\n",
    "acq-b1000_dwi.bval": "0 1000\n",
    "dir-AP_dwi.bvec": "0 1\n0 0\n0 0\n",
    "dwi.bval": "0 1000\n",
    "events.tsv": "onset\tduration\n1\t2\n",
    "ses-1_task-rest_events.tsv": "onset\tduration\n1\t2\n",
}
HISTORY = {".git/objects/sub-1": "sub-1", ".gitattributes": "sub-1_* annex", ".datalad/config": "sub-1"}


def test_an_input_without_somebody_is_what_leaveoneout_writes(tmp_path):
    """With what BIDS has at the root for everybody in it, and no word about it being public."""
    root = write(tmp_path / "in", dataset() | INHERITED | HISTORY)
    for gone in PEOPLE:
        select(root, tmp_path / f"without-{gone}", f"sub-{gone}", alone=False)
        others = [label for label in PEOPLE if label != gone]
        assert view(root, *others) == read(tmp_path / f"without-{gone}")
    select(root, tmp_path / "alone", f"sub-{gone}", alone=True)
    assert view(root, gone) == read(tmp_path / "alone")
    kept = set(read(tmp_path / "alone"))
    assert set(INHERITED) < kept
    assert not kept & set(HISTORY)


def test_rows_keep_the_order_of_their_table(tmp_path):
    """Also where the table's name is one that everybody may inherit: it lists people."""
    files = dataset() | {"task-rest_events.tsv": "subject\tonset\n10\t1\n2\t3\n"}
    assert view(write(tmp_path / "of", files), "1")["task-rest_events.tsv"] == b"subject\tonset\n"
    files = dataset() | {"phenotype/b.tsv": "subject\n10\n1\n2\n1\n11\n"}
    assert view(write(tmp_path / "in", files), "1", "10")["phenotype/b.tsv"] == b"subject\n10\n1\n1\n"


@pytest.mark.parametrize(
    ("path", "content", "reason"),
    [
        ("ses-1_task-rest_physio.tsv", "onset\n1\n", "without a column of participant ids"),
        ("task-rest_desc-mean_timeseries.tsv", "onset\n1\n", "without a column of participant ids"),
        ("derivatives/a/task-rest_events.tsv", "onset\n1\n", "without a column of participant ids"),
        ("task-rest_events.tsv", "onset\tlike\n1\tx\n1\tsub-1\n", "line 3, column 'like' names sub-1,"),
        ("task-rest_dwi.bval", "0 # sub-1\n", "text of task-rest_dwi.bval names sub-1,"),
        ("sourcedata/scan.dcm", "x", "may hold something of anybody"),
        ("README", "ask Sub-1 for more", "text of README names sub-1,"),
        ("code/notes-sub-10.txt", "x", "seems to name sub-10,"),
        ("sub-2/list.json", '["sub-1"]', "text of sub-2/list.json names sub-1,"),
        ("phenotype/11.tsv", "subject\n2\n", "seems to name 11,"),
        ("phenotype/a.tsv", "subject\tfile\n2\tsub-1_T1w.nii\n", "line 2, column 'file' names sub-1,"),
        ("phenotype/a.tsv", "subject\tlike sub-1\n2\t3\n", "line 1, column 'like sub-1' names sub-1,"),
        ("sub-1_sub-2_hyper.nii", "x", "several people"),
        ("phenotype/a.tsv", "subject\tpatient\n1\t2\n", "line 2, belongs to several people"),
        ("phenotype/a.tsv", "subject\n01\n", "'01', who is not in participants.tsv"),
        ("phenotype/a.tsv", "subject\nn/a\n", "line 2, names nobody"),
        ("derivatives/a/sub-average/x.nii", "x", "'average', who is not in participants.tsv"),
    ],
)
def test_what_may_speak_of_somebody_else_is_refused_before_the_first_run(tmp_path, path, content, reason):
    root = write(tmp_path / "in", dataset() | {path: content})
    with pytest.raises(DpgateError, match=reason):
        open_study(root)
    assert path not in view(root, "2", exclude=[path])


def test_a_public_file_is_in_every_input_unread(tmp_path):
    root = write(tmp_path / "in", dataset() | {"sourcedata/mean.dcm": "sub-1"})
    assert view(root, "2", public=["sourcedata/mean.dcm"])["sourcedata/mean.dcm"] == b"sub-1"


def test_large_files_are_not_read(tmp_path):
    """A sparse file of 2 TB for everybody, one of a person: neither input nor digest opens them."""
    root = write(tmp_path / "in", dataset())
    for path in ("stimuli/film.mp4", "sub-1/anat/sub-1_big.nii"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()
        os.truncate(root / path, 2 * 10**12)
    people = open_study(root)
    assert people.view(["sub-1"]).size > 4 * 10**12
    assert people.view(["sub-2"]).size < 3 * 10**12
    assert len(digest_of_data(people)) == 64


def test_whatever_a_run_can_see_is_in_the_digest(tmp_path):
    root = write(tmp_path / "in", dataset())
    before = digest_of_data(open_study(root))
    assert digest_of_data(open_study(root)) == before
    digests = {before}
    for path in ("participants.tsv", "README", "sub-2/anat/sub-2_T1w.json"):
        content = (root / path).read_bytes()
        (root / path).write_bytes(content.replace(b"n/a", b"nil").replace(b"ed", b"eded"))
        digests.add(digest_of_data(open_study(root)))
    assert len(digests) == 4


def test_a_time_axis_is_refused_with_what_can_stand_for_it() -> None:
    choice = StabilityRequest(name="stability_calibrated", noise_multiplier=1)
    values = [OutputValue(name=f"at_{time}", lower=0, upper=1) for time in range(100)]
    with pytest.raises(DpgateError, match="hold 100 numbers; at most 20 values"):
        mechanism_of(choice, values, people=60, nominal_size=60)
    assert mechanism_of(choice, values[:20], people=60, nominal_size=60)
