"""mergegroup, calibratenoise and addnoise: from the results of the samples to the noised files."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from bids_folders import write
from group_results import FILES, NAMES, calibrate_in, result, samples

from companions.siesta.calibration import bounds_from_options, calibrate, read_bounds
from companions.siesta.group_files import read_group_files
from companions.siesta.noise_table import read_noise_table
from companions.siesta.samples import Samples, merge_group, read_samples
from companions.siesta.wp15 import read_merged
from dpgate.cli.siesta_noise import whitelist_in
from dpgate.errors import DpgateError
from dpgate.pipeline_folder import read_text


def scale_of(tmp_path, rows, whole, *, lower="0", upper="1024", multiplier="1"):
    table = calibrate(
        samples([row] for row in rows),
        samples([[whole]]),
        tmp_path / f"noise-{len(list(tmp_path.iterdir()))}.tsv",
        bounds=((lower, upper),),
        noise_multiplier=multiplier,
    )
    return table.scales[0]


@pytest.fixture
def calibrated(tmp_path):
    return calibrate_in(tmp_path)


def test_files_are_columns_and_samples_are_rows(tmp_path):
    inputs = [result(tmp_path / name, name, 2.5, "-1e-3", ".5") for name in ("1", "2")]
    merged = merge_group(inputs, tmp_path / "out", FILES)
    assert merged == Samples(
        NAMES, (("1", "2.5", "-1e-3", ".5", "+1.5e1"), ("2", "2.5", "-1e-3", ".5", "+1.5e1"))
    )
    table = tmp_path / "out" / "group-merged.tsv"
    assert table.stat().st_mode & 0o777 == 0o600
    assert read_samples(table) == merged
    assert len(table.read_text().splitlines()) == 3


def test_a_missing_result_is_an_error(tmp_path):
    inputs = [result(tmp_path / name, 1, 2, 3, 4) for name in ("1", "2")]
    (inputs[1] / "b.csv").unlink()
    with pytest.raises(DpgateError, match=r"2/b\.csv is missing"):
        merge_group(inputs, tmp_path / "out", FILES)
    with pytest.raises(DpgateError, match=r"3/g/means\.tsv is missing"):
        merge_group([inputs[0], tmp_path / "3"], tmp_path / "out", FILES)
    with pytest.raises(DpgateError, match="named twice"):
        merge_group([inputs[0], tmp_path / "2" / ".." / "1"], tmp_path / "out", FILES)
    assert not (tmp_path / "out").exists()


RESULTS_MAY_DIFFER_IN_THEIR_NUMBERS_ONLY = (
    ("a\tb\n1\n", "line 2, cell 1 is not of the"),
    ("a\tc\nx\t1\n", "line 1, cell 2 is not of the"),
    ("a\tb\nx\tn/a\n3\n", "line 2, cell 2 is not of the"),
    ("a\tb\nx\t1\nx\n", "has other lines"),
    ("a\tb\n", "holds no number"),
    ("a\tb\nx\tnan\n", "line 2, cell 2, is a number that is missing"),
    ("a\tb\nx\tinf\n", "line 2, cell 2, is a number"),
    ('a\tb\nx\t"1"\n', "line 2, cell 2, is a number"),
    ("a\tb\nx\t 1\n", "line 2, cell 2, is a number"),
    ("a\tb\nx\t1e999\n", "line 2, cell 2, is a number"),
    (b"\xff\n1\n", "not UTF-8"),
    ("1" * 70_000, "larger than"),
)


def test_results_may_differ_in_their_numbers_only(subtests, tmp_path):
    for number, (text, reason) in enumerate(RESULTS_MAY_DIFFER_IN_THEIR_NUMBERS_ONLY):
        with subtests.test(text=text, reason=reason):
            (folder := tmp_path / str(number)).mkdir()
            inputs = [write(folder / "1", {"r.tsv": "a\tb\nx\t1\n"}), write(folder / "2", {"r.tsv": text})]
            with pytest.raises(DpgateError, match=reason):
                merge_group(inputs, folder / "out", ["r.tsv"])


def test_a_result_outside_its_folder_is_not_read(tmp_path):
    folder = write(tmp_path / "in", {"a": "x"})
    write(tmp_path, {"secret.tsv": "1\n"})
    (folder / "r.tsv").symlink_to("../secret.tsv")
    with pytest.raises(DpgateError, match="leads out of"):
        read_group_files(folder, ["r.tsv"])


# to whoever reads it a number, and to a program none: as a label it would leave without noise
DISGUISED = (
    "\ufeff12.5",
    "12,5",
    "\u221212.5",
    "3.1 ± 0.4",
    "3.1 (0.4)",
    "3.1[2, 4]",
    "1.5D+02",
    "\u200b7",
    "1\r2",
    "\uff11\uff12.\uff15",
    "\u0661\u0662\u066b\u0665",
    "12\u00ad.5",
    "\u201312.5",
    "12\u00b75",
    "1_5",
    "1/3",
    "\u00bd",
    "0.03*",
    "1,234.5",
    "1'234",
    "(-42, 8, 30)",
    f"12.{45 * '5'}",
    25 * "1",
    '"12.5"',
)
LABELS = (
    "mean age",
    "1,2 or 3",
    "25-34",
    "2026-11-28",
    "12.5 %",
    "T1",
    "(Intercept)",
    "\ufeffage",
    "",
    "D2",
    "65+",
    "***",
    "12 mm",
)


def test_a_number_that_is_not_written_plainly_is_no_label(subtests, tmp_path):
    for number, cell in enumerate((*DISGUISED, *LABELS)):
        with subtests.test(cell=cell):
            (tmp_path / str(number)).mkdir()
            (tmp_path / str(number) / "r.tsv").write_text(f"{cell}\t5\n", encoding="utf-8", newline="")
            if cell in LABELS:
                assert read_group_files(tmp_path / str(number), ["r.tsv"])[0].values == ("5",)
            else:
                with pytest.raises(DpgateError, match="not written plainly"):
                    read_group_files(tmp_path / str(number), ["r.tsv"])


def test_a_mark_of_byte_order_in_front_of_a_table_of_the_holder_is_passed_over(tmp_path):
    """As spreadsheets write it, with CRLF."""
    (tmp_path / "bounds.tsv").write_bytes(b"\xef\xbb\xbffile\tlower\tupper\r\nr.tsv\t0\t1\r\n")
    assert read_bounds(tmp_path / "bounds.tsv", ("r.tsv:1:1",)) == (("0", "1"),)
    (tmp_path / "merged.tsv").write_bytes(b"\xef\xbb\xbf20\t30\r\n21\t31\r\n")
    assert read_merged(tmp_path / "merged.tsv").rows == (("20", "30"), ("21", "31"))
    (tmp_path / "whitelist.txt").write_bytes(b"\xef\xbb\xbf# may leave\r\nr.tsv\r\n")
    assert whitelist_in(tmp_path / "whitelist.txt") == ("r.tsv",)
    assert read_text(tmp_path / "whitelist.txt").startswith("# may leave")


def test_a_header_of_numbers_is_a_header_if_you_say_so(tmp_path):
    folder = write(tmp_path / "in", {"r.tsv": "2019\t2020\n1\t2\n"})
    (file,) = read_group_files(folder, ["r.tsv"], header_lines=1)
    assert file.names == ("r.tsv:2:1", "r.tsv:2:2")
    assert file.filled(["8", "9"]) == b"2019\t2020\n8\t9\n"
    assert len(read_group_files(folder, ["r.tsv"])[0].names) == 4


A_TABLE_OF_SOMETHING_ELSE_IS_REFUSED = (
    "",
    "1\n",
    "a\n1\n",
    "a:1:1\ta:1:1\n",
    "a:1:1\n1\t2\n",
    "a:1:1\nx\n",
    b"\xff",
)


def test_a_table_of_something_else_is_refused(subtests, tmp_path):
    for number, text in enumerate(A_TABLE_OF_SOMETHING_ELSE_IS_REFUSED):
        with subtests.test(text=text):
            (folder := tmp_path / str(number)).mkdir()
            write(folder, {"merged.tsv": text})
            with pytest.raises(DpgateError, match=r"is not a table|does not hold one number"):
                read_samples(folder / "merged.tsv")


def test_the_scale_covers_the_largest_change_and_the_public_floor(tmp_path):
    same = ["100"] * 20
    assert scale_of(tmp_path, same, "100") == 64  # 1024 / 20 = 51.2
    assert scale_of(tmp_path, [*same[1:], "165"], "100") == 128
    assert scale_of(tmp_path, [*same[1:], "164"], "100") == 64
    assert scale_of(tmp_path, same, "100", multiplier="2") == 128
    assert scale_of(tmp_path, same, "100", multiplier="10/3") == 256


def test_a_count_moves_although_all_samples_agree(tmp_path):
    """n - 1 in every sample, n for everybody: only the result of everybody shows that it moves by one."""
    rows, bounds = ["59"] * 20, {"lower": "59", "upper": "61"}
    assert scale_of(tmp_path, rows, "59", **bounds) == Fraction(1, 8)
    assert scale_of(tmp_path, rows, "60", **bounds) == 1


def test_no_digit_is_lost_at_a_large_offset(tmp_path):
    rows = [f"{100_000_000 + i % 2}" for i in range(20)]
    bounds = {"lower": "99999990", "upper": "100000006"}
    assert scale_of(tmp_path, rows, "100000000", **bounds) == 1
    assert scale_of(tmp_path, [*rows[1:], "100000003"], "100000000", **bounds) == 4


WHAT_CANNOT_BE_CALIBRATED_IS_REFUSED = (
    ({"rows": 9}, "from 10 to"),
    ({"names": 21}, "1 to 20 output numbers"),
    ({"whole": 2}, "exactly one row"),
    ({"noise_multiplier": "0"}, "above zero"),
    ({"noise_multiplier": "-1"}, "above zero"),
    ({"noise_multiplier": "0.01"}, "from 0.001 to 10"),
    ({"noise_multiplier": "1e9"}, "number such as"),
    ({"noise_multiplier": "1/0"}, "number such as"),
    ({"noise_multiplier": "much"}, "number such as"),
    ({"bounds": ("1", "1")}, "lower must be below upper"),
    ({"bounds": ("x", "1")}, "lower must be a number"),
)


def test_what_cannot_be_calibrated_is_refused(subtests, tmp_path):
    for number, (change, reason) in enumerate(WHAT_CANNOT_BE_CALIBRATED_IS_REFUSED):
        with subtests.test(change=change, reason=reason):
            (folder := tmp_path / str(number)).mkdir()
            names = tuple(f"a.tsv:1:{i}" for i in range(change.get("names", 1)))
            row = ["1"] * len(names)
            with pytest.raises(DpgateError, match=reason):
                calibrate(
                    samples([row] * change.get("rows", 20), names),
                    samples([row] * change.get("whole", 1), names),
                    folder / "noise.tsv",
                    bounds=(change.get("bounds", ("0", "1")),) * len(names),
                    noise_multiplier=change.get("noise_multiplier", "1"),
                )
            assert not (folder / "noise.tsv").exists()


def test_results_of_other_numbers_do_not_calibrate_each_other(tmp_path):
    other = Samples(("b.tsv:1:1",), (("1",),))
    with pytest.raises(DpgateError, match="other numbers"):
        calibrate(samples([["1"]] * 20), other, tmp_path / "n.tsv", bounds=(("0", "1"),))


def test_bounds_come_once_or_for_each_number():
    assert bounds_from_options(["0"], ["1"], NAMES) == (("0", "1"),) * 5
    assert bounds_from_options(["0", "2"], ["1", "3"], NAMES[:2]) == (("0", "1"), ("2", "3"))
    for lower, upper, reason in (
        ([], [], "bounds are missing"),
        (["0"], [], "bounds are missing"),
        (["0"], ["1", "2"], "once for each of the 5"),
        (["0"] * 2, ["1"] * 2, "once for each of the 5"),
    ):
        with pytest.raises(DpgateError, match=reason):
            bounds_from_options(lower, upper, NAMES)


def test_bounds_in_a_table(tmp_path):
    path = tmp_path / "bounds.tsv"
    path.write_text("file\tlower\tupper\nb.csv\t0\t10\nc.txt\t-1\t1\n")
    assert read_bounds(path, NAMES[2:4]) == (("0", "10"), ("-1", "1"))
    for text, names, reason in (
        (path.read_text(), NAMES[:3], "2 lines of bounds for 3"),
        (path.read_text(), NAMES[:2], "line 2, must hold file, lower and upper of the number g/means.tsv"),
        ("file\tlower\tupper\nb.csv\t0\n", NAMES[2:3], "line 2, must hold"),
        ("", NAMES, "must start with"),
        (b"\xff", NAMES, "not UTF-8"),
    ):
        write(tmp_path, {"bounds.tsv": text})
        with pytest.raises(DpgateError, match=reason):
            read_bounds(path, names)


def test_the_noise_table_comes_back_as_it_was(calibrated, tmp_path):
    assert read_noise_table(tmp_path / "noise.tsv") == calibrated
    assert (tmp_path / "noise.tsv").stat().st_mode & 0o777 == 0o600
    with pytest.raises(DpgateError, match="there already"):
        calibrate(samples([["1"]] * 20), samples([["1"]]), tmp_path / "noise.tsv", bounds=(("0", "1"),))


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        (r"(scale\t)8\b", r"\g<1>7", "power of two"),
        (r"(scale\t)8\b", r"\g<1>4", "at least 8"),
        (r"(scale\t)8\b", r"\g<1>0", "at least 8"),
        (r"(scale\t)8\b", r"\g<1>-8", "at least 8"),
        (r"(scale\t)8\b", rf"\g<1>{2**60}", "too wide"),
        (r"(scale\t)8\b", r"\g<1>1/0", "not a table"),
        (r"\t\S+\n\Z", "\n", "shorter"),
        (r"people\t20", "people\t40", "same in all columns"),
        (r"people", "persons", "its lines must be"),
        (r"value\t\S+\t", r"value\tb.csv:2:2\t", "names different"),
    ],
)
def test_a_noise_table_that_was_changed_is_refused(calibrated, tmp_path, before, after, reason):
    path = tmp_path / "noise.tsv"
    text = path.read_text()
    changed = re.sub(before, after, text)
    assert changed != text
    path.write_text(changed)
    with pytest.raises(DpgateError, match=reason):
        read_noise_table(path)
