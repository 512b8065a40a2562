"""Outputs in several formats at a terminal: proposed, locked, previewed, released, written and verified."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from terminal import Platform, Terminal, pipeline_folder

from dpgate.cli.exit_codes import ExitCode
from dpgate.client import Client
from dpgate.credentials import Login

# the image has no numpy: the header of an array is written by hand
CODE = """\
import csv, json, struct, sys
rows = list(csv.DictReader(open(sys.argv[1] + "/people.csv", encoding="utf-8")))
ages = [float(row["age"]) for row in rows]
mean = sum(ages) / len(ages) if ages else None
with open(sys.argv[2] + "/model.json", "w") as file:
    json.dump({"mean": mean, "kind": "ages"}, file)
header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (COUNT,), }\\n"
with open(sys.argv[2] + "/ages.npy", "wb") as file:
    file.write(b"\\x93NUMPY\\x01\\x00" + struct.pack("<H", len(header)) + header)
    file.write(struct.pack("<COUNTd", *([mean or 0.0] * COUNT)))
"""
BOUNDS = {"lower": 0, "upper": 100}
OUTPUTS = [
    {"file": "model.json", "bounds": [{"select": "/mean", "name": "mean", **BOUNDS}]},
    {"file": "ages.npy", "bounds": [{"select": "*", "name": "age", **BOUNDS}]},
]


def folder_of(shell: Terminal, name: str, count: int, **manifest: Any) -> Path:
    return pipeline_folder(
        shell.folder / name, CODE.replace("COUNT", str(count)), **{"outputs": OUTPUTS, **manifest}
    )


@pytest.fixture(scope="module")
def twin(one_platform: Platform) -> Path:
    folder = one_platform.ada.folder / "twin-formats"
    one_platform.dataset("formats", budgets={"budget_delta": "0.01"}, guarantees=["pure_dp", "approx_dp"])
    one_platform.ada.ok("twin", "formats", "-o", folder)
    return folder


def test_from_the_twin_to_files_that_verify(one_platform: Platform, twin: Path) -> None:
    ada = one_platform.ada
    folder = folder_of(ada, "formats", 2)
    (folder / "whitelist.txt").write_text("# what may leave\nages.npy\nmodel.json\n")
    ada.ok("run", folder, "--twin", twin, "--block-size", 3)
    answer = ada.ok("submit", folder, "--epsilon", "2", "--wait", "--json").json
    assert [value["name"] for value in answer["values"]] == ["mean", "age-1", "age-2"]
    ada.ok("result", answer["job_id"], "-o", "formats-results")
    ages = np.load(ada.folder / "formats-results" / "ages.npy", allow_pickle=False)
    assert ages.tolist() == pytest.approx([value["value"] for value in answer["values"][1:]], abs=0.051)
    model = json.loads((ada.folder / "formats-results" / "model.json").read_text())
    assert model == {"mean": pytest.approx(answer["values"][0]["value"], abs=0.051), "kind": "ages"}
    release = ada.ok("result", answer["job_id"], "--json").out
    (ada.folder / "formats.json").write_text(release)
    ada.ok("verify", "formats.json")
    with Client(Login(ada.environment["DPGATE_URL"], ada.environment["DPGATE_TOKEN"])) as client:
        found = client.release(answer["job_id"])
    assert np.load(io.BytesIO(found.binary_files["ages.npy"])).tolist() == ages.tolist()
    assert set(found.files) == {"model.json"}


def test_many_values_need_noise_for_all_together_and_the_preview_says_so(
    one_platform: Platform, twin: Path
) -> None:
    ada = one_platform.ada
    folder = folder_of(ada, "many", 20)
    ada.ok("run", folder, "--twin", twin, "--block-size", 3)
    refused = ada("preview", folder, "--twin", twin, "--noise", "laplace")
    assert refused.code == ExitCode.USAGE
    said = " ".join(refused.err.split())
    assert "21 values are more than the 20 that go with Laplace noise" in said
    assert "Leave --noise out, for joint noise of all means" in said
    refused = ada("submit", folder, "--epsilon", "1", "--noise", "laplace")
    assert refused.code == ExitCode.USAGE, refused
    assert "at most 20 values" in " ".join(refused.err.split())
    shown = ada.ok("preview", folder, "--twin", twin, "--block-size", 3).out
    assert "21 values share the loss: each has about 9 times" in " ".join(shown.split())
    shown = ada.ok("preview", folder, "--twin", twin, "--delta", "1e-6", "--noise", "gaussian").out
    assert "21 values share the loss: each has about 5 times" in " ".join(shown.split())
    for mechanism in ("pac", "stability_calibrated"):
        refused = ada("preview", folder, "--twin", twin, "--mechanism", mechanism)
        assert refused.code == ExitCode.USAGE, refused
        assert "at most 20 values" in " ".join(refused.err.split())


def test_what_many_values_amount_to_together_is_shown(one_platform: Platform, twin: Path) -> None:
    ada = one_platform.ada
    folder = folder_of(ada, "some", 19)
    ada.ok("run", folder, "--twin", twin, "--block-size", 3)
    choice = ("--twin", twin, "--aggregator", "clipped_mean", "--noise", "laplace")
    found = ada.ok("preview", folder, *choice, "--json").json["together"]
    assert found["parts"] == 20
    assert found["epsilon"] < found["micro_epsilon"] / 1_000_000
    shown = " ".join(ada.ok("preview", folder, *choice).out.split())
    assert "Inside this job the noise of all 20 numbers together is that of epsilon" in shown
    assert "Charged is the sum" in shown


def test_a_proposal_as_json_and_what_it_needs(one_platform: Platform, twin: Path) -> None:
    ada = one_platform.ada
    folder = folder_of(ada, "proposed", 2, outputs=[])
    refused = ada("run", folder, "--twin", twin, "--propose")
    assert refused.code == ExitCode.USAGE
    assert "list them in whitelist.txt" in " ".join(refused.err.split())
    (folder / "whitelist.txt").write_text("model.json\nages.npy\nmissing.tsv\n")
    failed = ada("run", folder, "--twin", twin, "--propose")
    assert failed.code == ExitCode.PIPELINE_FAILED
    (folder / "whitelist.txt").write_text("model.json\nages.npy\n../ages.npy\n")
    assert "line 3" in " ".join(ada("run", folder, "--twin", twin, "--propose").err.split())
    (folder / "whitelist.txt").write_text("model.json\nages.npy\n")
    found = yaml.safe_load(ada.ok("run", folder, "--twin", twin, "--propose", "--json").json["outputs"])
    names = [value["name"] for output in found["outputs"] for value in output["values"]]
    assert names == ["model_mean", "ages_0", "ages_1"]
