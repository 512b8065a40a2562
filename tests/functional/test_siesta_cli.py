"""`dpgate siesta` as a person types it: the page's script, the whole route on 60 people, and the refusals."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from terminal import Terminal
from warm_command import warm_command

from dpgate.cli.exit_codes import ExitCode

ROOT = Path(__file__).parents[2]
DATA = ROOT / "examples" / "heights" / "data"
APP = ROOT / "examples" / "mean-height" / "app.py"
RESULTS = "derivatives/group/results.tsv"
BOUNDS = f"file\tlower\tupper\n{RESULTS}\t16\t40\n{RESULTS}\t140\t210\n{RESULTS}\t35\t120\n"


def group_level(source: Path, target: Path) -> None:
    subprocess.run([sys.executable, "-I", "-S", APP, source, target, "group"], check=True)


@pytest.fixture
def holder(shell: Terminal) -> Terminal:
    (shell.folder / "whitelist.txt").write_text(f"# what may leave\n{RESULTS}\n")
    (shell.folder / "bounds.tsv").write_text(BOUNDS)
    return shell


def test_the_whole_route_on_sixty_people(holder: Terminal) -> None:
    folder = holder.folder
    people = [line.split("\t")[0] for line in (DATA / "participants.tsv").read_text().splitlines()[1:]]
    for person in people:
        holder.ok("siesta", "leaveoneout", DATA, f"loo/{person}", person)
        assert not list((folder / "loo" / person).rglob(f"*{person}*"))
        group_level(folder / "loo" / person, folder / "group" / person)
    group_level(DATA, folder / "all")

    samples = [f"group/{person}" for person in people]
    answer = holder.ok("siesta", "mergegroup", *samples, "merged", "whitelist.txt")
    assert "3 numbers of 60 results" in answer.out
    assert "secret" in answer.err
    assert (folder / "merged" / "group-merged.tsv").stat().st_mode & 0o777 == 0o600
    holder.ok("siesta", "mergegroup", "all", "merged-all", "whitelist.txt")

    arguments = ("merged/group-merged.tsv", "noise.tsv", "--whole", "merged-all/group-merged.tsv")
    noise = holder.ok("siesta", "calibratenoise", *arguments, "--bounds", "bounds.tsv", "--json").json
    assert noise["guarantee"] == "empirical"
    # heights: one of 58 was typed as 1.65, so the mean moves by 2.84; three numbers share: 8.51, then 16
    assert noise["scales"] == {f"{RESULTS}:1:1": "1/2", f"{RESULTS}:1:2": "16", f"{RESULTS}:1:3": "8"}

    truth = [float(cell) for cell in (folder / "all" / RESULTS).read_text().split()]
    releases = []
    for name in ("one", "two"):
        answer = holder.ok("siesta", "addnoise", "all", name, "whitelist.txt", "noise.tsv")
        assert "EMPIRICAL" in answer.out
        assert "read them before you give OUT away" in answer.err
        assert [
            p.relative_to(folder / name).as_posix() for p in (folder / name).rglob("*") if p.is_file()
        ] == [RESULTS]
        releases.append((folder / name / RESULTS).read_text())
        assert re.fullmatch(r"-?[\d.]+\t-?[\d.]+\t-?[\d.]+\n", releases[-1])
        assert [float(cell) for cell in releases[-1].split()] != truth
    assert releases[0] != releases[1]


def test_all_single_subjects_are_the_data_set_again(holder: Terminal) -> None:
    folder = holder.folder
    for number in range(1, 61):
        holder.ok("siesta", "singlesubject", DATA, f"single/{number:02d}", number)
    singles = [f"single/{number:02d}" for number in range(1, 61)]
    done = holder.ok("siesta", "mergesubjects", *singles, "again", "--json").json
    assert done["tables"] == ["participants.tsv"]

    def tree(root: Path) -> dict[str, bytes]:
        return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}

    assert tree(folder / "again") == tree(DATA)


def test_the_page_is_a_script_that_runs(holder: Terminal) -> None:
    """With 20 people instead of 60."""
    folder = holder.folder
    data = shutil.copytree(DATA, folder / "examples" / "heights" / "data")
    lines = (data / "participants.tsv").read_bytes().splitlines(keepends=True)
    (data / "participants.tsv").write_bytes(b"".join(lines[:21]))
    for number in range(21, 61):
        shutil.rmtree(data / f"sub-{number}")
    shutil.copytree(APP.parent, folder / "examples" / "mean-height")
    page = (ROOT / "docs" / "how-to" / "siesta-tools.md").read_text()
    script = "\n".join(re.findall(r'^```bash title="run"\n(.*?)^```$', page, re.MULTILINE | re.DOTALL))
    with warm_command(folder) as command:  # the script calls it some sixty times
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=folder,
            env=holder.environment | {"PATH": f"{command.parent}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len((folder / "released" / RESULTS).read_text().split("\t")) == 3
    assert "EMPIRICAL" in done.stdout
    assert "would be deleted" in done.stdout
    assert {"loo", "group", "merged"}.isdisjoint(path.name for path in folder.iterdir())


def test_help_says_what_they_are(holder: Terminal) -> None:
    text = " ".join(holder.ok("siesta", "--help").out.split())
    assert "EMPIRICAL" in text
    assert "It is not differential privacy" in text


@pytest.mark.parametrize("participant", ["0", "99", "-1", "sub-99", "nobody"])
@pytest.mark.parametrize("tool", ["leaveoneout", "singlesubject"])
def test_a_wrong_participant_is_one_sentence_and_an_exit_code(
    holder: Terminal, tool: str, participant: str
) -> None:
    answer = holder("siesta", tool, DATA, "out", participant)
    assert answer.code == ExitCode.USAGE
    assert participant in answer.err
    assert "Traceback" not in answer.err
    assert not (holder.folder / "out").exists()


def test_bounds_are_never_guessed(holder: Terminal) -> None:
    table = holder.folder / "m.tsv"
    table.write_text("a.tsv:1:1\n" + "1\n" * 20)
    (holder.folder / "w.tsv").write_text("a.tsv:1:1\n1\n")
    base = ("siesta", "calibratenoise", "m.tsv", "n.tsv", "--whole", "w.tsv")
    assert "bounds are missing" in holder(*base).err
    assert "same thing" in holder(*base, "--bounds", "bounds.tsv", "--lower", 0).err
    assert not (holder.folder / "n.tsv").exists()
    shown = holder.ok(*base, "--lower=-8", "--upper", 8, "--noise-multiplier", 2).out
    assert "EMPIRICAL" in shown
    table.write_text("a.tsv:1:1\n" + "1\n" * 19)
    assert "from 20" in " ".join(
        holder(*base[:3], "n2.tsv", *base[4:], "--lower=0", "--upper", 8).err.split()
    )


@pytest.mark.parametrize("line", ["../secret.tsv", "/etc/x.txt", "results.xlsx", "a.gz"])
@pytest.mark.parametrize("tool", ["mergegroup", "addnoise", "cleanup"])
def test_a_bad_line_of_the_whitelist_stops_every_tool(holder: Terminal, tool: str, line: str) -> None:
    (holder.folder / "whitelist.txt").write_text(f"a.tsv\n{line}\n")
    (holder.folder / "secret.tsv").write_text("1\n")
    source = holder.folder / "in"
    source.mkdir()
    (source / "a.tsv").write_text("1\n")
    arguments = {
        "mergegroup": ("in", "out", "whitelist.txt"),
        "addnoise": ("in", "out", "whitelist.txt", "noise.tsv"),
        "cleanup": ("in", "whitelist.txt"),
    }[tool]
    answer = holder("siesta", tool, *arguments)
    assert answer.code == ExitCode.USAGE
    assert "whitelist.txt, line 2" in answer.err
    assert (holder.folder / "secret.tsv").read_text() == "1\n"
    assert (source / "a.tsv").read_text() == "1\n"


def test_cleanup_names_and_deletes(holder: Terminal) -> None:
    group_level(DATA, holder.folder / "all")
    named = holder.ok("siesta", "cleanup", "all", "whitelist.txt", "--dry-run")
    assert "derivatives/dataset_description.json" in named.out
    done = holder.ok("siesta", "cleanup", "all", "whitelist.txt", "--json").json
    assert done["deleted"] == ["derivatives/dataset_description.json"]
    assert "1 files" not in holder.ok("siesta", "cleanup", "all", "whitelist.txt").out


def test_every_answer_is_also_json(holder: Terminal) -> None:
    group_level(DATA, holder.folder / "all")
    done = holder.ok("siesta", "leaveoneout", DATA, "out", 1, "--json").json
    assert (done["participant"], done["rewritten"]) == ("sub-01", ["participants.tsv"])
    merged = holder.ok("siesta", "mergegroup", "all", "merged", "whitelist.txt", "--json").json
    assert "secret" in merged["warning"]
    table = (holder.folder / "merged" / "group-merged.tsv").read_text().splitlines()
    (holder.folder / "m.tsv").write_text("\n".join([table[0], *table[1:] * 20]) + "\n")
    arguments = ("m.tsv", "noise.tsv", "--whole", "merged/group-merged.tsv", "--bounds", "bounds.tsv")
    holder.ok("siesta", "calibratenoise", *arguments)
    noised = holder.ok(
        "siesta", "addnoise", "all", "o", "whitelist.txt", "noise.tsv", "--skeleton", "all", "--json"
    )
    assert noised.json["guarantee"] == "empirical"
    assert [value["name"] for value in noised.json["values"]] == [f"{RESULTS}:1:{i}" for i in (1, 2, 3)]


def test_a_whitelist_of_something_else_is_refused(holder: Terminal) -> None:
    (holder.folder / "whitelist.txt").write_bytes(b"\xff\xfe")
    (holder.folder / "in").mkdir()
    assert "not UTF-8" in holder("siesta", "cleanup", "in", "whitelist.txt").err
    assert holder("siesta", "cleanup", "in", "none.txt").code == ExitCode.USAGE
