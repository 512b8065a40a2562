"""The data sets and pipelines that `jobs.py` measures."""

from __future__ import annotations

import csv
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from domain.dataset import Declaration
from domain.model import parse
from domain.pipeline import Source
from dpgate.cli.declaration import load_declaration

ROOT = Path(__file__).parent.parent
PEOPLE = 100_000
SCRIPT = """\
import csv, os, sys
source, target = sys.argv[1], sys.argv[2]
with open(source + "/people.csv", newline="") as file:
    rows = list(csv.DictReader(file))
def mean(name):
    values = [float(row[name]) for row in rows]
    return sum(values) / len(values)
with open(target + "/result.tsv", "w") as file:
    file.write("%r\\t%r\\n" % (mean("income"), mean("age")))
"""


@dataclass(frozen=True)
class Case:
    """One data set with its pipeline: on the platform and without it."""

    title: str
    request: dict[str, Any]
    blocks: int
    declaration: Declaration
    data: Path
    command: list[str]
    levels: tuple[str, ...]
    table: str
    person: str


def heights(*, step_s: float) -> Case:
    """60 people, 20 blocks: the example."""
    data, app = ROOT / "examples" / "heights" / "data", ROOT / "examples" / "mean-height" / "app.py"
    declared = load_declaration(data.parent / "dataset.yaml", data)
    fields = declared.model_dump(mode="json")
    fields["policy"]["timing"] = {"mode": "coarse", "step_seconds": step_s}
    fields["name"] = f"heights-{int(step_s * 1000)}"
    values = [
        {"name": "mean_age", "lower": 16, "upper": 40},
        {"name": "mean_height", "lower": 140, "upper": 210},
        {"name": "mean_weight", "lower": 35, "upper": 120},
    ]
    output = {"file": "derivatives/group/results.tsv", "values": values}
    shape = {"files": [{"file": output["file"], "rows": [[None, None, None]]}]}
    levels = ("group",)  # the participant level of this app has nothing to do
    request = _request(fields["name"], app.read_bytes(), output, shape, levels, block_size=3)
    declared = parse(Declaration, {**fields, "cohort": None, "new_people": True})
    command = [str(app)]
    return Case(
        "60 people, k=20", request, 20, declared, data, command, levels, "participants.tsv", "participant_id"
    )


def big_table(work: Path, *, people: int = PEOPLE, block_size: int = 100) -> Case:
    """A row of 5 columns for each person; 100,000 people in 1,000 blocks unless asked otherwise."""
    data = work / "people"
    data.mkdir()
    draw = random.Random(7)
    with (data / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "age", "income", "height", "region"])
        for number in range(people):
            person = [f"p{number}", draw.randrange(100), draw.randrange(90_000), draw.randrange(150, 200)]
            writer.writerow([*person, draw.choice("nesw")])
    number = {"kind": "integer", "lower": 0, "upper": 100_000}
    columns: list[dict[str, Any]] = [{"name": "id", "kind": "person"}]
    columns += [{"name": name, **number} for name in ("age", "income", "height")]
    columns += [{"name": "region", "kind": "categorical", "categories": list("nesw")}]
    declared = parse(
        Declaration,
        {
            "name": "people",
            "title": "Generated",
            "privacy_unit": {"table": "people.csv", "column": "id"},
            "nominal_size": people,
            "tables": [{"path": "people.csv", "columns": columns}],
            "budget_epsilon": "100",
            "policy": {
                "data_users": ["researcher"],
                "images": ["host-python"],
                "accepted_channels": ["page_faults"],
                "max_epsilon_per_job": "10",
                "timing": {"mode": "coarse", "step_seconds": 0.2},
            },
        },
    )
    values = [{"name": "income", "lower": 0, "upper": 90_000}, {"name": "age", "lower": 0, "upper": 100}]
    output = {"file": "result.tsv", "values": values}
    shape = {"files": [{"file": "result.tsv", "rows": [[None, None]]}]}
    script = work / "script.py"
    script.write_text(SCRIPT)
    request = _request("people", SCRIPT.encode(), output, shape, ("group",), block_size=block_size)
    blocks = people // block_size
    title = f"{people:,} rows, k={blocks:,}"
    return Case(title, request, blocks, declared, data, [str(script)], ("group",), "people.csv", "id")


def _request(
    dataset: str,
    app: bytes,
    output: dict[str, Any],
    shape: dict[str, Any],
    levels: tuple[str, ...],
    *,
    block_size: int,
) -> dict[str, Any]:
    manifest = {
        "name": "benchmark",
        "image": "host-python",
        "command": ["python3", "/pipeline/app.py"],
        "levels": list(levels),
        "outputs": [output],
        "resources": {"wall_seconds": 5, "memory_mib": 256},
    }
    pipeline = {"manifest": manifest, "sources": [Source.of("app.py", app).model_dump()]}
    return {
        "dataset": dataset,
        "pipeline": pipeline,
        "shape": shape,
        "mechanism": {"name": "sample_aggregate", "epsilon": "1", "block_size": block_size},
        "anyway": True,
    }
