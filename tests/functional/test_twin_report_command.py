"""`dpgate twin report` as a rights holder types it, with a pipeline of the examples on both tables."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from terminal import EXAMPLES, Terminal

from dpgate.cli.declaration import load_declaration
from dpgate.cli.exit_codes import ExitCode
from twins.drawn import make_twin

HEIGHTS = EXAMPLES / "heights"
DECLARATION = HEIGHTS / "dataset.yaml"


@pytest.fixture
def holder(shell: Terminal) -> Terminal:
    """A folder with the blank form of the heights."""
    declaration = load_declaration(DECLARATION, HEIGHTS / "data")
    for path, content in make_twin(declaration).items():
        place = shell.folder / "twin" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return shell


def ask(twin: object, *more: object) -> tuple[object, ...]:
    original = HEIGHTS / "data"
    return (
        "twin", "report", "--original", original, "--twin", twin, "-d", DECLARATION, "--out", "report",
        "--tries", 40, *more,
    )  # fmt: skip


def test_both_pages_and_the_pipeline_on_both(holder: Terminal) -> None:
    before = sorted(path.name for path in (HEIGHTS / "data").iterdir())
    answer = holder.ok(*ask("twin", "--pipeline", EXAMPLES / "mean-height"))
    assert "equal byte for byte" in " ".join(answer.out.split())
    assert "do not pass it on" in answer.err
    private, public = (holder.folder / "report" / name for name in ("report.html", "public.html"))
    assert private.stat().st_mode & 0o777 == 0o600
    page = private.read_text()
    # the mean of the original's ages, and that of the twin, stand side by side for the rights holder alone
    assert "mean_height" in page
    assert "163.4" in page
    assert "mean_height" not in public.read_text()
    assert "163.4" not in public.read_text()
    # nothing that a run wrote stays beside the original
    assert sorted(path.name for path in (HEIGHTS / "data").iterdir()) == before


def test_a_pipeline_that_fails_on_the_original_is_not_quoted(holder: Terminal, tmp_path: Path) -> None:
    pipeline = tmp_path / "curious"
    shutil.copytree(EXAMPLES / "mean-height", pipeline)
    # twins call their people sub-twin..: on others it stops, with cells in its words
    curious = """\
import sys
rows = open(sys.argv[1] + "/participants.tsv").read()
if "twin" not in rows:
    raise SystemExit(rows)
"""
    (pipeline / "app.py").write_text(curious + (pipeline / "app.py").read_text())
    answer = holder.ok(*ask("twin", "--pipeline", pipeline))
    page = (holder.folder / "report" / "report.html").read_text()
    assert "fails on the original. What it said there is not shown." in page
    assert "sub-01" not in page + answer.out + answer.err


def test_the_original_as_its_own_twin(holder: Terminal) -> None:
    answer = holder.ok(*ask(HEIGHTS / "data", "--json")).json
    (table,) = answer["tables"]
    assert table["shows_people"]
    assert answer["made_again"] is False
    assert table["tv1"] == table["tv2"] == 0


def test_refusals(holder: Terminal) -> None:
    answer = holder(*ask("nowhere"))
    assert answer.code != ExitCode.OK
    assert "there is no folder nowhere" in answer.err
    assert "no table has a column iq" in " ".join(holder(*ask("twin", "--learn", "iq")).err.split())
    assert "--epsilon" in holder(*ask("twin", "--epsilon", "much")).err
