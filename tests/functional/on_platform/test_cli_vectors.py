"""A spectrum of 400 values at a terminal: locked, previewed with a clip norm, released, written, verified."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from terminal import Platform, Terminal, pipeline_folder

VALUES = 400
# a curve that every person's age sets, far from the corners of its bounds
CODE = """\
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1] + "/people.csv", encoding="utf-8")))
ages = [float(row["age"]) for row in rows]
mean = sum(ages) / len(ages)
with open(sys.argv[2] + "/spectrum.csv", "w") as out:
    out.write("hz,power\\n")
    for place in range(1, 401):
        out.write("%r,%r\\n" % (place / 4, mean * 100 / (100 + place)))
"""
OUTPUTS = [
    {
        "file": "spectrum.csv",
        "bounds": [{"select": "column:power", "name": "power", "lower": 0, "upper": 100}],
        "constants": ["column:hz"],
    }
]


@pytest.fixture(scope="module")
def twin(one_platform: Platform) -> Path:
    folder = one_platform.ada.folder / "twin-vectors"
    one_platform.dataset("vectors", budgets={"budget_delta": "0.01"}, guarantees=["pure_dp", "approx_dp"])
    one_platform.ada.ok("twin", "vectors", "-o", folder)
    return folder


def spectrum(ada: Terminal, name: str) -> Path:
    return pipeline_folder(ada.folder / name, CODE, outputs=OUTPUTS)


@pytest.mark.deep("integration/worker/test_vectors releases one and writes its file; this types the commands")
def test_a_spectrum_is_previewed_released_and_written_in_its_own_file(
    one_platform: Platform, twin: Path
) -> None:
    ada = one_platform.ada
    folder = spectrum(ada, "spectrum")
    ada.ok("run", folder, "--twin", twin, "--block-size", 3)
    chosen = ("--delta", "1e-6", "--block-sizes", "3")
    shown = " ".join(ada.ok("preview", folder, "--twin", twin, *chosen).out.split())
    assert "400 values share the loss" in shown
    assert "joint noise (pure_dp)" in shown
    assert "gaussian noise (approx_dp)" in shown
    assert "--clip-norm" in shown
    assert "of 400 values, those of the smallest, the middle and the largest error" in shown
    assert len(shown) < 8_000
    found = ada.ok("preview", folder, "--twin", twin, *chosen, "--clip-norm", 15, "--json").json
    assert [row["noise"] for row in found["kinds"]] == ["joint", "gaussian", "gaussian"]
    assert found["kinds"][2]["error"] < found["kinds"][1]["error"] < found["kinds"][0]["error"]
    clipped = ada.ok("preview", folder, "--twin", twin, *chosen, "--clip-norm", 1).out
    assert "100% of the twin's blocks are beyond the clip norm" in " ".join(clipped.split())
    asked = ("--epsilon", "2", "--delta", "1e-6", "--clip-norm", 18, "--wait", "--json")
    answer = ada.ok("submit", folder, "--block-size", 3, *asked).json
    assert len(answer["values"]) == VALUES
    ada.ok("result", answer["job_id"], "-o", "vectors-results")
    written = (ada.folder / "vectors-results" / "spectrum.csv").read_text()
    head, *rows = csv.reader(io.StringIO(written))
    assert (head, len(rows)) == (["hz", "power"], VALUES)
    assert [row[0] for row in rows[:2]] == ["0.25", "0.5"]
    (ada.folder / "vectors.json").write_text(ada.ok("result", answer["job_id"], "--json").out)
    ada.ok("verify", "vectors.json", "--recompute")


def test_what_cannot_be_clipped_is_refused_in_a_sentence(one_platform: Platform, twin: Path) -> None:
    ada = one_platform.ada
    folder = spectrum(ada, "spectrum-refused")
    ada.ok("run", folder, "--twin", twin, "--block-size", 3)
    for asked, said in (
        (("--clip-norm", 3), "clip_norm goes with noise gaussian or auto and a delta"),
        (("--clip-norm", 0, "--delta", "1e-6"), "clip norm: is below"),
        (("--clip-norm", 3, "--delta", "1e-6", "--weights", "power-1=2"), "leave weights out"),
        (("--clip-norm", 3, "--delta", "1e-6", "--interval", "sampling"), "leave clip_norm or interval out"),
    ):
        refused = ada("submit", folder, "--block-size", 3, "--epsilon", "1", *asked)
        assert refused.code != 0
        assert said in " ".join(refused.err.split())
