"""calibratenoise: how wide the noise of each number must be, from the leave-one-out samples. Empirical."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from companions.siesta.noise_table import NoiseTable, mechanism_for, unnamed, write_noise_table
from companions.siesta.samples import Samples
from dpgate.errors import DpgateError

BOUNDS_HEADER = ("file", "lower", "upper")
Bounds = tuple[tuple[str, str], ...]


def calibrate(
    samples: Samples,
    whole: Samples,
    out: Path,
    *,
    bounds: Bounds,
    noise_multiplier: str = "1",
    write: Callable[[NoiseTable, Path], None] = write_noise_table,
) -> NoiseTable:
    """Write the noise table for these samples, one per person left out; `whole` is the one row of everybody.

    Scale of number k: the smallest power of two that is at least max(p D_k, K_k / n) times the multiplier,
    with D_k the largest distance of a sample from the result of everybody and K_k the width of its bounds
    (privacy.stability, which also says why this is no differential privacy). The result of everybody is
    needed: a count of people is n - 1 in every sample and yet moves by one with each of them.

    Raises DpgateError for fewer than 10 samples, more than 20 numbers, or bounds that do not fit.
    """
    if len(whole.rows) != 1:
        raise DpgateError("the result of everybody must have exactly one row; merge it by itself")
    if whole.names != samples.names:
        raise DpgateError("the result of everybody holds other numbers than the samples")
    try:
        mechanism = mechanism_for(bounds, people=len(samples.rows), noise_multiplier=noise_multiplier)
    except ValueError as error:
        raise DpgateError(str(error)) from None
    units = [
        tuple(grid.snap(float(text)) for grid, text in zip(mechanism.grids, row, strict=True))
        for row in (*whole.rows, *samples.rows)
    ]
    scales = mechanism.scales(units)
    table = NoiseTable(
        samples.names,
        mechanism,
        tuple(scale * grid.step for scale, grid in zip(scales, mechanism.grids, strict=True)),
    )
    write(table, out)
    return table


def bounds_from_options(lower: Sequence[str], upper: Sequence[str], names: Sequence[str]) -> Bounds:
    """One pair for all numbers, or one for each in order. Raises DpgateError otherwise, and without any."""
    if not lower or not upper:
        raise DpgateError("bounds are missing: say --lower and --upper, or --bounds with a table of them")
    if len(lower) != len(upper) or len(lower) not in (1, len(names)):
        raise DpgateError(f"say --lower and --upper once, or once for each of the {len(names)} numbers")
    pairs = tuple(zip(lower, upper, strict=True))
    return pairs * len(names) if len(pairs) == 1 else pairs


def read_bounds(path: Path, names: Sequence[str]) -> Bounds:
    """A table with the columns file, lower and upper, and a line for each number in reading order."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise DpgateError(f"{path} is not UTF-8") from None
    header, *rows = [tuple(line.split("\t")) for line in lines] or [()]
    if header != BOUNDS_HEADER:
        raise DpgateError(f"{path} must start with a line of {', '.join(BOUNDS_HEADER)}, with tabs between")
    if len(rows) != len(names):
        raise DpgateError(f"{path} has {len(rows)} lines of bounds for {len(names)} numbers")
    is_unnamed = tuple(names) == unnamed(len(names))
    for number, (row, name) in enumerate(zip(rows, names, strict=True), start=2):
        if len(row) != len(BOUNDS_HEADER) or not (is_unnamed or name.startswith(f"{row[0]}:")):
            raise DpgateError(f"{path}, line {number}, must hold file, lower and upper of the number {name}")
    return tuple((lower, upper) for _, lower, upper in rows)
