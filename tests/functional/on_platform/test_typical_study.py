"""A study as labs have them: two sessions, missing runs, derivatives as input, phenotype, odd names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from terminal import WALL_S, Platform

PEOPLE = [f"sub-{number:02}" for number in range(1, 17)]
SESSIONS = ("ses-avant", "ses-après")
STEP = "derivatives/prétraitement v2"
MOOD = "phenotype/humeur état.tsv"
APP = """\
import csv, sys
from pathlib import Path
source, target, level = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
def rows(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines(), delimiter="\\t"))
people = [row["participant_id"] for row in rows(source / "participants.tsv")]
if level == "participant":
    (person,) = people
    events = source.glob(f"{person}/ses-*/beh/*_events.tsv")
    delays = [float(row["délai"]) for file in events for row in rows(file)] or [0.5]
    motion = source / "derivatives/prétraitement v2" / person / "anat" / f"{person}_motion.tsv"
    moved = rows(motion)[0]["moved"]
    mood = [row["humeur"] for row in rows(source / "phenotype/humeur état.tsv") if row["humeur"] != "n/a"]
    (target / person / "résumé par personne").mkdir(parents=True)
    own = target / person / "résumé par personne" / f"{person}_a b.tsv"
    own.write_text(f"{sum(delays) / len(delays)}\\t{moved}\\t{mood[0] if mood else 'n/a'}\\n")
    (target / "dataset_description.json").write_text('{"Name": "mine", "DatasetType": "derivative"}')
else:
    own = [target / person / "résumé par personne" / f"{person}_a b.tsv" for person in people]
    found = [path.read_text().split() for path in own]
    columns = [[float(cell) for cell in column if cell != "n/a"] for column in zip(*found)]
    (target / "derivatives" / "groupe").mkdir(parents=True)
    means = [str(sum(column) / len(column)) for column in columns]
    (target / "derivatives" / "groupe" / "moyennes.tsv").write_text("\\t".join(means) + "\\n")
