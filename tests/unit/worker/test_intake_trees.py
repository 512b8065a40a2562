"""Trees with names of every kind: each file is one person's, everybody's, left out, or refused."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

import pytest
from factories import declaration_fields, make_declaration
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.dataset import PublicFile
from dpgate.cli.declaration import load_declaration
from dpgate.errors import DpgateError
from worker.intake import Delivery, ImportRefused, check_delivery
from worker.intake.checksums import Open

LABELS = ["1", "10", "01", "1x", "A", "AB"]
PEOPLE = [f"sub-{label}" for label in LABELS]
TABLE = "participant_id\tage\tsex\theight\n" + "".join(f"{person}\t30\tf\t1.7\n" for person in PEOPLE)
DESCRIPTION = '{"Name": "Trees", "BIDSVersion": "1.8.0"}'
DECLARED = make_declaration(
    layout="bids",
    folders="some",
    public_files=[
        {"path": "dataset_description.json", "text": DESCRIPTION},
        {"path": "code/run.py", "text": "", "as_delivered": True},
    ],
    excluded=["sourcedata", "{person}/secret"],
)

PERSON = st.sampled_from([*PEOPLE, "sub-99", "SUB-10", "Sub-ab", "sub-", "xsub-1", "sub-1-2", "1", "10"])
WORD = st.sampled_from(
    ["anat", "ses-1", "derivatives", "sourcedata", "secret", "code", "T1w", "é", " ", "a b"]
)
NAME = st.lists(PERSON | WORD, min_size=1, max_size=3).map("_".join)
SUFFIX = st.sampled_from(["", ".json", ".tsv", ".nii.gz", ".txt", ".sub-10"])
PATH = st.tuples(st.lists(NAME, max_size=3), NAME, SUFFIX).map(
    lambda parts: "/".join([*parts[0], parts[1] + parts[2]])
)
CONTENT = st.sampled_from(
    ["", "{}", "x", "sub-1 and sub-10", "SUB-AB", "participant_id\nsub-1\n", "a\tb\n1\t2\n"]
)
TREES = st.dictionaries(PATH, CONTENT, max_size=6)


def written(root: Path, files: dict[str, str]) -> dict[str, bytes]:
    """The files that can lie beside each other."""
    files = {"participants.tsv": TABLE, "code/run.py": "pass", **files}
    kept = {}
    for path, text in files.items():
        try:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(text.encode())
        except OSError:  # a file where another's folder is
            continue
        kept[path] = text.encode()
    return kept


def read(delivery: Delivery) -> dict[str, dict[str, bytes]]:
    """Content by path, of each person and of everybody ("")."""
    found = {**{name: delivery.people[name] for name in delivery.people}, "": delivery.shared}
    return {
        owner: {path: content(opener) for path, opener in files.items()} for owner, files in found.items()
    }


def content(opener: Open) -> bytes:
    with opener() as file:
        return file.read()


def exact_owners(path: str) -> set[str]:
    tokens = {token for part in path.split("/") for token in re.split(r"[_.]", part)}
    return {token for token in tokens if re.fullmatch(r"sub-[A-Za-z0-9+]+", token)}


@given(TREES)
def test_every_byte_is_somebodys_everybodys_or_refused(files: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        there = written(Path(folder), files)
        try:
            found = read(check_delivery(Path(folder), DECLARED, max_file_bytes=10_000))
        except ImportRefused:
            return
    taken = [path for own in found.values() for path in own]
    assert len(taken) == len(set(taken))
    left_out = {path for path in there if DECLARED.excludes(path)}
    known = {"participants.tsv", "dataset_description.json"}
    assert set(taken) == set(there) - left_out - known
    for owner, own in found.items():
        for path, found_there in own.items():
            assert found_there == there[path]
            assert exact_owners(path) == ({owner} if owner else set())


@pytest.mark.parametrize("public", ["derivatives", "derivatives/notes"])
def test_nobody_has_a_file_below_a_public_one(public: str, tmp_path: Path) -> None:
    """No run could be given both: a job with that person in a run would end as an error, for all to see."""
    written(tmp_path, {"derivatives/notes/sub-10/a.json": "{}"})
    texts = [*DECLARED.public_files, PublicFile(path=public, text="notes")]
    declared = DECLARED.model_copy(update={"public_files": tuple(texts)})
    check_delivery(tmp_path, DECLARED, max_file_bytes=10_000)
    with pytest.raises(ImportRefused, match=f"a file {public}, in which nothing can lie"):
        check_delivery(tmp_path, declared, max_file_bytes=10_000)


@settings(max_examples=50, deadline=None)
@given(
    st.sampled_from(PEOPLE), st.sampled_from(PEOPLE), st.sampled_from(["{0}/{1}_a.json", "{0}/x-{1}.json"])
)
def test_nobodys_file_speaks_of_another(owner: str, other: str, pattern: str) -> None:
    path = pattern.format(owner, other)
    with tempfile.TemporaryDirectory() as folder:
        written(Path(folder), {path: "{}"})
        try:
            found = check_delivery(Path(folder), DECLARED, max_file_bytes=10_000)
        except ImportRefused:
            assert owner != other
        else:
            assert owner == other
            assert list(found.people[owner]) == [path]


def test_a_readme_that_names_somebody_is_taken_once_it_hides_them(tmp_path: Path) -> None:
    """Without the word it is refused, as before; with it no label is left, in whatever case."""
    readme = "As sub-1/anat/Sub-1_T1w.nii.gz. `sub-` and SUB-10 follow."
    files = {"participants.tsv": TABLE, "dataset_description.json": DESCRIPTION, "README": readme}
    for path, text in files.items():
        (tmp_path / path).write_text(text)
    written = tmp_path.parent / "dataset.yaml"
    for hidden in ({}, {"hides_people": True}):
        public = [{"path": "dataset_description.json"}, {"path": "README", **hidden}]
        fields = declaration_fields(layout="bids", folders="some", public_files=public)
        written.write_text(json.dumps(fields))
        declared = load_declaration(written, tmp_path)
        if hidden:
            check_delivery(tmp_path, declared, max_file_bytes=2**20)
            text = "As sub-XX/anat/sub-XX_T1w.nii.gz. `sub-` and sub-XX follow."
            assert declared.public_files[1].content == text.encode()
        else:
            with pytest.raises(ImportRefused, match="its text names sub-1"):
                check_delivery(tmp_path, declared, max_file_bytes=2**20)
    written.write_text(json.dumps({**fields, "public_files": [{**public[1], "text": "sub-1"}]}))
    with pytest.raises(DpgateError, match="hides_people is of a text that is read from the data"):
        load_declaration(written, tmp_path)
