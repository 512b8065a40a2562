"""`dpgate twin profile` and `dpgate twin decide`, from tables to a declaration that registers."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from lent_data import lent
from waiting import wait_until

from domain.dataset import Declaration
from domain.errors import InvalidRequest
from domain.model import parse
from dpgate.cli.app import run
from dpgate.cli.declaration import load_declaration
from dpgate.pipeline_folder import load_yaml
from dpgate.profile.places import find_tables, read_dictionary
from twins.profile.draft import open_questions

PATIENTS = "Id,NAME,EMAIL,AGE,STEPS,SEX\n" + "".join(
    f"pat-{n:03d},Person Number{n},someone{n}@example.net,{20 + n % 50},"
    f"{(n * 37) ** 2 % 9001},{'fm'[n % 2]}\n"
    for n in range(60)
)
VISITS = "Id,PATIENT,SCORE\n" + "".join(f"v{n:04d},pat-{n % 60:03d},{n % 21}.5\n" for n in range(240))
CODES = "code,label\n1,one\n2,two\n"


HERE = "--without-sandbox"  # quicker, and the same: see the last test
IN_SANDBOX = pytest.mark.needs(backend="bubblewrap")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return study(tmp_path / "study")


def study(data: Path) -> Path:
    data.mkdir()
    (data / "patients.csv").write_text(PATIENTS)
    (data / "visits.csv").write_text(VISITS)
    (data / "codes.csv").write_text(CODES)
    return data


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of one profile. To be read; a draft that is changed is copied first."""
    place = tmp_path_factory.mktemp("profiled")
    data = study(place / "study")
    assert run(["twin", "profile", str(data), "-o", str(place / "out"), HERE, "--json"]) == 0
    return place / "out"


