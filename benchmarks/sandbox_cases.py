"""The pipelines of `sandbox.py`: the same work in pandas, in plain Python, and in shell with awk."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from worker.sandbox.core.images import StoredImage
from worker.sandbox.protocol import MIB, Audience, Limits, SlotOrder

ROWS, COLUMNS = 1000, "abcdef"
OUTPUT, LEVEL = "result.tsv", "group"
LIMITS = Limits(wall_s=60, cpu_s=60, memory_bytes=1024 * MIB)

PANDAS = """\
import sys
import pandas as pd
table = pd.read_csv(sys.argv[1] + "/block.csv")
with open(sys.argv[2] + "/result.tsv", "w") as file:
    file.write("\\t".join(f"{mean:.6f}" for mean in table.mean()) + "\\n")
"""
PURE = """\
import csv, sys
with open(sys.argv[1] + "/block.csv", newline="") as file:
    rows = list(csv.reader(file))[1:]
means = [sum(map(float, column)) / len(rows) for column in zip(*rows)]
with open(sys.argv[2] + "/result.tsv", "w") as file:
    file.write("\\t".join(f"{mean:.6f}" for mean in means) + "\\n")
"""
SHELL = """\
awk -F, 'NR > 1 { for (i = 1; i <= NF; i++) sum[i] += $i }
END { for (i = 1; i <= NF; i++) printf "%.6f%s", sum[i] / (NR - 1), i < NF ? "\\t" : "\\n" }' \\
    "$1/block.csv" > "$2/result.tsv"
"""


@dataclass(frozen=True)
class Case:
    """One pipeline. `warm` names what a warm slot loads before; None: only a fresh process can run it."""

    title: str
    script: str
    source: str
    interpreter: str
    warm: tuple[str, ...] | None

    @property
    def command(self) -> tuple[str, ...]:
        return (self.interpreter, f"/pipeline/{self.script}")

    def order(self, image: StoredImage, *, warm: tuple[str, ...] | None = None) -> SlotOrder:
        """On original data and with the strict system calls."""
        return SlotOrder(
            image=image,
            code={self.script: self.source.encode()},
            command=self.command,
            levels=(LEVEL,),
            outputs=(OUTPUT,),
            limits=LIMITS,
            audience=Audience.ORIGINAL,
            warm=warm,
        )


CASES = (
    Case("pandas", "main.py", PANDAS, "python3", ("pandas",)),
    Case("pure Python", "main.py", PURE, "python3", ()),
    Case("shell and awk", "main.sh", SHELL, "sh", None),
)


def blocks(count: int) -> list[bytes]:
    """Tables of ROWS random rows; about 55 KB each."""
    draw = random.Random(7)

    def row() -> str:
        return ",".join(f"{draw.random():.6f}" for _ in COLUMNS) + "\n"

    return [(",".join(COLUMNS) + "\n" + "".join(row() for _ in range(ROWS))).encode() for _ in range(count)]


def expected(block: bytes) -> bytes:
    """What every executor must give for it."""
    rows = [line.split(",") for line in block.decode().splitlines()[1:]]
    means = [sum(map(float, column)) / len(rows) for column in zip(*rows, strict=True)]
    return ("\t".join(f"{mean:.6f}" for mean in means) + "\n").encode()


def image_of(tree: Path, digest: str) -> StoredImage:
    """The unpacked base image `python`. `digest` is the Docker daemon's name for the same tree."""
    return StoredImage("python", digest, tree, "not looked at here", "/usr/bin/python3")
