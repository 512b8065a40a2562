"""The noise that calibratenoise decides and addnoise draws: bounds and a scale for each number, in a table.

The scales are powers of two and say no more than the order of magnitude of the largest leave-one-out change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from companions.siesta.new_folder import write_secret
from dpgate.errors import DpgateError
from privacy.discrete_laplace import check_scale
from privacy.grid import OutputGrid
from privacy.loss import MICRO
from privacy.stability import StabilityCalibrated, next_power_of_two

ROWS = ("value", "lower", "upper", "people", "noise_multiplier", "scale")


@dataclass(frozen=True)
class NoiseTable:
    """What is drawn: for each number a grid and the scale of its noise, in its own units."""

    names: tuple[str, ...]
    mechanism: StabilityCalibrated
    scales: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        """Raises ValueError for a scale that this mechanism cannot have given."""
        for name, grid, scale in zip(self.names, self.mechanism.grids, self.scales, strict=True):
            floor = Fraction(grid.cells, self.mechanism.people) * self.mechanism.noise_multiplier
            least = next_power_of_two(floor) * grid.step
            if scale < least or next_power_of_two(scale) != scale:
                raise ValueError(f"{name}: the scale must be a power of two, and at least {least}")
            check_scale(scale / grid.step)

    def columns(self) -> dict[str, list[str]]:
        """What a table of it holds, by row."""
        grids, count = self.mechanism.grids, len(self.names)
        cells = (
            list(self.names),
            [str(grid.lower) for grid in grids],
            [str(grid.upper) for grid in grids],
            [str(self.mechanism.people)] * count,
            [str(self.mechanism.noise_multiplier)] * count,
            [str(scale) for scale in self.scales],
        )
        return dict(zip(ROWS, cells, strict=True))

    def write(self) -> str:
        return "".join("\t".join([name, *cells]) + "\n" for name, cells in self.columns().items())

    def is_for(self, names: tuple[str, ...]) -> bool:
        """Whether these are its numbers: by name or, where it was made without names, by their count."""
        return names == self.names or unnamed(len(names)) == self.names


def unnamed(count: int) -> tuple[str, ...]:
    """In place of names, for numbers of a table that has none."""
    return tuple(f"column:{number}" for number in range(1, count + 1))


def mechanism_for(
    bounds: tuple[tuple[str, str], ...], *, people: int, noise_multiplier: str
) -> StabilityCalibrated:
    """The mechanism of the platform, for these bounds. Raises ValueError naming what is wrong."""
    if len(noise_multiplier) > 40 or "e" in noise_multiplier.casefold():
        raise ValueError("the noise multiplier must be a number such as 1, 0.5 or 10/3")
    try:
        multiplier = Fraction(noise_multiplier)
    except (ValueError, ZeroDivisionError):
        raise ValueError("the noise multiplier must be a number such as 1, 0.5 or 10/3") from None
    if multiplier <= 0:
        raise ValueError("the noise multiplier must be above zero")
    grids = tuple(OutputGrid.build(lower, upper) for lower, upper in bounds)
    # rounded down: never less noise than asked for
    return StabilityCalibrated(grids, people=people, micro_epsilon_prime=int(MICRO / multiplier))


def write_noise_table(table: NoiseTable, out: Path) -> None:
    """Raises DpgateError if the file is there."""
    write_secret(out, table.write())


def read_noise_table(path: Path) -> NoiseTable:
    """A table that calibratenoise wrote. Raises DpgateError for any other, and for scales too small."""
    try:
        lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
        if tuple(line[0] for line in lines) != ROWS:
            raise ValueError(f"its lines must be {', '.join(ROWS)}")
        return table_of({row: tuple(cells) for row, *cells in lines})
    except (ValueError, ZeroDivisionError) as error:
        raise DpgateError(f"{path} is not a table of calibratenoise: {error}") from None


def table_of(columns: Mapping[str, tuple[str, ...]]) -> NoiseTable:
    """From what `columns` gave. Raises ValueError or ZeroDivisionError for anything else."""
    if tuple(columns) != ROWS:
        raise ValueError(f"its rows must be {', '.join(ROWS)}")
    names, lower, upper, people, multiplier, scales = columns.values()
    if len(set(people)) != 1 or len(set(multiplier)) != 1 or len(set(names)) != len(names):
        raise ValueError("people and noise_multiplier must be the same in all columns, names different")
    bounds = tuple(zip(lower, upper, strict=True))
    mechanism = mechanism_for(bounds, people=int(people[0]), noise_multiplier=multiplier[0])
    return NoiseTable(names, mechanism, tuple(Fraction(scale) for scale in scales))
