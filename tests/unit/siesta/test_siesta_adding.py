"""addnoise: noise of its own for every number, as wide as calibrated, and every other byte as it was."""

from __future__ import annotations

import pytest
from bids_folders import read, write
from group_results import FILES, NAMES, calibrate_in, result, samples

from companions.siesta.calibration import calibrate
from companions.siesta.group_files import is_number
from companions.siesta.noising import add_noise
from dpgate.errors import DpgateError


@pytest.fixture
def calibrated(tmp_path):
    return calibrate_in(tmp_path)


def test_everything_but_the_numbers_stays_and_nothing_but_the_files_is_written(calibrated, tmp_path):
    noised = add_noise(tmp_path / "all", tmp_path / "out", FILES, calibrated)
    values = [one.value for one in noised]
    assert read(tmp_path / "out") == {
        "g/means.tsv": f"what\tmean\tn\r\nage\t{values[0]}\tn/a\r\nheight\t{values[1]}\t\r\n".encode(),
        "b.csv": f'"a ""b""",sd\nx,{values[2]}'.encode(),
        "c.txt": f"  {values[3]} {values[4]}  label\n\n".encode(),
    }
    assert all(is_number(value) for value in values)
    assert [one.name for one in noised] == list(NAMES)
    assert [one.scale for one in noised] == list(calibrated.scales)


def test_every_value_of_every_file_has_noise_of_its_own_and_each_time(calibrated, tmp_path):
    """Two files with the same true values and scales: a shared or repeated draw would show as equal noise."""
    errors = []
    for time in range(40):
        noised = add_noise(tmp_path / "all", tmp_path / str(time), FILES, calibrated)
        truth = (20, 171, 5, 0.5, 15)
        errors.append(
            tuple(
                round((float(one.value) - true) / float(one.scale), 3)
                for one, true in zip(noised, truth, strict=True)
            )
        )
    assert all(any(error) for error in errors)
    assert len(set(errors)) == len(errors)
    for one in range(5):
        for other in range(one):
            assert sum(error[one] == error[other] for error in errors) < 10


def test_the_noise_is_as_wide_as_the_table_says_and_small_noise_stays(calibrated, tmp_path):
    """500 draws of a Laplace law. Half lie within ln 2 scales, plus or minus 56 (five standard deviations); a
    tenth of a scale holds 47.6, and 15 or fewer have chance 1.1e-8: small noise is not drawn again."""
    truth = (20, 171, 5, 0.5, 15)
    sizes = [
        abs(float(one.value) - true) / float(one.scale)
        for time in range(100)
        for one, true in zip(
            add_noise(tmp_path / "all", tmp_path / str(time), FILES, calibrated), truth, strict=True
        )
    ]
    assert 194 <= sum(size < 0.6931 for size in sizes) <= 306
    assert sum(size < 0.1 for size in sizes) > 15


def test_the_half_width_is_that_of_the_scale(calibrated, tmp_path):
    for one in add_noise(tmp_path / "all", tmp_path / "out", FILES, calibrated):
        assert 2.99 < one.half_width_95 / one.scale < 3.0  # ln 20


def test_labels_come_from_the_skeleton_if_there_is_one(calibrated, tmp_path):
    twin = result(tmp_path / "twin", 1, 2, 3, 4)
    add_noise(tmp_path / "all", tmp_path / "out", FILES, calibrated, skeleton=twin)
    changed = write(tmp_path / "all", {"b.csv": '"a ""b""",sd\nsub-01 is ill,5'})
    with pytest.raises(DpgateError, match=r"b\.csv, line 2, cell 1 is not of the"):
        add_noise(changed, tmp_path / "out2", FILES, calibrated, skeleton=twin)
    assert not (tmp_path / "out2").exists()


def test_noise_for_other_numbers_is_not_added(calibrated, tmp_path):
    with pytest.raises(DpgateError, match="not those that the noise was calibrated for"):
        add_noise(tmp_path / "all", tmp_path / "out", FILES[:2], calibrated)
    with pytest.raises(DpgateError, match="not those that the noise was calibrated for"):
        add_noise(tmp_path / "all", tmp_path / "out", FILES[::-1], calibrated)


def test_a_value_outside_the_bounds_is_clamped(tmp_path):
    table = calibrate(samples([["1"]] * 20), samples([["1"]]), tmp_path / "n.tsv", bounds=(("0", "1"),))
    folder = write(tmp_path / "in", {"a.tsv": "1e300\n"})
    (one,) = add_noise(folder, tmp_path / "out", ["a.tsv"], table)
    assert abs(float(one.value)) < 100
