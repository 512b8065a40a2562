"""A small register to attack: the 58 heights of the example data set."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import privacy
from privacy.grid import OutputGrid
from privacy.half_samples import half_samples
from privacy.leave_one_out import leave_one_out

_TABLE = Path(privacy.__file__).parents[1] / "examples/heights/data/participants.tsv"
HEIGHT = 3
KEY = bytes(range(32))
GRID = OutputGrid.build(100, 220)


@cache
def heights() -> dict[str, float]:
    """As published: two people mistyped, 58 for a height in centimetres and 1.65 in metres."""
    rows = [line.split("\t") for line in _TABLE.read_text("utf-8").splitlines()[1:]]
    return {row[0]: float(row[HEIGHT]) for row in rows if row[HEIGHT] != "n/a"}


def clean_heights() -> dict[str, float]:
    """Both slips corrected."""
    return {name: {58.0: 158.0, 1.65: 165.0}.get(value, value) for name, value in heights().items()}


def heights_with_an_outlier() -> dict[str, float]:
    """Only the person measured in metres is left."""
    return {name: 158.0 if value == 58.0 else value for name, value in heights().items()}


def mean(register: Mapping[str, float], names: list[str]) -> float:
    return sum(register[name] for name in names) / len(names)


def half_sample_means(register: Mapping[str, float]) -> list[tuple[int]]:
    """The mean height of each world, as a pipeline's run outputs."""
    worlds = half_samples(list(register), key=KEY, wanted=range(64))
    return [(GRID.snap(mean(register, worlds[world])),) for world in range(64)]


def leave_one_out_means(register: Mapping[str, float], grid: OutputGrid = GRID) -> list[tuple[int]]:
    """The mean height of everybody, then without each person in turn."""
    people = len(register)
    runs = leave_one_out(list(register), key=KEY, people=people, wanted=range(people + 1))
    return [(grid.snap(mean(register, runs[run])),) for run in range(people + 1)]
