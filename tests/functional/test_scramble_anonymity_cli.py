"""`dpgate twin scramble` and `dpgate anonymity` as a rights holder types them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from terminal import EXAMPLES, Terminal

from dpgate.cli.exit_codes import ExitCode

HEIGHTS = EXAMPLES / "heights" / "data"
LAST_DAY = (datetime.now(UTC).date() + timedelta(days=300)).isoformat()
SIGNED = ("--signed-by", "A. Holder", "--agreement", "DTA 12", "--expires", LAST_DAY)
PLAN = """\
quasi:
  - {name: age, ladder: {kind: intervals, widths: [10, 20]}}
  - {name: zip, ladder: {kind: prefix, keep: [3, 1]}}
sensitive: [{name: ill}]
drop: [name]
goal: {k: 2, l: 2}
"""
TABLE = """\
name,age,zip,ill
Ada,23,12345,flu
Bob,27,12399,cold
Cyd,41,54321,flu
Dan,49,54322,cold
"""


@pytest.fixture
def holder(shell: Terminal) -> Terminal:
    (shell.folder / "table.csv").write_text(TABLE)
    (shell.folder / "plan.yaml").write_text(PLAN)
    return shell


def test_scramble_and_verify(holder: Terminal) -> None:
    answer = holder.ok("twin", "scramble", HEIGHTS, "-o", "out", *SIGNED)
    assert "NOT anonymous" in answer.out
    assert "For you alone" in answer.err
    assert holder.ok("twin", "scramble", "verify", "out").out.count(LAST_DAY) == 1
    said = holder.ok("twin", "scramble", "make", HEIGHTS, "-o", "again", "--json", *SIGNED).json
    assert said["guarantee"] == "none"
    record = holder.folder / "out" / "scramble.json"
    content = json.loads(record.read_text())
    content["agreement"]["expires"] = "2020-01-01"
    record.write_text(json.dumps(content))
    late = holder("twin", "scramble", "verify", "out", "--json")
    assert (late.code, late.json["expired"]) == (ExitCode.BROKEN_CHAIN, True)


def test_a_last_day_far_away_is_refused(holder: Terminal) -> None:
    answer = holder("twin", "scramble", HEIGHTS, "-o", "out", *SIGNED[:4], "--expires", "2100-01-01")
    assert (answer.code, "is more than 366 days away" in " ".join(answer.err.split())) == (2, True)
    assert not (holder.folder / "out").exists()


def test_what_identifies_people_is_left_out_and_told(holder: Terminal) -> None:
    said = holder.ok("twin", "scramble", "table.csv", "-o", "out", *SIGNED).out
    assert "table.csv: name identifies people (PERSON) and was left out." in " ".join(said.split())
    assert (holder.folder / "out" / "table.csv").read_text().startswith("age,zip,ill\n")
    kept = holder("twin", "scramble", "table.csv", "-o", "kept", "--keep", "nobody", *SIGNED)
    assert "--keep: no table has a column 'nobody'" in " ".join(kept.err.split())


def test_without_a_signature_nothing_is_written(holder: Terminal) -> None:
    before = sorted(holder.folder.iterdir())
    for given in (
        (),
        SIGNED[:4],
        (*SIGNED[:4], "--expires", "2020-01-01"),
        ("--signed-by", " ", *SIGNED[2:]),
    ):
        answer = holder("twin", "scramble", HEIGHTS, "-o", "out", *given)
        assert answer.code == ExitCode.USAGE
    assert sorted(holder.folder.iterdir()) == before


def test_check_and_generalise(holder: Terminal) -> None:
    quasi = ("--quasi", "age", "--quasi", "zip", "--sensitive", "ill")
    answer = holder("anonymity", "check", "table.csv", *quasi, "-k", 2)
    assert answer.code == ExitCode.BROKEN_CHAIN
    assert "Weaker than the guarantees" in answer.out
    said = holder.ok(
        "anonymity", "generalise", "table.csv", "--plan", "plan.yaml", "-o", "out", "--json"
    ).json
    assert (said["before"]["k"], said["after"]["k"], said["is_best"]) == (1, 2, True)
    release = holder.folder / "out"
    assert (release / "table.csv").read_text() == (
        'age,zip,ill\n"[20, 30)",123**,cold\n"[20, 30)",123**,flu\n'
        '"[40, 50)",543**,cold\n"[40, 50)",543**,flu\n'
    )
    # what the original has is shown to its owner alone
    assert "before" not in json.loads((release / "anonymity.json").read_text())
    assert "does not compose" in (release / "WEAKER-THAN-THE-GUARANTEES.md").read_text()
    reached = holder.ok("anonymity", "check", release / "table.csv", *quasi, "-k", 2, "-l", 2, "--json").json
    assert reached["reached"]
    assert "no bound against other knowledge" in reached["note"]


WRONG = (
    (("check", "table.csv", "--quasi", "town"), "names a column 'town'"),
    (("check", "table.csv", "--quasi", "age", "-l", 2), "name one with --sensitive"),
    (("check", "table.csv", "--quasi", "age", "--sensitive", "ill=far"), "--sensitive"),
    (("check", "table.csv", "--quasi", "age", "--sensitive", "ill=ordered"), "is no number in row 1"),
    (("check", "plan.yaml", "--quasi", "age"), "is no table"),
    (("check", "absent.csv", "--quasi", "age"), "absent.csv"),
    (("generalise", "table.csv", "--plan", "table.csv", "-o", "out"), "plan"),
    (("generalise", "table.csv", "--plan", "plan.yaml", "-o", "."), "lie in each other"),
)


def test_a_table_with_other_marks_is_refused(holder: Terminal) -> None:
    (holder.folder / "marks.csv").write_text("age;zip\n31;1000\n32;1000\n")
    answer = holder("anonymity", "check", "marks.csv", "--quasi", "age;zip", "-k", "1")
    assert answer.code == ExitCode.USAGE
    told = "marks.csv has ';' between the names of its columns where commas belong"
    assert told in " ".join(answer.err.split())


def test_what_cannot_be_done_says_why(holder: Terminal, subtests: pytest.Subtests) -> None:
    for given, words in WRONG:
        with subtests.test(msg=" ".join(map(str, given))):
            answer = holder("anonymity", *given)
            assert answer.code == ExitCode.USAGE
            assert words in " ".join(answer.err.split())
            assert "Ada" not in answer.out + answer.err
