"""`dpgate siesta` as a person types it: the workflow's loop on ten people, the page, and the refusals."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from terminal import EXAMPLES, Terminal
from warm_command import warm_command

from dpgate.cli.exit_codes import ExitCode

DATA = EXAMPLES / "heights" / "data"
FEW = Path("examples", "heights", "data")
APP = EXAMPLES / "mean-height" / "app.py"
BOTH_LEVELS = EXAMPLES / "bids-means-python" / "app.py"
RESULTS = "derivatives/group/results.tsv"
BOUNDS = f"file\tlower\tupper\n{RESULTS}\t16\t40\n{RESULTS}\t140\t210\n{RESULTS}\t35\t120\n"


MANY_GROUPS = """\
import runpy, sys
app, *folders = sys.argv[1:]
for source, target in zip(folders[::2], folders[1::2]):
    sys.argv = [app, source, target, "group"]
    runpy.run_path(app, run_name="__main__")
"""


def files_of(root: Path) -> dict[str, bytes]:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


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
    """Ten people of the data, the fewest that are taken, in `examples/heights/data`. The height of sub-45
    is 1.65 there."""
    kept = [f"sub-{number:02d}" for number in (*range(1, 10), 45)]
    data = holder.folder / FEW
    left = shutil.ignore_patterns(*(f"sub-{n:02d}" for n in range(1, 61) if f"sub-{n:02d}" not in kept))
    shutil.copytree(DATA, data, ignore=left)
    head, *rows = (DATA / "participants.tsv").read_bytes().splitlines(keepends=True)
    table = [head, *(row for row in rows if row.split(b"\t")[0].decode() in kept)]
    (data / "participants.tsv").write_bytes(b"".join(table))
    return kept


# SIESTA's loop in the places and order of its arguments, with the names of the commands exchanged
LOOP = f"""\
pipeline {FEW} output participant
pipeline {FEW} output group
each: singlesubject {FEW} singlesubject-$SUBJ-input $SUBJ
each: pipeline singlesubject-$SUBJ-input singlesubject-$SUBJ-output participant
mergesubjects $singlesubject-input singlesubject-merged-input
mergesubjects $singlesubject-output singlesubject-merged-output
each: leaveoneout {FEW} leaveoneout-$SUBJ-input $SUBJ
each: leaveoneout --copy singlesubject-merged-output leaveoneout-$SUBJ-output $SUBJ
each: pipeline leaveoneout-$SUBJ-input leaveoneout-$SUBJ-output group
each: cleanup --made-from {FEW} leaveoneout-$SUBJ-input
each: cleanup --made-from {FEW} leaveoneout-$SUBJ-output ./whitelist.txt
mergegroup $leaveoneout-output leaveoneout-merged-output ./whitelist.txt
mergegroup output output-merged ./whitelist.txt
calibratenoise --format wp15 --whole output-merged --bounds bounds.tsv leaveoneout-merged-output noise
addnoise --format wp15 output output-dp noise ./whitelist.txt
addnoise --format wp15 output output-again ./whitelist.txt noise/noise.tsv
"""


def steps(people: int) -> Iterator[list[str]]:
    """The loop, a command at a time; a word like `$singlesubject-input` is those of everybody."""
    numbers = [str(number) for number in range(1, people + 1)]
    for line in LOOP.splitlines():
        for one in numbers if line.startswith("each: ") else [""]:
            words = line.removeprefix("each: ").replace("$SUBJ", one).split()
            many = [
                [word] if word[0] != "$" else [word[1:].replace("-", f"-{n}-") for n in numbers]
                for word in words
            ]
            yield [word for group in many for word in group]


def test_the_loop_of_the_workflow_runs_with_the_names_exchanged(holder: Terminal, people: list[str]) -> None:
    folder, said = holder.folder, {}
    for tool, *rest in steps(len(people)):
        if tool == "pipeline":
            (folder / rest[1]).mkdir(exist_ok=True)
            command = [sys.executable, "-I", "-S", BOTH_LEVELS, *rest]
            subprocess.run(command, cwd=folder, check=True)
        else:
            said[tool] = holder.ok("siesta", tool, *rest)
    assert files_of(folder / "singlesubject-merged-input") == files_of(folder / FEW)
    assert not list((folder / "leaveoneout-1-input").iterdir())
    assert list(files_of(folder / "leaveoneout-1-output")) == [RESULTS]
    merged = folder / "leaveoneout-merged-output" / "group-merged.tsv"
    assert merged.stat().st_mode & 0o777 == 0o600
    assert "secret" in said["mergegroup"].err

    # heights: one of 10 was typed as 1.65, so the mean moves by 18; three numbers share: 54, then 64
    assert (folder / "noise" / "noise.tsv").read_text() == "4.0\t64.0\t16.0\n"
    assert json.loads((folder / "noise" / "noise.json").read_text())["guarantee"] == "empirical"
    assert "EMPIRICAL" in said["calibratenoise"].out
    assert "EMPIRICAL" in said["addnoise"].out
    assert "read them before you give OUT away" in said["addnoise"].err

    truth = [float(cell) for cell in (folder / "output" / RESULTS).read_text().split()]
    releases = [files_of(folder / name) for name in ("output-dp", "output-again")]
    assert [list(release) for release in releases] == [[RESULTS]] * 2
    assert re.fullmatch(rb"-?[\d.]+\t-?[\d.]+\t-?[\d.]+\n", releases[0][RESULTS])
    assert [float(cell) for cell in releases[0][RESULTS].split()] != truth
    assert releases[0] != releases[1]


@pytest.mark.deep("the page itself is run by tests/docs, its tools one by one here")
@pytest.mark.usefixtures("people")
def test_the_page_is_a_script_that_runs(holder: Terminal) -> None:
    folder = holder.folder
    shutil.copytree(APP.parent, folder / "examples" / "mean-height")
    page = (EXAMPLES.parent / "docs" / "how-to" / "siesta.md").read_text().partition("\n## SIESTA tools\n")[2]
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
