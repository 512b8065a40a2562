"""The leave-one-out workflow on 60 people, end to end: `dpgate siesta run` against a container for each step.

    python benchmarks/siesta.py ARCHIVE [--language python] [--rounds 5]

ARCHIVE is the base image of the language: `python`, `r`, or `minimal` for `shell` (sandbox_images/bases). Of
R, ours starts warm: `--warm`. The other side does what scripts around such
a workflow do: copy the people's data for each step, start one container for it (60 of the participant level,
61 of the group level), put the outputs together. It is spared their own tools, noise and merging. Docker runs
with a daemon of its own, hardened no further than `--network none`; bubblewrap with new namespaces. All take
turns in every round. Needs root and Docker's programs.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "tests"))
from docker_daemon import DockerDaemon, running_daemon

from worker.sandbox.core.bwrap_binary import find_bwrap

ROOT = Path(__file__).parent.parent
DATA = ROOT / "examples" / "heights" / "data"
RESULT = "derivatives/group/results.tsv"
Step = Callable[[Path, Path, str], None]
"""Runs one level on an input folder into an output folder."""

_SHELL = r"""#!/bin/sh
# The means of bids-means-python, by awk.
if [ "$3" = participant ]; then
  awk -F '\t' -v out="$2" 'NR == 1 {for (i = 1; i <= NF; i++) place[$i] = i; next} {
    person = $place["participant_id"]; system("mkdir " out "/" person)
    file = out "/" person "/" person "_measures.tsv"
    print $place["age"] "\t" $place["Height"] "\t" $place["Weight"] > file
  }' "$1/participants.tsv"
else
  mkdir -p "$2/derivatives/group"
  cat "$2"/sub-*/*_measures.tsv | awk -F '\t' '
    {for (i = 1; i <= 3; i++) if ($i != "n/a") {sum[i] += $i; count[i]++}}
    END {printf "%.12g\t%.12g\t%.12g\n", sum[1] / count[1], sum[2] / count[2], sum[3] / count[3]}
  ' > "$2/derivatives/group/results.tsv"
fi
"""


@dataclass(frozen=True)
class Route:
    """One way through the whole workflow; `go` writes below a new folder."""

    title: str
    go: Callable[[Path], None]


@dataclass(frozen=True)
class App:
    """The same means in one language. `images`: where its image is stored, unless the host has it."""

    pipeline: Path
    command: tuple[str, ...]
    images: Path | None = None
    is_warm: bool = False


def app_in(language: str, archive: Path, folder: Path) -> App:
    if language == "python":
        return App(ROOT / "examples" / "bids-means-python", ("python3", "/pipeline/app.py"))
    images = folder / "images"
    name = archive.stem
    add = [sys.executable, "-m", "dpgate", "image", "add", str(archive), "--name", name]
    named = {"DPGATE_IMAGES_FOLDER": str(images), "PYTHONPATH": str(ROOT)}
    subprocess.run(add, check=True, env=os.environ | named)
    if language == "r":
        return App(ROOT / "examples" / "bids-means-r", ("Rscript", "/pipeline/app.R"), images, is_warm=True)
    pipeline = folder / "bids-means-shell"
    shutil.copytree(ROOT / "examples" / "bids-means-r", pipeline)
    (pipeline / "app.R").unlink()
    (pipeline / "app.sh").write_text(_SHELL)
    manifest = (pipeline / "dpgate.yaml").read_text().replace("image: r\n", "image: minimal\n")
    (pipeline / "dpgate.yaml").write_text(
        manifest.replace("[Rscript, /pipeline/app.R]", "[sh, /pipeline/app.sh]")
    )
    return App(pipeline, ("sh", "/pipeline/app.sh"), images)


def ours(app: App, slots: int) -> Callable[[Path], None]:
    def go(work: Path) -> None:
        command = [sys.executable, "-m", "dpgate", "siesta", "run", DATA, app.pipeline, work / "out"]
        environment = os.environ | {"HOME": str(work), "PYTHONPATH": str(ROOT)}
        environment |= {"DPGATE_IMAGES_FOLDER": str(app.images)} if app.images else {}
        done = subprocess.run(
            [*map(str, command), "--slots", str(slots), *(["--warm"] if app.is_warm else [])],
            check=True,
            capture_output=True,
            text=True,
            env=environment,
        )
        assert "participant level: 60 runs; group level: 61 runs" in done.stdout
        assert (work / "out" / "released" / RESULT).exists()

    return go


def by_steps(step: Step) -> Callable[[Path], None]:
    """A copy of the data and a container for every step."""

    def go(work: Path) -> None:
        people = people_of(DATA)
        for person in people:
            copy_people(work / "single" / person, [person], outputs=None)
            run_step(step, work / "single" / person, work / "level" / person, "participant")
        for gone in [None, *people]:
            kept = [person for person in people if person != gone]
            name = gone or "everybody"
            copy_people(work / "loo" / name, kept, outputs=work / "level")
            out = work / "group" / name
            for person in kept:
                shutil.copytree(work / "level" / person / person, out / person)
            run_step(step, work / "loo" / name, out, "group")
        assert len(list((work / "group").glob(f"*/{RESULT}"))) == 61

    return go


