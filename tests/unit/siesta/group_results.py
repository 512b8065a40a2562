"""Results of a group level in three text files, and their noise, for what comes after the runs."""

from __future__ import annotations

from bids_folders import write

from companions.siesta.calibration import calibrate
from companions.siesta.samples import Samples, merge_group

FILES = ("g/means.tsv", "b.csv", "c.txt")
RESULT = {
    "g/means.tsv": "what\tmean\tn\r\nage\t{0}\tn/a\r\nheight\t{1}\t\r\n",
    "b.csv": '"a ""b""",sd\nx,{2}',
    "c.txt": "  {3} +1.5e1  label\n\n",
    "not-listed.tsv": "{0}\n",
}
NAMES = ("g/means.tsv:2:2", "g/means.tsv:3:2", "b.csv:2:2", "c.txt:1:1", "c.txt:1:2")
BOUNDS = (("0", "100"), ("0", "256"), ("0", "10"), ("-1", "1"), ("0", "64"))


def result(root, *values):
    return write(root, {path: text.format(*values) for path, text in RESULT.items()})


def samples(rows, names=("a.tsv:1:1",)):
    return Samples(names, tuple(tuple(row) for row in rows))


def calibrate_in(tmp_path):
    """Results of 20 samples and of everybody, merged, and the noise for them."""
    inputs = [result(tmp_path / "loo" / str(i), 20, 170 + i / 8, 5, 0.5) for i in range(20)]
    merged = merge_group(inputs, tmp_path / "merged", FILES)
    everybody = result(tmp_path / "all", 20, 171, 5, 0.5)
    whole = merge_group([everybody], tmp_path / "whole", FILES)
    return calibrate(merged, whole, tmp_path / "noise.tsv", bounds=BOUNDS)
