"""Sixteen ways in which noise of this kind went wrong elsewhere; each by its number, on the smallest data
that show it. The same on the platform's route where that has a place for the mistake."""

from __future__ import annotations

import io
import json

import pytest
import scipy.io
from bids_folders import dataset, read, write

from companions.siesta.calibration import calibrate
from companions.siesta.cleaning import clean_up
from companions.siesta.merging import merge_subjects
from companions.siesta.noise_table import NoiseTable, mechanism_for
from companions.siesta.noising import add_noise
from companions.siesta.people import choose
from companions.siesta.samples import Samples, merge_group
from companions.siesta.selection import select
from companions.siesta.study import open_study
from companions.siesta.whitelist import read_whitelist
from domain.model import parse
from domain.pipeline import OutputFile
from domain.shape import Shape, lock
from domain.whitelist import check_whitelist
from dpgate.errors import DpgateError
from privacy.grid import OutputGrid
from privacy.sample_aggregate import SampleAggregate
from worker.collect import collect

GRID = OutputGrid.build(0, 256)


def noise_for(names: tuple[str, ...], tmp_path, *, moves: str = "101") -> NoiseTable:
    """20 samples of which one differs from 100."""
    row = ("100",) * len(names)
    samples = Samples(names, ((moves,) * len(names), *[row] * 19))
    bounds = (("0", "256"),) * len(names)
    return calibrate(samples, Samples(names, (row,)), tmp_path / "noise.tsv", bounds=bounds)


def matlab(value: object) -> bytes:
    content = io.BytesIO()
    scipy.io.savemat(content, {"result": value})
    return content.getvalue()


def shape_of(file: str, content: bytes) -> Shape:
    entry = {"select": "*", "name": "value", "lower": 0, "upper": 256}
    return Shape(files=(lock(parse(OutputFile, {"file": file, "bounds": [entry]}), content, {}),))


def without(folder, person: str) -> dict[str, bytes]:
    select(folder / "in", folder / "out", person, alone=False)
    return read(folder / "out")


def test_1_two_releases_of_one_result_differ(tmp_path):
    folder = write(tmp_path / "in", {"a.tsv": "100\n"})
    table = noise_for(("a.tsv:1:1",), tmp_path)
    drawn = {add_noise(folder, tmp_path / str(time), ["a.tsv"], table)[0].value for time in range(10)}
    assert len(drawn) > 1
    mechanism = SampleAggregate(grids=(GRID,), blocks=6, micro_epsilon=1_000_000)
    assert len({mechanism.release([(100,)] * 6)[0].value for _ in range(10)}) > 1


def test_2_no_exact_value_leaves_in_a_mat_file(tmp_path):
    folder = write(tmp_path / "in", {"r.mat": matlab(100.0)})
    table, found = noise_for(("r.mat:result[1,1]",), tmp_path), []
    for time in range(4):  # one draw in 300 rounds to nothing, as it must be able to
        add_noise(folder, tmp_path / str(time), ["r.mat"], table)
        found.append(scipy.io.loadmat(tmp_path / str(time) / "r.mat")["result"].item())
    assert any(value != 100 for value in found)
    assert all(abs(value - 100) < 2000 for value in found)
    # the platform writes what it released into the twin's structure, and nothing else of a run
    shape = shape_of("r.mat", matlab(1.0))
    (units,) = collect({"r.mat": matlab(100.0)}, shape=shape, grids=(GRID,), default=(0,)) or ()
    assert GRID.value(units) == 100
    written = shape.files[0].write(["93.5"])
    assert scipy.io.loadmat(io.BytesIO(written))["result"].item() == 93.5


def test_3_every_file_has_noise_of_its_own(tmp_path):
    files = ["a.tsv", "b.csv", "c.json"]
    folder = write(tmp_path / "in", {"a.tsv": "100\n", "b.csv": "100\n", "c.json": "[100]"})
    table = noise_for(("a.tsv:1:1", "b.csv:1:1", "c.json:/0"), tmp_path)
    noised = [add_noise(folder, tmp_path / str(time), files, table) for time in range(10)]
    assert any(len({one.value for one in values}) == 3 for values in noised)


@pytest.mark.parametrize("line", ["../secret.tsv", "/tmp/secret.tsv", "a/../../secret.tsv"])
def test_4_a_line_that_leads_out_is_refused_with_its_number(line):
    with pytest.raises(DpgateError, match="line 2, is not a relative path"):
        read_whitelist(f"# c\n{line}\n")
    with pytest.raises(ValueError, match="line 2, is not a relative path"):
        check_whitelist(f"# c\n{line}\n", [line])


def test_5_only_the_named_file_survives_a_cleanup(tmp_path):
    folder = write(tmp_path / "out", {"d/results.tsv": "1", "d/sibling.tsv": "2"})
    clean_up(folder, ["d/results.tsv"])
    assert read(folder) == {"d/results.tsv": b"1"}


def test_6_whoever_is_left_out_is_in_no_table_whatever_its_column(tmp_path):
    root = write(tmp_path / "in", dataset())
    for left in (without(tmp_path, "sub-2"), dict(open_study(root).view(["sub-1", "sub-10", "sub-11"]))):
        assert left["phenotype/iq.tsv"] == b"age\tsubject\tiq\n25\t1\t1e2\n25\t10\t1e2\n25\t11\t1e2\n"
        assert b"sub-2" not in b"".join([*left.values(), *map(str.encode, left)])