def run_step(step: Step, source: Path, target: Path, level: str) -> None:
    target.mkdir(parents=True, exist_ok=True)
    step(source, target, level)


def people_of(data: Path) -> list[str]:
    return [line.split("\t")[0] for line in (data / "participants.tsv").read_text().splitlines()[1:]]


def copy_people(target: Path, kept: Sequence[str], *, outputs: Path | None) -> None:
    """The data set with these people, copied; and their participant-level outputs as a derived data set."""
    target.mkdir(parents=True)
    for path in DATA.iterdir():
        if path.name in kept:
            shutil.copytree(path, target / path.name)
        elif path.is_file():
            shutil.copy(path, target / path.name)
    header, *rows = (DATA / "participants.tsv").read_text().splitlines(keepends=True)
    own = [row for row in rows if row.split("\t")[0] in kept]
    (target / "participants.tsv").write_text("".join([header, *own]))
    for person in kept if outputs else ():
        shutil.copytree(outputs / person / person, target / "derivatives" / "level" / person)


def docker_step(app: App, daemon: DockerDaemon, image: str) -> Step:
    def run(source: Path, target: Path, level: str) -> None:
        folders = [f"{source}:/in:ro", f"{target}:/out", f"{app.pipeline}:/pipeline:ro"]
        binds = [part for folder in folders for part in ("--volume", folder)]
        daemon.docker(
            *("run", "--rm", "--network", "none", *binds, image),
            *(*app.command, "/in", "/out", level),
        )

    return run


def bwrap_step(app: App, tree: Path) -> Step:
    bwrap = str(find_bwrap().path)

    def run(source: Path, target: Path, level: str) -> None:
        binds = [
            *("--ro-bind", str(tree), "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),
            *("--ro-bind", str(source), "/in", "--bind", str(target), "/out"),
            *("--ro-bind", str(app.pipeline), "/pipeline"),
        ]
        subprocess.run(
            [
                *(bwrap, "--unshare-all", "--die-with-parent", *binds),
                *(*app.command, "/in", "/out", level),
            ],
            check=True,
        )

    return run


def prepared(tree: Path) -> Path:
    """bubblewrap mounts onto folders that a read-only root must have."""
    for name in ("in", "out", "pipeline", "proc", "dev", "tmp"):
        (tree / name).mkdir(exist_ok=True)
    return tree


def take_turns(routes: Sequence[Route], rounds: int) -> dict[str, list[float]]:
    """Seconds by title; every round runs each route once, in an order that rotates."""
    taken: dict[str, list[float]] = {route.title: [] for route in routes}
    for turn in range(rounds):
        for route in (*routes[turn % len(routes) :], *routes[: turn % len(routes)]):
            with tempfile.TemporaryDirectory(prefix="dpgate-siesta-") as folder:
                work = Path(folder)
                work.chmod(0o755)
                started = time.monotonic()
                route.go(work)
                taken[route.title].append(time.monotonic() - started)
            print(f"  round {turn + 1}: {route.title:<28} {taken[route.title][-1]:7.2f} s", flush=True)
    return taken


def unpacked(archive: Path, folder: Path) -> Path:
    """Its largest layer is all of it."""
    blobs, tree = folder / "blobs", folder / "tree"
    for made in (blobs, tree):
        made.mkdir()
    subprocess.run(["tar", "-xf", archive, "-C", blobs], check=True)
    layer = max((blobs / "blobs" / "sha256").iterdir(), key=lambda blob: blob.stat().st_size)
    subprocess.run(["tar", "-xf", layer, "--no-same-owner", "-C", tree], check=True)
    return tree


def main(archive: Path, language: str, rounds: int) -> None:
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.2f}")
    with running_daemon() as daemon, tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        Path(name).chmod(0o755)
        tree, app = unpacked(archive, Path(name)), app_in(language, archive, Path(name))
        image = daemon.import_tree(tree)
        routes = [
            Route("siesta run --slots 1", ours(app, 1)),
            Route("siesta run --slots 2", ours(app, 2)),
            Route("bubblewrap for each step", by_steps(bwrap_step(app, prepared(tree)))),
            Route("Docker for each step", by_steps(docker_step(app, daemon, image))),
        ]
        taken = take_turns(routes, rounds)
    for title, seconds in taken.items():
        ratios = [
            statistics.median(one / base for one, base in zip(seconds, taken[route.title], strict=True))
            for route in routes[:2]
        ]
        shown = ", ".join(f"{ratio:.1f}" for ratio in ratios)
        print(f"{title:<28} {statistics.median(seconds):7.2f} s   ratio to the first two: {shown}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("archive", type=Path)
    parser.add_argument("--language", choices=("python", "r", "shell"), default="python")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    main(arguments.archive.resolve(), arguments.language, arguments.rounds)
