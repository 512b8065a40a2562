"""What a view of a large data set costs: time to its first instruction, and space on the scratch's disk.

    python benchmarks/views.py [--people 200] [--gib 20] [--rounds 15]

A tree of that size on disk, sparse, one folder and one image per person. Views of it: a block of a twentieth,
everybody but one, a half-sample. The run lists its input and reads a byte of each image. The control is the
same run on an empty block.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from worker.sandbox.core.images import HostImage
from worker.sandbox.host_image import describe
from worker.sandbox.protocol import MIB, NOTHING, Audience, Limits, SandboxUnavailable, SlotOrder
from worker.sandbox.supervised import SupervisedSandbox
from worker.view import Part, View

TABLE = "participants.tsv"
SCRIPT = b"""
import os
people = [name for name in os.listdir("/in") if name.startswith("sub-")]
seen = sum(len(open(f"/in/{name}/anat/T1w.nii", "rb").read(1)) for name in people)
open("/out/n", "w").write(str(seen))
"""
LIMITS = Limits(wall_s=60, cpu_s=60, memory_bytes=512 * MIB)
WAYS: tuple[tuple[str, tuple[str, ...] | None], ...] = (("warm", ()), ("cold", None))


def main() -> None:
    arguments = _arguments()
    folder = Path(tempfile.mkdtemp(prefix="dpgate-views-", dir="/var/tmp"))
    folder.chmod(0o755)
    try:
        each = arguments.gib * 1024 * MIB // arguments.people
        parts = [_person(folder / "data", number, each) for number in range(arguments.people)]
        print(f"{arguments.people} people, {arguments.gib} GiB; ms of {arguments.rounds} runs")
        print(f"{'':<20}{'view':<18}{'people':>8}{'median':>9}{'max':>8}{'compose':>9}{'KiB':>7}")
        for name, warm in WAYS:
            order = _order(_image(), warm, folder / "data")
            _print_way(f"supervised, {name}", order, folder, parts, arguments.rounds)
    finally:
        shutil.rmtree(folder)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--gib", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=15)
    return parser.parse_args()


def _person(data: Path, number: int, size: int) -> Part:
    folder = data / f"sub-{number:04}"
    image = folder / "anat" / "T1w.nii"
    image.parent.mkdir(parents=True)
    with image.open("wb") as file:
        file.truncate(size)
    return Part(folder.name, folder.name, size, {"anat/T1w.nii": partial(open, image, "rb")}, folder)


def _image() -> HostImage:
    try:
        return describe()
    except SandboxUnavailable:  # an old distribution
        return describe(Path(sys.prefix))


def _order(image: HostImage, warm: tuple[str, ...] | None, root: Path) -> SlotOrder:
    return SlotOrder(
        image=image,
        code={"main.py": SCRIPT},
        command=("python3", "/pipeline/main.py"),
        levels=("group",),
        outputs=("n",),
        limits=LIMITS,
        audience=Audience.ORIGINAL,
        warm=warm,
        roots=(root,),
    )


def _views(parts: Sequence[Part]) -> list[tuple[str, int, Callable[[random.Random], View]]]:
    """Name, number of people, and a new one for each run."""
    count = len(parts)

    def some(number: int, chance: random.Random) -> View:
        chosen = chance.sample(parts, number)
        table = "participant_id\n" + "".join(f"{part.place}\n" for part in chosen)
        return View({TABLE: table.encode()}, chosen)

    sizes = (("block", max(1, count // 20)), ("leave one out", count - 1), ("half-sample", count // 2))
    return [(name, number, partial(some, number)) for name, number in sizes]


def _print_way(name: str, order: SlotOrder, folder: Path, parts: Sequence[Part], rounds: int) -> None:
    chance, scratch = random.Random(1), folder / "scratch"
    with (
        SupervisedSandbox(order.image, scratch_root=scratch, allow_disk_scratch=True) as sandbox,
        sandbox.open_slot(order, slot=0) as slot,
    ):
        control = statistics.median(_timed(lambda: slot.run(NOTHING))[0] for _ in range(rounds))
        print(f"{name:<20}{'nothing':<18}{0:>8}{control:>9.1f}")
        for title, number, new in _views(parts):
            taken = []
            for _ in range(rounds):
                view = new(chance)
                milliseconds, result = _timed(lambda view=view: slot.run(view))
                if result.outputs != {"n": str(number).encode()}:
                    raise RuntimeError(f"a run saw something else than its view: {result.outputs}")
                taken.append(milliseconds)
            kept = _most_used(scratch, partial(slot.run, new(chance)))
            middle = statistics.median(taken)
            figures = f"{middle:>9.1f}{max(taken):>8.1f}{middle - control:>9.1f}{kept / 1024:>7.0f}"
            print(f"{'':<20}{title:<18}{number:>8}{figures}")


def _timed(step: Callable):
    started = time.perf_counter()
    result = step()
    return (time.perf_counter() - started) * 1000, result


def _most_used(scratch: Path, run: Callable[[], object]) -> int:
    """Bytes on the scratch's disk while a run lasts, beyond those before it."""
    before = _used(scratch)
    most, going = before, threading.Thread(target=run)
    going.start()
    while going.is_alive():
        most = max(most, _used(scratch))
    return most - before


def _used(folder: Path) -> int:
    """Bytes on disk below it, as du counts."""
    # a file may go while it looks: its exit code says so, and its sum is right but for that
    answer = subprocess.run(["du", "-s", "-B1", folder], capture_output=True, text=True)
    return int(answer.stdout.split()[0])


if __name__ == "__main__":
    os.umask(0o022)
    main()
