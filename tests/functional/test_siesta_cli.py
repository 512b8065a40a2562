"""`dpgate siesta` as a person types it: the page's script, the whole route on 20 people, and the refusals."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from terminal import EXAMPLES, Terminal
from warm_command import warm_command

from dpgate.cli.exit_codes import ExitCode

DATA = EXAMPLES / "heights" / "data"
FEW = Path("examples", "heights", "data")
APP = EXAMPLES / "mean-height" / "app.py"
RESULTS = "derivatives/group/results.tsv"
BOUNDS = f"file\tlower\tupper\n{RESULTS}\t16\t40\n{RESULTS}\t140\t210\n{RESULTS}\t35\t120\n"


MANY_GROUPS = """\
import runpy, sys
app, *folders = sys.argv[1:]
for source, target in zip(folders[::2], folders[1::2]):
    sys.argv = [app, source, target, "group"]
    runpy.run_path(app, run_name="__main__")
"""


def group_levels(folder: Path, targets: Mapping[Path | str, str]) -> None:
    """The app's group level on each of these folders, one after the other in one process."""
    pairs = [str(one) for pair in targets.items() for one in pair]
    command = [sys.executable, "-I", "-S", "-c", MANY_GROUPS, APP, *pairs]
    subprocess.run(command, cwd=folder, check=True)


@pytest.fixture
def holder(shell: Terminal) -> Terminal:
    (shell.folder / "whitelist.txt").write_text(f"# what may leave\n{RESULTS}\n")
    (shell.folder / "bounds.tsv").write_text(BOUNDS)
    return shell


@pytest.fixture
def people(holder: Terminal) -> list[str]:
    """Twenty people of the data, the fewest that are taken, in `examples/heights/data`. The height of sub-45
    is 1.65 there."""
    kept = [f"sub-{number:02d}" for number in (*range(1, 20), 45)]
    data = holder.folder / FEW
    left = shutil.ignore_patterns(*(f"sub-{n:02d}" for n in range(1, 61) if f"sub-{n:02d}" not in kept))
    shutil.copytree(DATA, data, ignore=left)
    head, *rows = (DATA / "participants.tsv").read_bytes().splitlines(keepends=True)
    table = [head, *(row for row in rows if row.split(b"\t")[0].decode() in kept)]
    (data / "participants.tsv").write_bytes(b"".join(table))
    return kept


def test_the_whole_route_on_twenty_people(holder: Terminal, people: list[str]) -> None:
    folder = holder.folder
    for person in people:
        holder.ok("siesta", "leaveoneout", FEW, f"loo/{person}", person)
        assert not list((folder / "loo" / person).rglob(f"*{person}*"))
    group_levels(folder, {f"loo/{person}": f"group/{person}" for person in people} | {FEW: "all"})

    samples = [f"group/{person}" for person in people]
    answer = holder.ok("siesta", "mergegroup", *samples, "merged", "whitelist.txt")
    assert "3 numbers of 20 results" in answer.out
    assert "secret" in answer.err
    assert (folder / "merged" / "group-merged.tsv").stat().st_mode & 0o777 == 0o600
    holder.ok("siesta", "mergegroup", "all", "merged-all", "whitelist.txt")

    arguments = ("merged/group-merged.tsv", "noise.tsv", "--whole", "merged-all/group-merged.tsv")
    noise = holder.ok("siesta", "calibratenoise", *arguments, "--bounds", "bounds.tsv", "--json").json
    assert noise["guarantee"] == "empirical"
    # heights: one of 20 was typed as 1.65, so the mean moves by 8.6; three numbers share: 25.8, then 32
    assert noise["scales"] == {f"{RESULTS}:1:1": "2", f"{RESULTS}:1:2": "32", f"{RESULTS}:1:3": "8"}

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


def test_all_single_subjects_are_the_data_set_again(holder: Terminal, people: list[str]) -> None:
    folder = holder.folder
    singles = [f"single/{number:02d}" for number in range(1, len(people) + 1)]
    for number, single in enumerate(singles, start=1):
        holder.ok("siesta", "singlesubject", FEW, single, number)
    done = holder.ok("siesta", "mergesubjects", *singles, "again", "--json").json
    assert done["tables"] == ["participants.tsv"]

    def tree(root: Path) -> dict[str, bytes]:
        return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}

    assert tree(folder / "again") == tree(folder / FEW)


@pytest.mark.deep("the page itself is run by tests/docs, its tools one by one here")
@pytest.mark.usefixtures("people")
def test_the_page_is_a_script_that_runs(holder: Terminal) -> None:
    folder = holder.folder
    shutil.copytree(APP.parent, folder / "examples" / "mean-height")
    page = (EXAMPLES.parent / "docs" / "how-to" / "siesta-tools.md").read_text()
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


def test_a_wrong_participant_is_one_sentence_and_an_exit_code(
    holder: Terminal, subtests: pytest.Subtests
) -> None:
    for tool in ("leaveoneout", "singlesubject"):
        for participant in ("0", "99", "-1", "sub-99", "nobody"):
            with subtests.test(msg=f"{tool} {participant}"):
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
    table.write_text("a.tsv:1:1\n" + "1\n" * 9)
    assert "from 10" in " ".join(
        holder(*base[:3], "n2.tsv", *base[4:], "--lower=0", "--upper", 8).err.split()
    )


def test_a_bad_line_of_the_whitelist_stops_every_tool(holder: Terminal, subtests: pytest.Subtests) -> None:
    (holder.folder / "secret.tsv").write_text("1\n")
    source = holder.folder / "in"
    source.mkdir()
    (source / "a.tsv").write_text("1\n")
    tools = {
        "mergegroup": ("in", "out", "whitelist.txt"),
        "addnoise": ("in", "out", "whitelist.txt", "noise.tsv"),
        "cleanup": ("in", "whitelist.txt"),
    }
    for line in ("../secret.tsv", "/etc/x.txt", "results.xlsx", "a.gz"):
        (holder.folder / "whitelist.txt").write_text(f"a.tsv\n{line}\n")
        for tool, arguments in tools.items():
            with subtests.test(msg=f"{tool} {line}"):
                answer = holder("siesta", tool, *arguments)
                assert answer.code == ExitCode.USAGE
                assert "whitelist.txt, line 2" in answer.err
                assert (holder.folder / "secret.tsv").read_text() == "1\n"
                assert (source / "a.tsv").read_text() == "1\n"
                assert not (holder.folder / "out").exists()


def test_cleanup_names_and_deletes(holder: Terminal) -> None:
    group_levels(holder.folder, {DATA: "all"})
    named = holder.ok("siesta", "cleanup", "all", "whitelist.txt", "--dry-run")
    assert "derivatives/dataset_description.json" in named.out
    done = holder.ok("siesta", "cleanup", "all", "whitelist.txt", "--json").json
    assert done["deleted"] == ["derivatives/dataset_description.json"]
    assert "1 files" not in holder.ok("siesta", "cleanup", "all", "whitelist.txt").out


def test_every_answer_is_also_json(holder: Terminal) -> None:
    group_levels(holder.folder, {DATA: "all"})
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
