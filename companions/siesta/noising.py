"""addnoise: the whitelisted files of the result on everybody, every number noised. Empirical."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from companions.siesta.group_files import GroupFile, read_group_files
from companions.siesta.new_folder import new_folder
from companions.siesta.noise_table import NoiseTable
from companions.siesta.shaped_files import Volumes
from dpgate.errors import DpgateError
from privacy.discrete_laplace import quantile, sample
from privacy.grid import OutputGrid
from privacy.mechanism import NoisedOutput
from worker.drawn import DrawnValue, text


@dataclass(frozen=True)
class Noised:
    """One released number: what was written, and how wide its noise is."""

    name: str
    value: str
    scale: Fraction
    half_width_95: Fraction


def add_noise(
    source: Path,
    out: Path,
    whitelist: Sequence[str],
    table: NoiseTable,
    *,
    skeleton: Path | None = None,
    header_lines: int = 0,
    volumes: Volumes | None = None,
) -> tuple[Noised, ...]:
    """Write the whitelisted files, and nothing else, with every number clamped, noised and rounded.

    Noise is discrete Laplace on the grid of the bounds, drawn once and independently for each number from
    the keystream of this process; it is never drawn again because it is small. Labels, line ends and order
    are those of `skeleton`, a result on the twin, or of the source if there is none.

    Raises DpgateError, and writes nothing, unless the numbers are those of the table and the skeleton.
    """
    files = read_group_files(source, whitelist, header_lines=header_lines, volumes=volumes)
    shown = files
    if skeleton is not None:
        shown = read_group_files(skeleton, whitelist, header_lines=header_lines, volumes=volumes)
    for file, other in zip(shown, files, strict=True):
        file.check_fits(other, where=source)
    names = tuple(name for file in files for name in file.names)
    if not table.is_for(names):
        raise DpgateError("the numbers of the result are not those that the noise was calibrated for")
    with new_folder(out, apart_from=[source]) as made:
        noised = _draw([value for file in files for value in file.values], replace(table, names=names))
        _write(shown, noised, made)
    return noised


def _draw(values: Sequence[str], table: NoiseTable) -> tuple[Noised, ...]:
    return tuple(
        _noised(name, value, grid, scale)
        for name, value, grid, scale in zip(
            table.names, values, table.mechanism.grids, table.scales, strict=True
        )
    )


def _noised(name: str, value: str, grid: OutputGrid, scale: Fraction) -> Noised:
    width = scale / grid.step
    noise = int(sample(width, 1)[0])
    drawn = NoisedOutput(grid.value(grid.snap(float(value)) + noise), noise_scale=scale)
    return Noised(
        name,
        text(DrawnValue(name, drawn, step=grid.step)),
        scale,
        half_width_95=quantile(Fraction(1, 20), width) * grid.step,
    )


def _write(files: Sequence[GroupFile], noised: Sequence[Noised], folder: Path) -> None:
    left = iter(noised)
    for file in files:
        target = folder / file.file
        target.parent.mkdir(parents=True, exist_ok=True)
        content = file.filled([next(left).value for _ in file.names])
        target.write_bytes(content)