"""
RESULT = "derivatives/groupe/moyennes.tsv"


def study(folder: Path) -> Path:
    """One person came once, one has one run in place of two, and one did not say how they felt."""
    made: dict[str, str] = {
        "dataset_description.json": json.dumps({"Name": "Étude", "BIDSVersion": "1.8.0"}),
        "README": "Two sessions.\n",
        "participants.tsv": "participant_id\tage\n"
        + "".join(f"{who}\t{20 + n}\n" for n, who in enumerate(PEOPLE)),
        f"{STEP}/dataset_description.json": json.dumps({"Name": "prétraitement", "BIDSVersion": "1.8.0"}),
        MOOD: "participant_id\thumeur\n"
        + "".join(f"{who}\t{'n/a' if n == 4 else 3 + n % 3}\n" for n, who in enumerate(PEOPLE)),
    }
    for number, who in enumerate(PEOPLE):
        made[f"{STEP}/{who}/anat/{who}_motion.tsv"] = f"moved\n{0.1 + number % 4 / 10:.1f}\n"
        for session in SESSIONS[: 1 if number == 15 else 2]:
            for run in range(1, 2 if number == 2 else 3):
                name = f"{who}/{session}/beh/{who}_{session}_task-rt_run-{run}_events.tsv"
                made[name] = "onset\tduration\tdélai\n" + "".join(
                    f"{t}\t0\t0.{4 + number % 3}\n" for t in range(4)
                )
    for name, text in made.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def declaration(folder: Path) -> Path:
    delay = {"name": "délai", "kind": "number", "lower": 0, "upper": 1, "decimals": 1}
    times = [{"name": name, "kind": "number", "lower": 0, "upper": 10} for name in ("onset", "duration")]
    moved = {"name": "moved", "kind": "number", "lower": 0, "upper": 1, "decimals": 1}
    person = {"name": "participant_id", "kind": "person"}
    declared = {
        "name": "study",
        "title": "Two sessions",
        "layout": "bids",
        "privacy_unit": {"name": "participant", "table": "participants.tsv", "column": "participant_id"},
        "nominal_size": 16,
        "new_people": True,
        "tables": [
            {
                "path": "participants.tsv",
                "columns": [person, {"name": "age", "kind": "integer", "lower": 18, "upper": 60}],
            },
            {
                "path": MOOD,
                "columns": [
                    person,
                    {"name": "humeur", "kind": "integer", "lower": 1, "upper": 7, "missing_rate": 0.1},
                ],
            },
        ],
        "person_files": [
            *(
                {
                    "path": f"{{person}}/{session}/beh/{{person}}_{session}_task-rt_run-{run}_events.tsv",
                    "twin_table": {"rows": 4, "columns": [*times, delay]},
                    "missing_rate": 0.1,
                }
                for session in SESSIONS
                for run in (1, 2)
            ),
            {
                "path": f"{STEP}/{{person}}/anat/{{person}}_motion.tsv",
                "twin_table": {"rows": 1, "columns": [moved]},
            },
        ],
        "public_files": [
            {"path": "dataset_description.json"},
            {"path": f"{STEP}/dataset_description.json"},
            {"path": "README"},
        ],
        "budget_epsilon": 1000,
        "policy": {
            "data_users": ["ada"],
            "images": ["host-python"],
            "accepted_channels": ["page_faults"],
            "max_epsilon_per_job": 300,
            "timing": {"mode": "coarse", "step_seconds": 0.2},
        },
    }
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(declared, allow_unicode=True), encoding="utf-8")
    return path


def app(folder: Path) -> Path:
    folder.mkdir()
    (folder / "mon analyse.py").write_text(APP, encoding="utf-8")
    (folder / "whitelist.txt").write_text(f"# the means\n{RESULT}\n", encoding="utf-8")
    names = {"delay": (0, 1), "moved": (0, 1), "mood": (1, 7)}
    manifest = {
        "name": "moyennes",
        "image": "host-python",
        "command": ["python3", "/pipeline/mon analyse.py"],
        "levels": ["participant", "group"],
        "outputs": [
            {
                "file": RESULT,
                "values": [
                    {"name": name, "lower": low, "upper": high} for name, (low, high) in names.items()
                ],
            }
        ],
        "resources": {"wall_seconds": WALL_S},
    }
    (folder / "dpgate.yaml").write_text(yaml.safe_dump(manifest), encoding="utf-8")
    return folder


def test_it_is_registered_tried_on_its_twin_and_on_the_data_and_released(one_platform: Platform) -> None:
    """Both levels, from the researcher's own machine to the release."""
    holder, ada = one_platform.holder, one_platform.ada
    data = study(holder.folder / "étude 2026" / "données brutes")
    holder.ok(
        "dataset",
        "add",
        data,
        "-d",
        declaration(holder.folder),
        "--deliveries",
        one_platform.stack.home.deliveries,
    )
    pipeline, twin = app(ada.folder / "mon appli"), ada.folder / "jumeau de l'étude"
    ada.ok("twin", "study", "-o", twin)
    ada.ok("run", pipeline, "--twin", twin, "--block-size", 4)
    # a block without people counts as the middle of the bounds, which is far from how much they moved
    truth = {"delay": (0.5, 0.15), "moved": (0.28, 0.15), "mood": (4, 1.4)}
    job = ada.ok("submit", pipeline, "--epsilon", 300, "--wait", "--json").json
    assert job["guarantee"] == "pure_dp"
    assert {value["name"]: value["value"] for value in job["values"]} == {
        name: pytest.approx(mean, abs=most) for name, (mean, most) in truth.items()
    }
    own = holder.ok("siesta", "run", data, pipeline, holder.folder / "rés ultats", "--json").json
    assert (own["participant_runs"], own["group_runs"], own["dropped_files"]) == (
        16,
        17,
        {"dataset_description.json": 16},
    )
    assert (holder.folder / "rés ultats" / "released" / RESULT).is_file()
