"""`dpgate run` with a pipeline of two levels: each person of the twin once, then groups of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from factories import column_fields, make_declaration, table_fields
from terminal import Terminal, pipeline_folder, terminal

from dpgate.asking import build_request
from dpgate.errors import Doubtful
from twins.drawn import make_twin

PEOPLE = 12
PERSON = {"path": "{person}/eeg/{person}_eeg.json", "twin_text": '{"Person": "{person}"}'}
APP = """\
import json, sys
from pathlib import Path
source, target, level = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
rows = [line.split("\\t") for line in (source / "participants.tsv").read_text().splitlines()[1:]]
if level == "participant":
    ((person, age),) = rows
    (own,) = source.glob("sub-*/eeg/*.json")
    assert json.loads(own.read_text())["Person"] == person
    (target / person).mkdir()
    (target / person / "age.txt").write_text(age)
else:
    people = sorted(folder.name for folder in target.glob("sub-*"))
    assert people == sorted(row[0] for row in rows)
    ages = [float((target / person / "age.txt").read_text()) for person in people]
    (target / "result.tsv").write_text("mean_age\\n%s\\n" % (sum(ages) / len(ages)))
"""


@pytest.fixture
def ada(tmp_path: Path) -> Terminal:
    """Somebody with a twin and a pipeline."""
    columns = [{"name": "participant_id", "kind": "person"}, column_fields(name="age")]
    declaration = make_declaration(
        layout="bids", nominal_size=PEOPLE, tables=[table_fields(columns=columns)], person_files=[PERSON]
    )
    for path, content in make_twin(declaration).items():
        (tmp_path / "twin" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "twin" / path).write_bytes(content)
    (tmp_path / "twin" / ".dpgate").mkdir()
    (tmp_path / "twin" / ".dpgate" / "dataset.json").write_text(declaration.model_dump_json())
    with_app(tmp_path, APP)
    return terminal(tmp_path, COLUMNS="200")


def with_app(folder: Path, code: str) -> None:
    shutil.rmtree(folder / "app", ignore_errors=True)
    values = [{"name": "mean_age", "lower": 0, "upper": 120}]
    outputs = [{"file": "result.tsv", "values": values}]
    pipeline_folder(folder / "app", code, levels=["participant", "group"], outputs=outputs)


def kept(ada: Terminal) -> dict[str, int]:
    """What is there for the next command, and what tells one that was written again."""
    folder = ada.folder / "twin" / ".dpgate" / "participants"
    return {path.name: path.stat().st_ino for path in folder.iterdir()}


def test_every_person_runs_once_and_groups_find_what_they_wrote(ada: Terminal) -> None:
    found = ada.ok("run", "app", "--block-size", 3, "--json").json
    rows = (ada.folder / "twin" / "participants.tsv").read_text().splitlines()[1:]
    ages = [float(row.split("\t")[1]) for row in rows]
    assert found["numbers"] == [pytest.approx(sum(ages) / len(ages))]
    (blocks,) = found["twin_runs"]
    assert len(blocks["outputs"]) == PEOPLE // 3
    first = kept(ada)
    assert len(first) == PEOPLE
    ada.ok("run", "app", "--block-size", 4)
    ada.ok("preview", "app", "--block-sizes", "3,4")
    assert kept(ada) == first


def test_changed_code_and_a_changed_person_run_again(ada: Terminal) -> None:
    ada.ok("run", "app", "--block-size", 3)
    first = kept(ada)
    own = ada.folder / "twin" / "sub-twin03" / "eeg" / "sub-twin03_eeg.json"
    own.write_text(json.dumps({"Person": "sub-twin03", "more": 1}))
    ada.ok("run", "app", "--block-size", 3)
    second = kept(ada)
    assert first.items() < second.items()
    assert len(second) == PEOPLE + 1
    with_app(ada.folder, APP + "# another\n")
    ada.ok("run", "app", "--block-size", 3)
    assert second.items() < kept(ada).items()
    assert len(kept(ada)) == 2 * PEOPLE + 1


def test_a_person_who_fails_is_named_with_the_words_of_the_run(ada: Terminal) -> None:
    with_app(
        ada.folder, APP.replace("    (own,)", "    assert person != 'sub-twin07', 'seven is odd'\n    (own,)")
    )
    failed = ada("run", "app", "--block-size", 3)
    shown = " ".join(failed.err.split())
    assert failed.code != 0
    assert "participant level of sub-twin07: a level ended with a non-zero exit code" in shown
    assert "seven is odd" in shown
    with_app(ada.folder, APP)
    ada.ok("run", "app", "--block-size", 3)


def test_files_that_no_group_run_gets_are_named(ada: Terminal) -> None:
    stray = (
        "    for name in 'abcde': (target / (name + '.html')).write_text('x')\n    (target / person).mkdir()"
    )
    with_app(ada.folder, APP.replace("    (target / person).mkdir()", stray))
    shown = " ".join(ada.ok("run", "app", "--block-size", 3).err.split())
    assert "they are no person's own: a.html, b.html, c.html and 2 more. Write below sub-XX/" in shown


def test_a_group_level_that_finds_nothing_and_writes_all_the_same_is_asked_back(ada: Terminal) -> None:
    nothing = APP.replace(
        '    (target / person).mkdir()\n    (target / person / "age.txt").write_text(age)\n', ""
    )
    blind = nothing.replace("    assert people == sorted(row[0] for row in rows)\n", "").replace(
        "(sum(ages) / len(ages))", "40"
    )
    with_app(ada.folder, blind)
    shown = " ".join(ada.ok("run", "app", "--block-size", 3).err.split())
    assert "All 4 blocks of the twin gave the same numbers" in shown
    with pytest.raises(Doubtful, match="what a participant level wrote before it"):
        build_request(ada.folder / "app", epsilon="4")
