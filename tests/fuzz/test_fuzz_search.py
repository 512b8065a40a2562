"""The search itself: it finds what was planted; and, by hand, for as long as somebody wishes."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from branches import Branches
from mutating import mutated
from readers import CORPUS, READERS, Broken, Reader, kept_files
from search import Search, main, search
from seeds import seeds

from formats.delimited import read_rows

PLENTY = 20_000  # tries of a short search
SECONDS = float(os.environ.get("DPGATE_FUZZ_SECONDS", "600"))


def searched(read, folder: Path, *, is_native: bool = False) -> list[str]:
    """What a short search finds in a reader with a mistake."""
    reader = Reader("tsv", read, words=(b"planted",), is_native=is_native)
    made = Search(
        reader, [b"name\tmean\n1\t2\n"], corpus=folder, findings=folder / "found", chance=random.Random(1)
    )
    made.go_on(lambda: made.tally.findings or made.tally.tried > PLENTY)
    return made.tally.findings


def unexpected(content: bytes) -> str | None:
    if b"planted" in content:
        raise KeyError("mean")
    return None


def no_sentence(content: bytes) -> str | None:
    if len(content) > 20:
        raise Broken("no sentence")
    return "it is no table"


def fatal(content: bytes) -> str | None:
    if b"planted" in content:
        os._exit(3)  # as a crash would
    return None


@pytest.mark.parametrize(("read", "words"), [(unexpected, "KeyError: 'mean'"), (no_sentence, "no sentence")])
def test_a_planted_mistake_is_found_and_kept(read, words, tmp_path: Path) -> None:
    (found,) = searched(read, tmp_path)
    assert words in found
    report, content = sorted((tmp_path / "found").iterdir(), key=lambda path: path.suffix)[::-1]
    assert words in report.read_text()
    with pytest.raises((KeyError, Broken)):
        read(content.read_bytes())


def test_what_ends_the_process_is_found_too(tmp_path: Path) -> None:
    assert searched(fatal, tmp_path, is_native=True) == ["ended the process"]


def test_a_file_that_takes_a_new_branch_is_kept(tmp_path: Path) -> None:
    made = Search(
        READERS["rows.csv"], [b"a,b\n"], corpus=tmp_path, findings=tmp_path / "found", chance=random.Random(2)
    )
    before = made.tally.kept
    made.go_on(lambda: made.tally.kept > before or made.tally.tried > PLENTY)
    assert made.tally.kept > before
    assert len(list((tmp_path / "rows.csv").iterdir())) == made.tally.kept


def test_as_a_command_it_searches_and_minimises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first as another process would in this one: its imports take longer than it searches."""
    shutil.copytree(CORPUS / "rows.csv", tmp_path / "corpus" / "rows.csv")
    kept = kept_files("rows.csv")
    (tmp_path / "corpus" / "rows.csv" / "again").write_bytes(next(iter(kept.values())))
    places = ["--corpus", tmp_path / "corpus", "--findings", tmp_path / "found", "--readers", "rows.csv"]
    command = [str(word) for word in (Path(__file__).with_name("search.py"), *places)]
    monkeypatch.setattr(sys, "argv", [*command, "--seconds", "0.5"])
    main()
    assert "0 findings" in capsys.readouterr().out
    minimised = subprocess.run(
        [sys.executable, *command, "--minimise"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert int(minimised[1]) > int(minimised[3]) > 0
    assert len(kept_files("rows.csv", tmp_path / "corpus")) == int(minimised[3])


def test_branches_are_those_of_the_readers_alone() -> None:
    watch = Branches()
    found, table = watch.of(lambda: read_rows("t.csv", b'a,"b"\n'))
    assert table.header.cells == ("a", "b")
    assert {place for place, _, _ in found} == {"formats/delimited.py"}
    assert watch.new_of(found)
    assert not watch.new_of(watch.of(lambda: read_rows("t.csv", b'a,"b"\n'))[0])


def test_mutants_differ_also_inside_of_what_is_packed() -> None:
    chance = random.Random(3)
    for name, first in seeds().items():
        for content in first:
            mutants = {mutated(content, chance, (b"word",), first) for _ in range(40)}
            assert len(mutants) > 20, name
    (volume, *_) = seeds()["nii.gz"]
    read = [READERS["nii.gz"].read(mutated(volume, chance, (b"word",), [volume])) for _ in range(200)]
    # of changes to the packed bytes alone hardly any would unpack
    assert sum(sentence is None or "gzip" not in sentence for sentence in read) > 40


@pytest.mark.deep(
    "as long a search as somebody wishes; the corpus that such searches have left is read by every run"
)
@pytest.mark.timeout(0)
def test_a_long_search_finds_nothing(tmp_path: Path) -> None:
    """DPGATE_FUZZ_SECONDS, or ten minutes. What is worth keeping: see README.md beside this file."""
    shutil.copytree(CORPUS, tmp_path / "corpus")
    found = search(
        seconds=SECONDS,
        corpus=tmp_path / "corpus",
        findings=tmp_path / "found",
        seed=random.SystemRandom().randrange(2**32),
        names=list(READERS),
    )
    assert not {name: tally.findings for name, tally in found.items() if tally.findings}
