"""`--format wp15`: rows without names in, a row of scales and its description out, and what is refused."""

from __future__ import annotations

import json

import pytest
from bids_folders import read, write
from group_results import BOUNDS, FILES, NAMES, result, samples

from companions.siesta.calibration import calibrate, read_bounds
from companions.siesta.noising import add_noise
from companions.siesta.samples import Samples, merge_group
from companions.siesta.wp15 import named_alike, read_merged, read_row, row_of, write_row
from dpgate.errors import DpgateError

ROWS = "".join(f"20\t{170 + i / 8}\t5\t0.5\t15\n" for i in range(20))
WHOLE = Samples(NAMES, (("20", "171", "5", "0.5", "15"),))


def calibrated(folder, rows=ROWS, whole=WHOLE):
    write(folder, {"merged.tsv": rows})
    found = read_merged(folder / "merged.tsv")
    names = named_alike(found, whole)
    return calibrate(names, named_alike(whole, names), folder / "noise.tsv", bounds=BOUNDS, write=write_row)


def test_a_row_of_scales_is_drawn_with_and_marked_for_what_it_is(tmp_path):
    table = calibrated(tmp_path)
    assert (tmp_path / "noise.tsv").read_text() == "8.0\t16.0\t0.5\t0.125\t4.0\n"
    said = json.loads((tmp_path / "noise.json").read_text())
    assert (said["guarantee"], said["noise"]["people"]) == ("empirical", ["20"] * 5)
    assert "no noise" in said["what"]
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in tmp_path.glob("noise.*"))
    assert read_row(tmp_path / "noise.tsv") == table
    everybody = result(tmp_path / "all", 20, 171, 5, 0.5)
    drawn = {
        tuple(one.value for one in add_noise(everybody, tmp_path / str(time), FILES, table))
        for time in range(3)
    }
    assert len(drawn) == 3
    plus = ["28", "187", "5.5", "0.625", "19"]  # what the row would give if it were added
    assert all(list(values) != plus for values in drawn)


def test_without_names_numbers_are_told_by_their_place(tmp_path):
    whole = Samples(tuple(f"column:{number}" for number in range(1, 6)), WHOLE.rows)
    table = calibrated(tmp_path, whole=whole)
    assert table.names == whole.names
    everybody = result(tmp_path / "all", 20, 171, 5, 0.5)
    assert [one.name for one in add_noise(everybody, tmp_path / "out", FILES, table)] == list(NAMES)
    with pytest.raises(DpgateError, match="not those that the noise"):
        add_noise(everybody, tmp_path / "other", FILES[:2], table)
    write(tmp_path, {"bounds.tsv": "file\tlower\tupper\n" + "a.tsv\t0\t1\n" * 5})
    assert read_bounds(tmp_path / "bounds.tsv", whole.names) == (("0", "1"),) * 5
    (tmp_path / "folder").mkdir()
    merge_group([everybody], tmp_path / "merged", FILES)
    assert read_merged(tmp_path / "merged").names == NAMES
    assert named_alike(samples([["1"]] * 2), WHOLE).names == ("a.tsv:1:1",)


WHAT_IS_NO_MERGED_TABLE = (
    ("1\t2\n3\n", "line 2, has 1 numbers, the first line 2"),
    ("1\t2\n3\tx\n", "line 2, holds a cell that is no finite number"),
    ("1\t2\n3\tnan\n", "line 2, holds a cell"),
    ("\n", "is empty"),
    ("mean\n1\n", "must name the numbers"),
    (b"\xff", "not UTF-8"),
)
WHAT_IS_NO_ROW_OF_OURS = (
    ({"noise.json": None}, "has no noise.json beside it, so dpgate did not write it"),
    ({"noise.tsv": "1.5\t20\t1\t1\t3\n"}, "does not hold the scales"),
    ({"noise.tsv": "8.0\t16.0\t0.5\t0.125\t4.0\n" * 2}, "does not hold the scales"),
    ({"noise.json": "{}"}, "no description"),
    ({"noise.json": "["}, "no description"),
    ({"noise.json": '{"noise": {"value": []}}'}, "its rows must be"),
    ({"noise.json": '{"noise": []}'}, "no description"),
    ({"noise.json": (b'"8"', b'"1/8"')}, "at least"),  # a scale below what bounds and people ask for
)


def test_what_is_no_table_of_theirs_and_no_row_of_ours_is_refused(subtests, tmp_path):
    for number, (text, reason) in enumerate(WHAT_IS_NO_MERGED_TABLE):
        with subtests.test(text=text), pytest.raises(DpgateError, match=reason):
            read_merged(write(tmp_path / f"m{number}", {"merged.tsv": text}) / "merged.tsv")
    calibrated(tmp_path / "good")
    good = read(tmp_path / "good")
    for number, (change, reason) in enumerate(WHAT_IS_NO_ROW_OF_OURS):
        ((path, new),) = change.items()
        new = good[path].replace(new[0], new[1]) if isinstance(new, tuple) else new
        left = good | ({} if new is None else {path: new})
        folder = write(tmp_path / f"n{number}", {name: left[name] for name in left if new or name != path})
        with subtests.test(change=change), pytest.raises(DpgateError, match=reason):
            read_row(folder / "noise.tsv")
    with pytest.raises(DpgateError, match="there already"):
        calibrated(tmp_path / "good")
    assert read(tmp_path / "good") == good


def test_a_name_without_tsv_is_a_folder(tmp_path):
    assert row_of(tmp_path / "noise") == tmp_path / "noise" / "noise.tsv"
    assert row_of(tmp_path / "n.tsv") == tmp_path / "n.tsv"
