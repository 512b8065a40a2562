"""Twins of BIDS trees: what they cost to make, and what the BIDS validator says of them.

    DPGATE_DATA=FOLDER python benchmarks/twin_trees.py [--validator PROGRAM] [--keep FOLDER]

The tree ds004148 with all 257 columns of its participants, and three small trees whose images are empty in
the collection: they get small images first, so that there are headers to go by. Files of people are declared
as `dpgate twin spec` proposes them; what it asks is answered here. PROGRAM is that of bids-validator-deno, in
an environment of its own. Level 0: made without the data, no budget, no class.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import math
import os
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from twin_cases import is_number

from domain.dataset import Declaration
from domain.model import parse
from dpgate.tree_spec.build import make_spec
from formats import nifti
from formats.yaml_text import read_yaml
from twins.drawn import make_twin
from twins.profile.draft import ASK

TREES = (
    "openneuro_ds004148",
    "bids_examples/ds005",
    "bids_examples/eeg_matchingpennies",
    "bids_examples/synthetic",
)
PARTICIPANTS = "participants.tsv"
ADDED = ("README.md", "SHA256SUMS.txt")
"""By the collection, where the tree has a README of its own."""

Said = Mapping[tuple[str, str], int]
"""How often the validator says what: by severity and code."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--validator", type=Path)
    parser.add_argument("--keep", type=Path)
    asked = parser.parse_args()
    volumes()
    with tempfile.TemporaryDirectory() as name:
        for place in TREES:
            source = Path(os.environ["DPGATE_DATA"]) / place
            original = (asked.keep or Path(name)) / source.name
            twin = original.with_name(f"{source.name}-twin")
            copy(source, original)
            make(original, twin)
            if asked.validator is not None:
                compare(said(asked.validator, original), said(asked.validator, twin))


def volumes() -> None:
    """One T1w image of a usual size, in whole."""
    for fill in ("zeros", "sketch", "phantom", "noise"):
        volume = {"shape": [256, 256, 176], "dtype": "int16", "lower": 0, "upper": 1000, "fill": fill}
        file = {"path": "{person}/anat/{person}_T1w.nii.gz", "twin_volume": volume}
        described = declared({PARTICIPANTS: [{"name": "participant_id", "kind": "person"}]}, 6, [file])
        began, started = time.perf_counter(), time.process_time()
        files = make_twin(described, people=1)
        wall, used = time.perf_counter() - began, time.process_time() - started
        size = max(map(len, files.values())) / 1e6
        print(f"T1w, {fill:<10}{wall:>8.2f} s{used:>8.2f} s of CPU{size:>8.1f} MB", flush=True)


def copy(source: Path, original: Path) -> None:
    """The tree, with small images in the place of empty ones."""
    shutil.copytree(source, original, copy_function=shutil.copyfile)
    for folder in (original, *(path for path in original.rglob("*") if path.is_dir())):
        folder.chmod(0o755)
    if (original / "README").exists():
        for name in ADDED:
            (original / name).unlink(missing_ok=True)
    for path in original.glob("sub-*/**/*.nii*"):
        is_series = path.name.split(".")[0].endswith("bold")
        shape, zooms, seconds = ((6, 5, 4, 9), (3, 3, 3, 2), 2) if is_series else ((6, 5, 4), (1, 1, 1), None)
        content = nifti.new_header(shape, kind="i2", zooms=zooms, seconds=seconds) + bytes(
            2 * math.prod(shape)
        )
        path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)


def make(original: Path, twin: Path) -> None:
    """Declares the tree, makes its twin and writes it; says how long that took."""
    columns, people = participants(original / PARTICIPANTS)
    spec = read_yaml(make_spec(original).text)
    # a declaration is of six people at least
    described = declared(
        {PARTICIPANTS: columns}, max(people, 6), answered(spec["person_files"]), spec.get("public_files", [])
    )
    began, started = time.perf_counter(), time.process_time()
    files = make_twin(described)
    for path, content in files.items():
        (twin / path).parent.mkdir(parents=True, exist_ok=True)
        (twin / path).write_bytes(content)
    wall, used = time.perf_counter() - began, time.process_time() - started
    print(
        f"\n{original.name}: {people} people, {len(columns)} columns, {len(files)} files, "
        f"{sum(map(len, files.values())) / 1e6:.1f} MB: {wall:.2f} s, {used:.2f} s of CPU",
        flush=True,
    )


def participants(path: Path) -> tuple[list[dict[str, Any]], int]:
    """Its columns, those of numbers between 0 and a round number; a declaration has them from the design."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, delimiter="\t")
    columns: list[dict[str, Any]] = []
    for name, texts in zip(header, zip(*rows, strict=True), strict=True):
        values = sorted({text.strip() for text in texts} - {"", "n/a"})
        numbers = [float(value) for value in values if is_number(value)]
        if name == "participant_id":
            columns.append({"name": name, "kind": "person"})
        elif len(numbers) > len(values) / 2:
            top = 10 * math.ceil((max(numbers) + 1) / 10)
            decimals = max(len(value.partition(".")[2]) for value in values if is_number(value))
            kind = {"kind": "number", "decimals": decimals} if decimals else {"kind": "integer"}
            columns.append({"name": name, "lower": 0, "upper": top, "missing_rate": 0.1, **kind})
        else:
            columns.append({"name": name, "kind": "categorical", "categories": values or ["none"]})
    return columns, len(rows)


def declared(
    tables: Mapping[str, Sequence[Mapping[str, Any]]],
    people: int,
    person_files: Sequence[Mapping[str, Any]],
    public_files: Sequence[Mapping[str, Any]] = (),
) -> Declaration:
    return parse(
        Declaration,
        {
            "name": "tree",
            "title": "A tree",
            "layout": "bids",
            "privacy_unit": {"table": PARTICIPANTS, "column": "participant_id"},
            "nominal_size": people,
            "tables": [{"path": path, "columns": columns} for path, columns in tables.items()],
            "person_files": person_files,
            "public_files": public_files,
            "budget_epsilon": "10",
            "policy": {"data_users": ["ada"], "images": ["python"]},
        },
    )


def answered(content: Any) -> Any:
    """What the proposal asks, as a rights holder might answer."""
    if isinstance(content, dict):
        if content.get("columns") == ASK:
            return {**content, "columns": [{"name": "trial", "kind": "integer", "lower": 0, "upper": 9}]}
        return {name: ["go", "stop"] if value == ASK else answered(value) for name, value in content.items()}
    return [answered(each) for each in content] if isinstance(content, list) else content


def said(validator: Path, tree: Path) -> Said:
    ended = subprocess.run([validator, "--json", tree], capture_output=True, text=True)
    found = json.loads(ended.stdout)
    return Counter((issue["severity"], issue["code"]) for issue in found["issues"]["issues"])


def compare(original: Said, twin: Said) -> None:
    for severity, code in sorted(original.keys() | twin.keys()):
        before, after = original.get((severity, code), 0), twin.get((severity, code), 0)
        new = "  only in the twin" if not before else ""
        print(f"  {severity:<9}{code:<44}original {before:>5}  twin {after:>5}{new}", flush=True)


if __name__ == "__main__":
    main()
