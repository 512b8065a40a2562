"""An export of a German hospital, from its profile to a release: the numbers are those of the export."""

from __future__ import annotations

import csv
import random
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from terminal import Platform, pipeline_folder

PEOPLE, EPSILON = 200, 800
HEADER = ["patient_id", "Geschlecht", "Ort", "Gewicht", "CRP", "Aufnahme", "Entlassung", "Haus"]
BOUNDS: dict[str, tuple[Any, Any]] = {
    "Gewicht": (30, 200),
    "CRP": (0, 500),
    "Aufnahme": ("2024-01-01", "2024-12-31"),
    "Entlassung": ("2024-01-01", "2025-12-31"),
}
CODE = """\
import csv, sys
from datetime import date, datetime
rows = list(csv.DictReader(open(sys.argv[1] + "/patienten.csv", encoding="utf-8")))
kilos = [float(row["Gewicht"]) for row in rows]
hours = [datetime.strptime(row["Aufnahme"], "%Y-%m-%dT%H:%M:%S").hour for row in rows]
days = [date.fromisoformat(row["Entlassung"]).toordinal() - 739000 for row in rows]
munich = [row["Ort"] == "München" for row in rows]
assert {row["Haus"] for row in rows} == {"7"}
with open(sys.argv[2] + "/result.csv", "w") as file:
    file.write("kilos,hours,days,munich\\n")
    file.write(",".join(str(sum(cells) / len(cells)) for cells in (kilos, hours, days, munich)) + "\\n")
"""
LIMITS = {"kilos": (30, 200), "hours": (0, 24), "days": (0, 1000), "munich": (0, 1)}
WORDS = (
    "Delivered with semicolons between cells, encoding windows-1252, decimal commas, days as DD.MM.YYYY; "
    "written anew: 1.5, 2020-01-31, UTF-8, the usual separator."
)


@dataclass(frozen=True)
class Export:
    """The files as the hospital wrote them, and what is true of them."""

    data: Path
    kilos: float
    hours: float
    days: float
    munich: float
    heavy: int


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Export:
    draw, rows = random.Random(3), []
    kilos, hours, days, munich, heavy = [], [], [], [], 0
    for number in range(PEOPLE):
        begin = datetime(2024, 1, 1) + timedelta(minutes=draw.randrange(500_000))
        end = begin + timedelta(days=draw.randrange(1, 30))
        weight, place = round(draw.gauss(78, 14), 1), draw.choice(["München", "Köln", "Nürnberg"])
        crp = f"{draw.lognormvariate(1, 1):.2f}".replace(".", ",") if number % 9 else ""
        rows.append(
            [f"PAT-{number:04d}", draw.choice("mw"), place, f"{weight:.1f}".replace(".", ","), crp,
              f"{begin:%d.%m.%Y %H:%M}", f"{end:%d.%m.%Y}", "7"]
        )  # fmt: skip
        kilos.append(weight)
        hours.append(begin.hour)
        days.append(end.toordinal() - 739_000)
        munich.append(place == "München")
        heavy += weight >= 80.5 and place == "München"
    data = tmp_path_factory.mktemp("klinik") / "data"
    data.mkdir()
    with (data / "patienten.csv").open("w", encoding="cp1252", newline="") as file:
        csv.writer(file, delimiter=";", lineterminator="\r\n").writerows([HEADER, *rows])
    return Export(data, *(sum(cells) / PEOPLE for cells in (kilos, hours, days, munich)), heavy)


def answered(draft: Path) -> None:
    """What is left once every proposal is taken: what the rights holder knows."""
    content = yaml.safe_load(draft.read_text(encoding="utf-8"))
    for column in content["tables"][0]["columns"]:
        if column["name"] in BOUNDS:
            column["lower"], column["upper"] = BOUNDS[column["name"]]
            column |= {"basis": "instrument"}
            column.pop("bins", None)
            if "pii" in column:
                column["pii"]["decision"] = "keep"
        if column["name"] == "Ort":
            column["pii"]["decision"] = "keep"
    content |= {"name": "klinik", "title": "Eine Klinik", "nominal_size": PEOPLE, "budget_epsilon": 1000}
    content["policy"] = {
        "data_users": ["ada"],
        "images": ["host-python"],
        "accepted_channels": ["page_faults"],
        "max_epsilon_per_job": EPSILON,
        "timing": {"mode": "coarse", "step_seconds": 0.2},
    }
    draft.write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")


def test_a_german_export_from_its_profile_to_a_release(
    one_platform: Platform, export: Export, tmp_path: Path
) -> None:
    holder, ada, draft = one_platform.holder, one_platform.ada, tmp_path / "profile" / "dataset.yaml"
    holder.ok("twin", "profile", export.data, "--out", tmp_path / "profile")
    text = draft.read_text(encoding="utf-8")
    assert re.search(r"dialect: ASK  # proposed: .*windows-1252.*DD\.MM\.YYYY", text)
    assert WORDS in (tmp_path / "profile" / "report.html").read_text(encoding="utf-8")
    took = ["--accept-proposals", "--data", export.data, "--why", "As proposed."]
    assert "dialect: patienten.csv." in holder.ok("twin", "decide", draft, *took).out
    answered(draft)
    assert "fits its declaration" in holder.ok("dataset", "check", export.data, "-d", draft).out
    deliveries = one_platform.stack.home.deliveries
    added = holder.ok("dataset", "add", export.data, "-d", draft, "--deliveries", deliveries, "--json")
    assert added.json["state"] == "READY"

    assert f"patienten.csv: {WORDS}" in ada.ok("dictionary", "klinik").out
    ada.ok("twin", "klinik", "-o", "twin-klinik")
    twin = (ada.folder / "twin-klinik" / "patienten.csv").read_text(encoding="utf-8")
    assert twin.splitlines()[0] == ",".join(HEADER)
    values = [{"name": name, "lower": lower, "upper": upper} for name, (lower, upper) in LIMITS.items()]
    outputs = [{"file": "result.csv", "values": values}]
    folder = pipeline_folder(ada.folder / "klinik", CODE, outputs=outputs)
    ada.ok("run", folder, "--twin", "twin-klinik", "--block-size", PEOPLE // 5)
    ada.careful("submit", folder, "--epsilon", EPSILON, "--block-size", PEOPLE // 5, "--wait", "--anyway")
    job = ada.ok("status", "--json").json[0]
    assert job["state"] == "RELEASED"
    released = {each["name"]: each["value"] for each in ada.ok("result", job["id"], "--json").json["values"]}
    for name, (lower, upper) in LIMITS.items():
        assert released[name] == pytest.approx(getattr(export, name), abs=0.02 * (upper - lower))
    # at an epsilon that leaves no noise a count is exact: no cell was taken for another one
    query = (
        "{kind: count, where: [{column: Gewicht, operator: '>=', value: 80.5}, "
        "{column: Ort, operator: '=', value: München}]}"
    )
    asked = ["query", "submit", query, "--dataset", "klinik", "--epsilon", "60", "--wait", "--json"]
    (count,) = ada.ok(*asked).json["values"]
    assert count["value"] == export.heavy