def test_7_leaving_out_one_keeps_ten_and_eleven(tmp_path):
    write(tmp_path / "in", dataset())
    left = without(tmp_path, "sub-1")
    assert {path.split("/")[0] for path in left if path.startswith("sub-")} == {"sub-2", "sub-10", "sub-11"}


def test_8_a_folder_that_is_called_like_the_person_is_not_emptied(tmp_path):
    write(tmp_path / "sub-2" / "in", dataset())
    assert "sub-1/anat/sub-1_T1w.json" in without(tmp_path / "sub-2", "sub-2")
    assert len(open_study(tmp_path / "sub-2" / "in").view(["sub-1"])) > 4


def test_9_cells_stay_what_they_were(tmp_path):
    write(tmp_path / "in", dataset())
    assert without(tmp_path, "sub-2")["participants.tsv"].splitlines()[1] == b"sub-1\t20\tn/a"


def test_10_a_table_without_ids_is_kept_where_it_is_public(tmp_path):
    root = write(tmp_path / "in", dataset() | {"visits.tsv": "onset\n1\n"})
    with pytest.raises(DpgateError, match=r"visits\.tsv is a table without a column of participant ids"):
        select(root, tmp_path / "out", "sub-1", alone=False)
    select(root, tmp_path / "out", "sub-1", alone=False, public=["visits.tsv"])
    assert read(tmp_path / "out")["visits.tsv"] == b"onset\n1\n"
    assert open_study(root, public=["visits.tsv"]).view([])["visits.tsv"] == b"onset\n1\n"


@pytest.mark.parametrize("participant", ["0", "-1", "99", "sub-99"])
def test_11_a_participant_who_is_nobody_is_an_error(participant):
    with pytest.raises(DpgateError, match=participant):
        choose(participant, ("1", "2"))


def test_12_merging_takes_any_path_and_tells_every_error(tmp_path):
    deep, flat = write(tmp_path / "a/b/c", {"sub-1/x": "1"}), write(tmp_path / "d", {"sub-2/x": "2"})
    merge_subjects([deep, flat], tmp_path / "out")
    assert read(tmp_path / "out") == {"sub-1/x": b"1", "sub-2/x": b"2"}
    with pytest.raises(DpgateError, match="is not a folder"):
        merge_subjects([deep, tmp_path / "none"], tmp_path / "again")


def test_13_several_files_are_columns_of_one_row_for_each_sample(tmp_path):
    inputs = [write(tmp_path / name, {"a.tsv": f"{name}\n", "b.tsv": "5\t6\n"}) for name in ("1", "2")]
    merged = merge_group(inputs, tmp_path / "out", ["a.tsv", "b.tsv"])
    assert merged.rows == (("1", "5", "6"), ("2", "5", "6"))


def test_14_a_missing_result_is_an_error_or_on_the_platform_a_failed_run(tmp_path):
    inputs = [write(tmp_path / "1", {"a.tsv": "1\n"}), write(tmp_path / "2", {"x": ""})]
    with pytest.raises(DpgateError, match=r"2/a\.tsv is missing"):
        merge_group(inputs, tmp_path / "out", ["a.tsv"])
    assert collect({}, shape=shape_of("a.tsv", b"1\t2\n"), grids=(GRID,) * 2, default=(7, 7)) is None


def test_15_no_digit_is_lost_far_from_zero():
    mechanism = mechanism_for((("99999936", "100000064"),), people=20, noise_multiplier="1")
    (grid,) = mechanism.grids
    units = [grid.snap(100_000_000 + (number == 3)) for number in range(21)]
    (scale,) = mechanism.scales([(one,) for one in units])
    assert scale * grid.step == 8  # the floor, 128 / 20, above the change of 1
    assert abs(units[3] - units[0]) * grid.step == 1


def test_16_headers_labels_texts_and_truth_values_are_the_twins(tmp_path):
    text = "mean\tsd\tof\n100\t2\theights\n"
    folder = write(tmp_path / "in", {"a.tsv": text, "r.mat": matlab({"ok": [True], "note": "n", "x": 1.5})})
    names = ("a.tsv:2:1", "a.tsv:2:2", "r.mat:result.x[1,1]")
    add_noise(folder, tmp_path / "out", ["a.tsv", "r.mat"], noise_for(names, tmp_path))
    lines = (tmp_path / "out" / "a.tsv").read_text().splitlines()
    assert (lines[0], lines[1].split("\t")[2]) == ("mean\tsd\tof", "heights")
    changed = write(tmp_path / "changed", {"a.tsv": text.replace("heights", "sub-3"), "r.mat": matlab(1.5)})
    for file in ("a.tsv", "r.mat"):
        with pytest.raises(DpgateError, match="in the first result"):
            merge_group([folder, changed], tmp_path / "merged", [file])
    shape = shape_of("m.json", json.dumps({"ok": True, "note": "n", "x": 1.5}).encode())
    run = json.dumps({"ok": False, "note": "sub-3", "x": 2.5}).encode()
    assert collect({"m.json": run}, shape=shape, grids=(GRID,), default=(0,)) == (GRID.snap(2.5),)
    assert b"sub-3" not in shape.files[0].write(["2.5"])
