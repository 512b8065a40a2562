"""Whitelisted files that are no tables: .json, .npy, .mat, .nii and .nii.gz, by the platform's shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from companions.siesta.labels import number_in_disguise
from domain.errors import PipelineError
from domain.model import parse
from domain.pipeline import OutputFile
from domain.shape import LOCKS, FileShape
from dpgate.errors import DpgateError

_MASK = "mask"


@dataclass(frozen=True)
class Volumes:
    """What is one number of a NIfTI volume: the mean over each label of a mask, or over cubes of so many
    voxels; without either, each voxel."""

    mask: Path | None = None
    average: int = 1


@dataclass(frozen=True)
class ShapedFile:
    """One whitelisted file of a result: its structure, and its numbers in reading order."""

    file: str
    shape: FileShape
    numbers: tuple[float, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """`file:address`, as in `results.mat:stats.beta[1,2]`. No control character stays in it."""
        return tuple(
            f"{self.file}:{address}".encode("unicode_escape").decode() for address in self.shape.addresses
        )

    @property
    def values(self) -> tuple[str, ...]:
        """The numbers with all their digits."""
        return tuple(repr(number) for number in self.numbers)

    def filled(self, values: Sequence[str]) -> bytes:
        """A file of this structure with these numbers, and nothing else that could come from a run."""
        return self.shape.write(values)

    def check_fits(self, other: Any, *, where: Path) -> None:
        """Raises DpgateError unless the other file differs in numbers only: texts and truth values must be
        the same, too."""
        assert isinstance(other, ShapedFile)  # by its name, which is the same
        if self._blank != other._blank:
            raise DpgateError(
                f"{where / self.file} has another structure, or another text in it, than in the first "
                "result; only numbers may differ"
            )

    @property
    def _blank(self) -> bytes:
        return self.shape.write(["0"] * self.shape.numbers)


def read_shaped(path: Path, file: str, content: bytes, volumes: Volumes) -> ShapedFile:
    """Raises DpgateError for a file that is not what its name says, without numbers, or with one that is
    missing or infinite."""
    output, sources = _declared(file, volumes)
    try:
        shape: FileShape = LOCKS[output.format](output, content, sources)
        numbers = shape.read(content)
    except PipelineError as error:
        raise DpgateError(f"{path}: {error}") from None
    if (told := number_in_disguise(shape)) is not None:
        raise DpgateError(f"{path} has the text {told!r}, which is a number that is not written plainly")
    if not numbers:
        raise DpgateError(f"{path} holds no number that could be noised")
    for address, number in zip(shape.addresses, numbers, strict=True):
        if number is None:
            raise DpgateError(f"{path} holds no finite number at {address}")
    return ShapedFile(file, shape, tuple(number for number in numbers if number is not None))


def _declared(file: str, volumes: Volumes) -> tuple[OutputFile, dict[str, bytes]]:
    """As a manifest would declare it. The bounds are anybody's: calibratenoise is told the real ones."""
    anything: dict[str, Any] = {"name": "value", "lower": 0, "upper": 1}
    if not file.endswith((".nii", ".nii.gz")):
        return parse(OutputFile, {"file": file, "bounds": [{"select": "*", **anything}]}), {}
    asked = {**anything, "average": volumes.average}
    if volumes.mask is None:
        return parse(OutputFile, {"file": file, "volume": asked}), {}
    name = _MASK + (".nii.gz" if volumes.mask.name.endswith(".gz") else ".nii")
    return parse(OutputFile, {"file": file, "volume": {**asked, "mask": name}}), {
        name: volumes.mask.read_bytes()
    }
