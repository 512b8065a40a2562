"""BIDScramble by its program: a stand-in does what the real one was seen to do, and get wrong."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from test_scramble_run import TODAY, run, source

from companions.scramble.verify import verify
from dpgate.errors import DpgateError

__all__ = ["source"]

PROGRAM = """\
#!{python}
import os, pathlib, shutil, sys
if sys.argv[1] == "--help":
    print("stub tsv json nii fif brainvision swap pseudo")
    raise SystemExit
old, new, action = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
flaw = "{flaw}"
if flaw == "fails":
    raise SystemExit(open(old / "participants.tsv").read())
for path in sorted(old.rglob("*")):
    if not path.is_file():
        continue
    name = str(path.relative_to(old))
    if action == "pseudo" and flaw != "labels":
        name = name.replace("sub-", "sub-x")
    place = new / name
    place.parent.mkdir(parents=True, exist_ok=True)
    if action == "stub":
        # 1.0.2 copies what is at the top, though it is told not to
        shutil.copy(path, place) if path.parent == old else place.touch()
    elif flaw == "copies" and path.name == "README" and action == "tsv":
        shutil.copy(path, place)
    elif action == "tsv" and path.suffix == ".tsv":
        header, *rows = path.read_text().splitlines()
        columns = [list(column) for column in zip(*[row.split("\\t") for row in rows])]
        columns = [column[step + 1:] + column[:step + 1] for step, column in enumerate(columns)]
        place.write_text("\\n".join([header, *["\\t".join(row) for row in zip(*columns)]]) + "\\n")
    elif action == "pseudo":
        text = path.read_text()
        place.write_text(text if flaw == "labels" else text.replace("sub-", "sub-x"))
"""


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, *, flaw: str = "") -> None:
    folder.mkdir()
    program = folder / "scramble"
    program.write_text(PROGRAM.format(python=sys.executable, flaw=flaw))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


@pytest.mark.needs(process=True)
def test_its_folder_is_signed_for_as_any_other(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "bin", monkeypatch)
    found = run(source, tmp_path / "out", method="bidscramble")
    assert found.people == 20
    assert {one.path for one in found.tables} == {"participants.tsv"}
    assert "README" in found.empty
    assert (tmp_path / "out" / "participants.json").read_text() == "{}\n"
    assert verify(tmp_path / "out", today=TODAY).is_usable


@pytest.mark.needs(process=True)
@pytest.mark.parametrize(
    ("flaw", "words"),
    [
        ("copies", "copied README as it is"),
        ("labels", "left somebody's own name in"),
        ("fails", r"\(stub\) ended with code 1; run it by hand"),
    ],
)
def test_what_it_leaves_as_it_was_is_refused(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flaw: str, words: str
) -> None:
    install(tmp_path / "bin", monkeypatch, flaw=flaw)
    with pytest.raises(DpgateError, match=words) as refused:
        run(source, tmp_path / "out", method="bidscramble")
    assert "1.69" not in str(refused.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "data"]


def test_without_the_program_it_says_so(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    with pytest.raises(DpgateError, match="BIDScramble is not installed"):
        run(source, tmp_path / "out", method="bidscramble")


@pytest.mark.needs(process=True)
def test_a_column_that_identifies_people_is_refused_unless_it_is_kept(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "bin", monkeypatch)
    header, *rows = (source / "participants.tsv").read_text().splitlines()
    numbered = [f"{row}\t{100 + at}-45-{6700 + 7 * at}" for at, row in enumerate(rows)]
    (source / "participants.tsv").write_text("\n".join([f"{header}\tSSN", *numbered]) + "\n")
    with pytest.raises(
        DpgateError, match=r"left SSN in participants\.tsv, which identifies people, or may; take"
    ):
        run(source, tmp_path / "out", method="bidscramble")
    found = run(source, tmp_path / "kept", method="bidscramble", keep=("SSN",))
    (table,) = (one for one in found.tables if one.path == "participants.tsv")
    assert [(one.name, one.fate, one.reappear) for one in table.identifiers] == [("SSN", "kept", 20)]
