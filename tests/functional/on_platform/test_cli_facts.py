"""Facts from the command line: dictionary, spending, bounds, citations, events; a delivery by itself."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import yaml
from terminal import EXAMPLES, Answer, Platform, Terminal, data_folder
from waiting import wait_until

import dpgate
from dpgate.cli import facts
from dpgate.cli.exit_codes import ExitCode
from dpgate.errors import RequestRefused

EXAMPLE = EXAMPLES / "heights"


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_dictionary_as_table_as_json_and_as_file(one_platform: Platform, tmp_path: Path) -> None:
    ada = one_platform.ada
    assert "age" in ada.ok("dictionary", "ages").out
    listed = ada.ok("dictionary", "ages", "--search", "AGE", "--json").json
    assert "age" in [column["column"] for column in listed["columns"]]
    assert ada.ok("dictionary", "ages", "--search", "nothing like it", "--json").json["columns"] == []
    ada.ok("dictionary", "ages", "--csv", tmp_path / "ages.csv")
    assert "age" in [row["column"] for row in table(tmp_path / "ages.csv")]
    assert ada("dictionary", "absent").code == ExitCode.NOT_FOUND


def test_the_draft_of_an_assessment_is_printed_for_its_rights_holder(one_platform: Platform) -> None:
    printed = one_platform.holder.ok("dataset", "dpia", "ages").out
    assert printed == one_platform.holder.ok("dataset", "dpia", "ages", "--json").json["text"]
    assert one_platform.ada("dataset", "dpia", "ages").code == ExitCode.NOT_ALLOWED


def test_the_dictionary_says_between_which_days_a_date_lies(one_platform: Platform, tmp_path: Path) -> None:
    data, declaration = data_folder(tmp_path, name="visited")
    (data / "people.csv").write_text(
        "person,age,seen\np01,30,2024-02-29\np02,41,2024-03-01\n", encoding="utf-8"
    )
    declared = yaml.safe_load(declaration.read_text(encoding="utf-8"))
    seen = {"name": "seen", "kind": "date", "lower": "2024-01-01", "upper": "2024-12-31"}
    declared["tables"][0]["columns"].append(seen)
    declaration.write_text(yaml.safe_dump(declared), encoding="utf-8")
    one_platform.holder.ok("dataset", "add", data, "-d", declaration, "--deliveries",
                           one_platform.stack.home.deliveries)  # fmt: skip
    ada = one_platform.ada
    printed = ada.ok("dictionary", "visited").out
    assert "2024-01-01 to 2024-12-31" in printed
    assert "0 to 100" in printed
    ada.ok("dictionary", "visited", "--csv", tmp_path / "visited.csv")
    (row,) = [row for row in table(tmp_path / "visited.csv") if row["column"] == "seen"]
    assert (row["lower"], row["upper"]) == ("2024-01-01", "2024-12-31")


def counted(ada: Terminal, epsilon: str) -> Answer:
    asked = ("query", "submit", "{kind: count}", "--dataset", "ages", "--epsilon", epsilon)
    return ada.ok(*asked, "--anyway", "--wait", "--json")


def test_from_a_question_to_its_citation(
    one_platform: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, holder = one_platform.ada, one_platform.holder
    asked = counted(ada, "0.5")
    job = asked.json["job_id"]
    assert "epsilon 0.5)" in ada.ok("cite", job).out.replace("\n", " ")
    assert ada.ok("cite", job, "--bibtex").out.startswith("@misc{ages-")
    spent = ada.ok("spending", "ages", "--json").json
    assert [entry["action"] for entry in spent["entries"] if entry["job"] == job] == ["charge", "reserve"]
    holder.ok("spending", "ages", "--user", "ada", "--csv", tmp_path / "spent.csv")
    assert {row["author"] for row in table(tmp_path / "spent.csv")} == {"ada"}
    monkeypatch.setattr(facts, "PART", 1)  # the command asks for part after part, and writes them all
    holder.ok("spending", "ages", "--user", "ada", "--csv", tmp_path / "parts.csv")
    assert (tmp_path / "parts.csv").read_text() == (tmp_path / "spent.csv").read_text()
    assert [row["action"] for row in table(tmp_path / "parts.csv") if row["job"] == job] == [
        "reserve",
        "charge",
    ]
    cap = spent["courses"][0]["cap"]
    assert f"of {cap} spent" in ada.ok("spending", "ages").out
    said = " ".join(ada.ok("attacker", "ages").out.split())
    assert "thinks it as likely as not" in said
    assert "Nobody decides on a release after seeing it" in said
    bounds = ada.ok("attacker", "ages", "--json").json["bounds"]
    assert {bound["people"] for bound in bounds} == {1, 2, 4}


def test_jobs_are_listed_part_by_part(one_platform: Platform) -> None:
    ada = one_platform.ada
    for epsilon in ("0.01", "0.02"):
        counted(ada, epsilon)
    first = ada.ok("status", "--dataset", "ages", "--state", "RELEASED", "--limit", "1", "--json").json
    second = ada.ok("status", "--dataset", "ages", "--before", first[0]["id"], "--limit", "1", "--json").json
    assert [len(first), len(second)] == [1, 1]
    assert first[0]["created_at"] > second[0]["created_at"]
    assert f"--before {first[0]['id']}" in ada.ok("status", "--dataset", "ages", "--limit", "1").out
    assert ada.ok("status", "--dataset", "nothing").out.strip().endswith("no such jobs")
    assert "not both" in ada("status", first[0]["id"], "--dataset", "ages").err
    login = ada.environment
    with dpgate.connect(url=login["DPGATE_URL"], token=login["DPGATE_TOKEN"]) as client:
        assert [job.id for job in client.jobs(dataset="ages", limit=1)] == [first[0]["id"]]
        assert client.jobs(state=["SUBMITTED"], dataset="ages") == []


def test_events_are_listed_for_those_whom_they_concern(one_platform: Platform, tmp_path: Path) -> None:
    holder = one_platform.holder
    holder.ok("audit", "list", "--action", "dataset.register", "--csv", tmp_path / "events.csv")
    assert {row["action"] for row in table(tmp_path / "events.csv")} == {"dataset.register"}
    assert one_platform.operator.ok("audit", "list", "--limit", "1", "--json").json[0]["number"] > 1
    assert one_platform.ada("audit", "list").code == ExitCode.NOT_ALLOWED
    assert holder("audit", "list", "--since", "yesterday").code == ExitCode.USAGE


def test_a_delivery_says_what_a_check_would_say(one_platform: Platform, tmp_path: Path) -> None:
    data, declaration = data_folder(tmp_path, name="lacking")
    (data / "people.csv").write_text("person,age\np01,30\np02,\n", encoding="utf-8")
    deliver = ["dataset", "deliver", data, "-d", declaration, "--deliveries"]
    told = one_platform.holder.ok(*deliver, one_platform.stack.home.deliveries).err
    assert "people.csv, age: 1 of 2 values are missing" in " ".join(told.split())


def test_a_delivery_is_registered_by_its_number(one_platform: Platform, tmp_path: Path) -> None:
    content = yaml.safe_load((EXAMPLE / "dataset.yaml").read_text(encoding="utf-8"))
    declared = tmp_path / "dataset.yaml"
    declared.write_text(yaml.safe_dump({**content, "name": "carried", "new_people": True}), encoding="utf-8")
    deliver = ["dataset", "deliver", EXAMPLE / "data", "-d", declared, "--deliveries",
               one_platform.stack.home.deliveries, "--json"]  # fmt: skip
    number = one_platform.holder.ok(*deliver).json["delivery"]
    assert number in [path.name for path in one_platform.stack.home.deliveries.iterdir()]
    text = yaml.safe_load(declared.read_text(encoding="utf-8"))
    for file in text["public_files"]:
        file["text"] = (EXAMPLE / "data" / file["path"]).read_text(encoding="utf-8")
    login = one_platform.holder.environment
    with dpgate.connect(url=login["DPGATE_URL"], token=login["DPGATE_TOKEN"]) as client:
        with pytest.raises(RequestRefused):
            client.register(text, delivery=number[:-1])
        assert client.register(text, delivery=number).state in ("IMPORTING", "READY")
        wait_until(lambda: client.dataset("carried").state == "READY")
