"""mergegroup: the results of all leave-one-out samples as one table, a row for each. That table is secret."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from companions.siesta.group_files import is_number, read_group_files
from companions.siesta.new_folder import new_folder, write_secret
from companions.siesta.shaped_files import Volumes
from dpgate.errors import DpgateError

MERGED = "group-merged.tsv"
KEEP_IT = (
    "is secret: from the leave-one-out results every person's value can be computed. Keep it where the data "
    "are, and delete it when the noise is calibrated."
)


@dataclass(frozen=True)
class Samples:
    """Names of the numbers (`file:line:position`, `file:address`), and the numbers as they were written."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def write(self) -> str:
        return "".join("\t".join(row) + "\n" for row in (self.names, *self.rows))


def merge_group(
    inputs: Sequence[Path],
    out: Path,
    whitelist: Sequence[str],
    *,
    header_lines: int = 0,
    volumes: Volumes | None = None,
) -> Samples:
    """Write OUT/group-merged.tsv: the numbers of all whitelisted files, side by side, a row for each input.

    Raises DpgateError, and writes nothing, if a result is missing, comes twice, or differs from the first
    in anything but its numbers.
    """
    if len({folder.resolve() for folder in inputs}) != len(inputs):
        raise DpgateError("a result is named twice; there is one for each sample")
    results = [
        read_group_files(folder, whitelist, header_lines=header_lines, volumes=volumes) for folder in inputs
    ]
    for folder, result in zip(inputs, results, strict=True):
        for first, other in zip(results[0], result, strict=True):
            first.check_fits(other, where=folder)
    samples = Samples(
        names=tuple(name for file in results[0] for name in file.names),
        rows=tuple(tuple(value for file in result for value in file.values) for result in results),
    )
    with new_folder(out, apart_from=inputs) as made:
        write_secret(made / MERGED, samples.write())
    return samples


def read_samples(path: Path) -> Samples:
    """A table that `merge_group` wrote. Raises DpgateError, without quoting a cell, for any other."""
    try:
        names, *rows = (tuple(line.split("\t")) for line in path.read_text(encoding="utf-8-sig").splitlines())
    except (UnicodeDecodeError, ValueError):
        raise DpgateError(f"{path} is not a table of mergegroup") from None
    if len(set(names)) != len(names) or any(":" not in name for name in names):
        raise DpgateError(f"{path} is not a table of mergegroup: its first line must name the numbers")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(names) or not all(is_number(cell) for cell in row):
            raise DpgateError(f"{path}, line {number}, does not hold one number for each name")
    return Samples(names, tuple(rows))
