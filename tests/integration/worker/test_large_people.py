"""People whose files are too large to copy for each run: the same inputs, every file staged once a slot."""

from __future__ import annotations

import json
from pathlib import Path

from heights import PEOPLE
from levels import noting, two_level_fields
from zones import Bench, given_delivery, imported, open_bench, submit

from domain.dataset import DatasetState
from domain.states import JobState
from worker.importing import import_dataset
from worker.sandbox.core.given import VIEW_ABOVE_BYTES

SIZE = 12 * 2**20
FEW = {name: PEOPLE[name] for name in list(PEOPLE)[:8]}
# the height of a person is written at the end of a large file, and nowhere else
APP = """\
import os, sys
def last(path):
    with open(path, "rb") as file:
        file.seek(-8, os.SEEK_END)
        return file.read()
people = sorted(name for name in os.listdir("/in") if name.startswith("sub-"))
heights = [float(last("/in/%s/eeg/%s_eeg.bin" % (name, name))) for name in people]
if sys.argv[3] == "participant":
    os.mkdir("/out/" + people[0])
    open("/out/%s/height.txt" % people[0], "w").write(str(heights[0]))
else:
    assert heights == [float(open("/out/%s/height.txt" % name).read()) for name in people]
    open("/out/result.tsv", "w").write("mean_height\\n%r\\n" % (sum(heights) / len(heights)))
"""


def given_large(bench: Bench) -> None:
    description = {"Name": "large", "BIDSVersion": "1.8.0"}
    public = [{"path": "dataset_description.json", "text": json.dumps(description)}]
    files: dict[str, str | bytes] = {"dataset_description.json": json.dumps(description)}
    files["participants.tsv"] = "participant_id\theight\n" + "".join(f"{name}\tn/a\n" for name in FEW)
    for name, height in FEW.items():
        files[f"{name}/eeg/{name}_eeg.bin"] = bytes(SIZE) + b"%8.1f" % height
    policy = {"guarantees": ["empirical"], "reviewed_pipelines": ["sha256:" + "0" * 64]}
    fields = {"public_files": public, "nominal_size": 20, "policy": policy, "budget_releases": 1}
    given = given_delivery(bench, files, layout="bids", **fields)
    import_dataset(bench.zone, given.id)
    assert imported(bench, given.id).state is DatasetState.READY


def test_every_run_sees_all_of_its_people_and_no_others(sqlite_url: str, tmp_path: Path) -> None:
    assert SIZE * (len(FEW) - 1) > VIEW_ABOVE_BYTES
    with open_bench(sqlite_url, tmp_path) as opened:
        bench, sandbox = noting(opened)
        given_large(bench)
        stability = {"name": "stability_calibrated", "noise_multiplier": 0.1}
        job_id = submit(bench, **two_level_fields(APP), mechanism=stability)
        bench.drive()
        assert bench.job(job_id).state is JobState.RELEASED
        people = sandbox.take("participant")
        assert sorted(run.people[0] for run in people) == sorted(FEW)
        groups = sandbox.take("group")
        assert not [run for run in (*people, *groups) if run.failed]
        assert sorted(len(run.people) for run in groups) == [7] * 8 + [8] * 13