@pytest.fixture
def draft(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made / "dataset.yaml", tmp_path))


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    capsys.readouterr()
    assert run([*arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_a_study_becomes_a_report_a_profile_and_a_draft(made: Path) -> None:
    draft = load_yaml(made / "dataset.yaml")
    assert draft["privacy_unit"] == {"name": "participant", "table": "patients.csv", "column": "Id"}
    assert [table["path"] for table in draft["tables"]] == ["patients.csv", "visits.csv"]
    visits = {column["name"]: column["kind"] for column in draft["tables"][1]["columns"]}
    assert visits["PATIENT"] == "person"  # not Id, which is unique, but of visits
    assert draft["tables"][1]["rows_per_person"] == "many"
    assert draft["profile"]["id"] == json.loads((made / "profile.json").read_bytes())["id"]
    assert draft["profile"]["id"] in (made / "report.html").read_text()
    assert {"table": "patients.csv", "column": "EMAIL"} in draft["profile"]["flagged"]
    assert "codes.csv: no column of people" in (made / "dataset.yaml").read_text()
    for file in ("report.html", "profile.json", "dataset.yaml"):
        assert stat.S_IMODE((made / file).stat().st_mode) == 0o600


def test_no_bound_category_or_size_of_the_data_is_in_the_draft(made: Path) -> None:
    content = load_yaml(made / "dataset.yaml")
    asked = {question.place.rsplit(".", 1)[-1] for question in open_questions(content)}
    assert {
        "lower",
        "upper",
        "categories",
        "nominal_size",
        "typical_rows",
        "most_rows",
        "decision",
        "why",
        "title",
    } <= asked
    # but for the id, which is random, and the ends of a public scale
    text = (made / "dataset.yaml").read_text().replace(content["profile"]["id"], "")
    for seen in ("69", "8951", "example.net", "pat-0", "Number1", "60", "240"):
        assert seen not in text.replace("18 to 100", "")


def test_the_report_has_the_six_steps_and_escapes_what_it_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = "<script>alert(1)</script>"
    (tmp_path / "t.csv").write_text(f"id,{evil},skewed\n" + "".join(
        f"p{n},{evil}{n % 3},{2 ** (n % 12)}\n" for n in range(100)
    ))  # fmt: skip
    said(capsys, "twin", "profile", str(tmp_path / "t.csv"), "-o", str(tmp_path.parent / "out-escaped"), HERE)
    page = (tmp_path.parent / "out-escaped" / "report.html").read_text()
    steps = "1 Columns to drop/2 Categorical encoding/3 Binning/4 Power transform/5 Generation/6 Evaluation"
    for step in steps.split("/"):
        assert f">{step}</h2>" in page
    assert "For the rights holder only" in page
    assert "&lt;script&gt;" in page
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")


def test_draft_to_registration_by_decisions_and_answers(
    draft: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    comments = [line for line in draft.read_text().splitlines() if line.lstrip().startswith("#")]
    with pytest.raises(InvalidRequest, match="not answered yet"):
        load_declaration(draft, folder)
    for column, decision in (("NAME", "drop"), ("EMAIL", "mask"), ("AGE", "generalise"), ("SEX", "keep")):
        said(capsys, "twin", "decide", str(draft), "--column", column, "--decision", decision,
             "--why", "agreed with the board", "--by", "dana")  # fmt: skip
    for table in ("patients.csv", "visits.csv"):
        column = {"patients.csv": "Id", "visits.csv": "PATIENT"}[table]
        said(capsys, "twin", "decide", str(draft), "--table", table, "--column", column, "--decision",
             "pseudonymise", "--why", "w", "--by", "dana", "--class", "direct")  # fmt: skip
    left = [line for line in draft.read_text().splitlines() if line.lstrip().startswith("#")]
    assert set(left) <= set(comments)
    content = load_yaml(draft)
    patients = content["tables"][0]
    assert patients["dropped"][0]["name"] == "NAME"
    kept = {column["name"]: column for column in patients["columns"]}
    assert kept["EMAIL"]["kind"] == "text"
    assert kept["AGE"]["bins"] == "ASK"
    answered = _answered(content)
    declared = parse(Declaration, answered)
    assert declared.tables[0].dropped[0].why == "agreed with the board"
    undecided = json.loads(json.dumps(answered))
    del undecided["tables"][0]["dropped"]
    with pytest.raises(InvalidRequest, match=r"column NAME of patients\.csv may identify people"):
        parse(Declaration, undecided)


def _answered(content: dict[str, Any]) -> dict[str, Any]:
    """What a rights holder would type."""
    answers = {"title": "A study", "nominal_size": 60, "typical_rows": 4, "most_rows": 50, "lower": 0,
               "upper": 10_000, "categories": ["f", "m", "Id"], "basis": "dictionary", "budget_epsilon": 5,
               "bins": 10, "decision": "keep", "by": "dana", "why": "agreed"}  # fmt: skip
    for name, value in content.items():
        if value == "ASK":
            content[name] = answers[name]
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, dict):
                _answered(each)
    return content


def test_a_profile_goes_on_where_it_ended(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    to = tmp_path / "a"
    first = said(capsys, "twin", "profile", str(folder), "-o", str(to), HERE)
    found = _profile(to)
    (to / "dataset.yaml").unlink()
    parts = sorted((to / "parts").iterdir())
    kept = {part: part.stat().st_ino for part in parts[1:]}
    parts[0].write_bytes(parts[0].read_bytes()[:100])  # cut off, as by a full disk
    again = said(capsys, "twin", "profile", str(folder), "-o", str(to), HERE)
    assert again["id"] != first["id"]  # random: equal data do not give an equal one
    assert _profile(to) == found
    assert {part: part.stat().st_ino for part in kept} == kept
    (to / "dataset.yaml").unlink()
    (folder / "codes.csv").write_text(CODES + "3,three\n")  # another file: made anew
    said(capsys, "twin", "profile", str(folder), "-o", str(to), HERE)
    assert _profile(to) != found
    assert len(list((to / "parts").iterdir())) == 4


def _profile(folder: Path) -> dict[str, Any]:
    """What was found, without the name that it goes by."""
    return {**json.loads((folder / "profile.json").read_bytes()), "id": None}


@IN_SANDBOX
def test_a_profile_that_was_killed_goes_on_and_leaves_no_reader_behind(tmp_path: Path) -> None:
    folder, to = tmp_path / "study", tmp_path / "out"
    large = f"z-{uuid4()}.csv"  # no other process of this host has such a word on its command line
    folder.mkdir()
    (folder / "patients.csv").write_text(PATIENTS)
    (folder / large).write_text("id,large\n" + "".join(f"i{n},{n}\n" for n in range(200_000)))
    command = [sys.executable, "-m", "dpgate", "twin", "profile", str(folder), "-o", str(to)]
    said = tmp_path / "said"
    with said.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        readers = wait_until(
            lambda: len(list(to.glob("parts/*.json"))) == 1 and readers_of(large, started=True),
            unless=lambda: process.poll() is not None and said.read_text(),
            said="a second reader",
        )
        for reader in readers:
            os.kill(reader, signal.SIGSTOP)  # it cannot come to its end by itself
    finally:
        process.kill()
        process.wait()
    try:
        wait_until(lambda: not readers_of(large), said="the end of all readers")
    finally:
        for reader in readers_of(large):
            os.kill(reader, signal.SIGKILL)
    kept = {part.name: part.stat().st_ino for part in to.glob("parts/*.json")}
    assert not (to / "profile.json").exists()
    (folder / large).write_text("id,large\ni1,1\n")
    assert run(["twin", "profile", str(folder), "-o", str(to), "--json"]) == 0
    after = {part.name: part.stat().st_ino for part in to.glob("parts/*.json")}
    assert kept.items() <= after.items()
    assert len(after) == 2


def readers_of(name: str, *, started: bool = False) -> list[int]:
    """Processes that read a table of this name in a sandbox; and those that set it up, unless `started`."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = place.read_bytes().split(b"\0")
            if started and any(word.endswith(b"bwrap") for word in words):
                continue
            if name.encode() in words and any(b"worker.profile.inside" in word for word in words):
                found.append(int(place.parent.name))
    return found


def test_nothing_is_overwritten_and_nothing_is_written_into_the_data(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = said(capsys, "twin", "profile", str(folder), "-o", str(folder / "out"), code=2)
    assert "lies inside the data" in answer["error"]
    draft = tmp_path / "dataset.yaml"
    draft.write_text("answers: many\n")
    answer = said(capsys, "twin", "profile", str(folder), "-o", str(tmp_path / "o"), "-d", str(draft), code=2)
    assert "is there already" in answer["error"]
    assert draft.read_text() == "answers: many\n"


def test_a_table_that_cannot_be_read_does_not_stop_the_others(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "ragged.csv").write_text("a,b\n1\n")
    (folder / "notes.xlsx").write_bytes(b"PK")
    answer = said(capsys, "twin", "profile", str(folder), "-o", str(tmp_path / "out"), HERE)
    assert answer["refused"] == {"ragged.csv": "line 2, has 1 cells, the header 2"}
    page = (tmp_path / "out" / "report.html").read_text()
    assert "has 1 cells" in page
    assert "notes.xlsx" in page
    assert "ragged.csv: not read" in (tmp_path / "out" / "dataset.yaml").read_text()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--column", "nobody", "--decision", "drop"), "no column 'nobody' is declared"),
        (("--column", "Id", "--decision", "drop", "--table", "patients.csv"), "names the people"),
        (("--column", "Id", "--decision", "keep"), "is in 2 tables"),
        (("--column", "Id"), "name --column and --decision, or --accept-proposals"),
        (("--column", "Id", "--accept-proposals"), "or --accept-proposals without a column"),
        (("--column", "AGE", "--decision", "keep", "--data", "."), "--data goes with the second"),
        (("--accept-proposals", "--data", str(Path(__file__).parent), HERE), "holds no table"),
    ],
)
def test_decisions_that_cannot_be_recorded(
    draft: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], sentence: str
) -> None:
    before = draft.read_text()
    answer = said(capsys, "twin", "decide", str(draft), *arguments, "--why", "w", code=2)
    assert sentence in answer["error"]
    assert draft.read_text() == before


def test_proposals_are_taken_with_a_look_at_the_data_that_leaves_no_values_behind(
    made: Path, draft: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in made.rglob("*") if path.is_file()}
    data = made.parent / "study"
    given = ("--accept-proposals", "--data", str(data), HERE, "--why", "As proposed.")
    answer = said(capsys, "twin", "decide", str(draft), *given)
    content = load_yaml(draft)
    columns = {column["name"]: column for column in content["tables"][0]["columns"]}
    assert columns["SEX"]["categories"] == ["f", "m"]
    assert (columns["AGE"]["lower"], columns["AGE"]["basis"]) == (18, "instrument")
    assert (content["tables"][1]["typical_rows"], content["tables"][1]["most_rows"]) == (4, 20)
    assert {question["place"] for question in answer["open"]} >= {"title", "nominal_size", "budget_epsilon"}
    assert {path: path.read_bytes() for path in made.rglob("*") if path.is_file()} == before


@IN_SANDBOX
def test_a_bids_tree_is_one_table_of_people_and_one_of_their_events(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Read in the sandbox: many files come into it through one descriptor."""
    root = tmp_path / "bids"
    for person in ("01", "02", "03"):
        place = root / f"sub-{person}" / "func"
        place.mkdir(parents=True)
        (place / f"sub-{person}_task-rest_run-1_events.tsv").write_text(
            "onset\ttrial_type\n0.5\tgo\n1.5\tstop\n"
        )
        (place / f"sub-{person}_task-rest_run-1_channels.tsv").write_text("name\tunits\nFp1\tuV\n")
    (root / "dataset_description.json").write_text('{"Name": "x", "BIDSVersion": "1.8.0"}')
    (root / "participants.tsv").write_text("participant_id\thand\nsub-01\tr\nsub-02\tl\nsub-03\tr\n")
    (root / "participants.json").write_text(
        '{"hand": {"Description": "Hand.", "Levels": {"r": "right", "l": "left"}}}'
    )
    found = find_tables(root)
    assert [source.name for source in found.sources] == ["participants.tsv", "sub-*_task-rest_events.tsv"]
    assert read_dictionary(found.sources[0])["hand"].levels == ("r", "l")
    said(capsys, "twin", "profile", str(root), "-o", str(tmp_path / "out"))
    document = json.loads((tmp_path / "out" / "profile.json").read_bytes())
    assert [table["found"]["rows"] for table in document["tables"]] == [3, 6]
    draft = load_yaml(tmp_path / "out" / "dataset.yaml")
    assert draft["layout"] == "bids"
    hand = draft["tables"][0]["columns"][1]
    assert (hand["categories"], hand["basis"]) == (["r", "l"], "dictionary")  # its codebook is public


def test_no_file_holds_values_of_columns_that_may_identify_people(made: Path) -> None:
    """Neither the profile, nor its parts, nor the report; nor names of people, flagged or not."""
    document = json.loads((made / "profile.json").read_bytes())
    (patients, *_) = (table["found"] for table in document["tables"] if table["name"] == "patients.csv")
    columns = {column["name"]: column for column in patients["columns"]}
    assert all(columns[name]["identifying"]["is_flagged"] for name in ("NAME", "EMAIL", "SEX"))
    assert columns["EMAIL"]["distinct"] == 60  # of which the values are not there
    files = [made / "report.html", made / "profile.json", *(made / "parts").iterdir()]
    for name in ("NAME", "EMAIL", "SEX"):
        assert columns[name]["frequent"] == []
    for file in files:
        text = file.read_text()
        for value in ("Number1", "example.net"):
            assert value not in text
    assert all("pat-0" not in file.read_text() for file in files[:2])


def test_a_column_of_numbers_that_name_people_shows_no_range(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text(
        "id,ssn,score\n" + "".join(f"p{n},{219099999 + n},{n % 7}.5\n" for n in range(90))
    )
    said(capsys, "twin", "profile", str(tmp_path / "t.csv"), "-o", str(tmp_path.parent / "out-numbers"), HERE)
    written = (tmp_path.parent / "out-numbers" / "profile.json").read_text()
    found = {c["name"]: c for c in json.loads(written)["tables"][0]["found"]["columns"]}
    assert found["ssn"]["identifying"]["classification"] == "direct"
    assert (found["ssn"]["numbers"], found["ssn"]["frequent"]) == (None, [])
    assert found["score"]["numbers"]["upper"] == 6.5
    for file in ("profile.json", "report.html", "dataset.yaml"):
        assert "21909" not in (tmp_path.parent / "out-numbers" / file).read_text().replace(",", "")


def test_profile_json_holds_no_digest_of_a_name(made: Path) -> None:
    document = json.loads((made / "profile.json").read_bytes())
    people = [each for table in document["tables"] for each in table["found"]["people"]]
    assert people
    assert all(each["hashes"] == [] for each in people)


def test_synthea_patients(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever drops the columns that name people leaves nearly everybody alone with the others."""
    patients = lent("synthea_apr2020") / "patients.csv"
    answer = said(capsys, "twin", "profile", str(patients), "-o", str(tmp_path / "out"), HERE)
    assert answer["refused"] == {}
    table = json.loads((tmp_path / "out" / "profile.json").read_bytes())["tables"][0]["found"]
    direct = {c["name"] for c in table["columns"] if c["identifying"]["classification"] == "direct"}
    assert {"Id", "BIRTHDATE", "SSN", "DRIVERS", "PASSPORT", "FIRST", "LAST", "MAIDEN", "ADDRESS", "LAT",
            "LON"} <= direct  # fmt: skip
    assert table["rows"] == 1171
    assert table["together"]["k"] == 1
    assert table["together"]["unique"] >= 1150
    assert {"determines": "CITY", "follows": "COUNTY", "exceptions": 0} in table["dependencies"]
    assert table["candidate_ids"] == ["Id"]


@IN_SANDBOX
def test_without_a_sandbox_it_finds_the_same_and_says_so(
    made: Path, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said(capsys, "twin", "profile", str(folder), "-o", str(tmp_path / "out"))
    assert "WITHOUT a sandbox" in (made / "report.html").read_text()
    assert "WITHOUT a sandbox" not in (tmp_path / "out" / "report.html").read_text()
    bare = json.loads((made / "profile.json").read_bytes())
    boxed = json.loads((tmp_path / "out" / "profile.json").read_bytes())
    assert (bare["sandboxed"], boxed["sandboxed"]) == (False, True)
    assert [table["refused"] for table in boxed["tables"]] == [table["refused"] for table in bare["tables"]]
    for with_one, without in zip(boxed["tables"], bare["tables"], strict=True):
        assert with_one == without
