from pathlib import Path

import pytest
from bids_folders import read, write

from companions.siesta.cleaning import clean_up
from dpgate.errors import DpgateError

FILES = {
    "derivatives/group/results.tsv": "1",
    "derivatives/group/sibling.tsv": "2",
    "derivatives/group/results.tsv.bak": "3",
    "derivatives/other/x": "4",
    "sub-01/a": "5",
}
KEPT = ("derivatives/group/results.tsv",)


def test_only_the_named_files_survive(tmp_path):
    folder = write(tmp_path / "out", FILES)
    deleted = clean_up(folder, KEPT)
    assert read(folder) == {KEPT[0]: b"1"}
    assert sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*")) == [
        "derivatives",
        "derivatives/group",
        KEPT[0],
    ]
    assert set(FILES) - set(deleted) == set(KEPT)
    assert {"derivatives/other", "sub-01"} <= set(deleted)


def test_a_dry_run_names_the_same_and_deletes_nothing(tmp_path):
    folder = write(tmp_path / "out", FILES)
    named = clean_up(folder, KEPT, dry_run=True)
    assert len(read(folder)) == len(FILES)
    assert clean_up(folder, KEPT) == named


def test_without_a_whitelist_nothing_survives(tmp_path):
    folder = write(tmp_path / "out", FILES)
    clean_up(folder)
    assert list(folder.iterdir()) == []


def test_links_are_deleted_and_not_followed(tmp_path):
    other = write(tmp_path / "other", {"mine": "x"})
    folder = write(tmp_path / "out", FILES)
    (folder / "link").symlink_to(other)
    (folder / "file").symlink_to(other / "mine")
    (folder / "dangling").symlink_to("nothing")
    clean_up(folder, KEPT)
    assert read(folder) == {KEPT[0]: b"1"}
    assert read(other) == {"mine": b"x"}


@pytest.mark.parametrize("path", ["derivatives/none.tsv", "derivatives/group", "link/mine", "file"])
def test_a_named_file_that_is_none_stops_everything(tmp_path, path):
    other = write(tmp_path / "other", {"mine": "x"})
    folder = write(tmp_path / "out", FILES)
    (folder / "link").symlink_to(other)
    (folder / "file").symlink_to(other / "mine")
    with pytest.raises(DpgateError, match="nothing was deleted"):
        clean_up(folder, [*KEPT, path])
    assert set(FILES) <= set(read(folder))


def test_a_data_set_is_not_cleaned(tmp_path):
    folder = write(tmp_path / "in", {"participants.tsv": "participant_id\n"})
    with pytest.raises(DpgateError, match="data set"):
        clean_up(folder)
    # but a sample of one is, when the data set itself is named and lies apart
    sample = write(tmp_path / "sample", {"participants.tsv": "", "code/a": ""})
    for made_from, reason in (
        (folder, "code/a of .* is not in"),
        (sample, "lie in each other"),
        (tmp_path, "lie in each other"),
    ):
        with pytest.raises(DpgateError, match=reason):
            clean_up(sample, made_from=made_from)
    write(folder, {"code/a": "x"})
    assert clean_up(sample, made_from=folder) == ["code/a", "participants.tsv", "code"]
    assert len(read(folder)) == 2
    for place in (tmp_path / "none", Path("/"), Path.home()):
        with pytest.raises(DpgateError, match=r"not a folder|no output folder"):
            clean_up(place, dry_run=True)


def test_a_folder_that_cannot_be_read_is_an_error(tmp_path, monkeypatch):
    def denied(*_args, onerror, **_options):
        onerror(PermissionError("denied"))

    monkeypatch.setattr("os.walk", denied)
    with pytest.raises(PermissionError):
        clean_up(tmp_path)
