"""The shape lock of a NIfTI volume: its grid, and which voxels make which number.

Of a run on original data only the voxels' values are looked at, averaged by region: the grid and its place
must be the twin's, and the rest of the header is ignored. The release is written into the grid of the twin's
file, with every word of that file's own left out.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, StringConstraints, model_validator

from domain import placing, regions
from domain.errors import PipelineError
from domain.model import InsidePath, Model
from domain.pipeline import MAX_VALUES, OutputFile, VolumeBounds
from domain.regions import Regions
from formats import nifti
from privacy.mechanism import MAX_OUTPUTS

MAX_MAP_CHARACTERS = 2 * 1024 * 1024
MOST_VOXELS = nifti.MAX_VOLUME_BYTES // 8
"""Of all volumes of a pipeline together: a release holds each as 64 bits."""
_PIECE = 1024 * 1024  # bytes of a map, at a time


class NiftiShape(Model):
    """`header`: of the released file, base64. `regions`: the number of each voxel's region, 0 for none, as
    little-endian uint16, zlib, base64. `addresses`: what each region is called."""

    format: Literal["nifti"] = "nifti"
    file: Annotated[InsidePath, StringConstraints(pattern=r"\.(nii|nii\.gz)$")]
    header: Annotated[str, StringConstraints(max_length=1000)]
    regions: Annotated[str, StringConstraints(max_length=MAX_MAP_CHARACTERS)]
    addresses: Annotated[tuple[str, ...], Field(min_length=1, max_length=MAX_VALUES)]

    @model_validator(mode="after")
    def _is_as_locked(self) -> NiftiShape:
        try:
            counts = self._voxels_of_regions()
        except (PipelineError, ValueError, zlib.error):
            raise ValueError(
                "the volume is not as a run on the twin locks it; type `dpgate run FOLDER`"
            ) from None
        if not counts[1:].all():
            raise ValueError("a volume's regions are not those of its addresses; type `dpgate run FOLDER`")
        return self

    def _voxels_of_regions(self) -> npt.NDArray[np.int64]:
        """How many voxels each region has, the first: no region. In pieces, and nothing is kept of the map:
        whoever checks a lock need not hold it."""
        counts = np.zeros(self.numbers + 1, np.int64)
        for piece in self._map():
            if piece.max() > self.numbers:
                raise ValueError("a region without an address")
            counts += np.bincount(piece, minlength=counts.size)
        return counts

    @property
    def constants(self) -> tuple[()]:
        """None: averages over voxels are results."""
        return ()

    @property
    def numbers(self) -> int:
        return len(self.addresses)

    @property
    def voxels(self) -> int:
        return self._header.voxels

    def read(self, content: bytes) -> list[float | None]:
        """The mean of each region; None where no voxel of it is finite. A volume whose axes run otherwise
        through the same voxels is turned. Raises PipelineError for another grid or place."""
        header, voxels = nifti.read(self.file, content, dims=self._header.dims)
        turn = placing.find_turn(self._header.affine, header.affine, header.dims)
        if turn is None or turn.dims(header.dims) != placing.of_space(self._header.dims):
            raise PipelineError(f"{self.file} stands elsewhere than the twin's, or leads elsewhere")
        return regions.means(self._regions, turn.apply(voxels, header.dims))

    def write(self, numbers: Sequence[str]) -> bytes:
        """The twin's grid, each region filled with its number, zero elsewhere; voxels are float64."""
        if len(numbers) != self.numbers:
            raise ValueError(f"{self.file} holds {self.numbers} numbers, got {len(numbers)}")
        voxels = regions.spread(self._regions, [float(number) for number in numbers])
        return nifti.write(self.file, base64.b64decode(self.header), voxels)

    @property
    def placing(self) -> str:
        """What is compared of where a run's volume lies, in words."""
        return placing.promise(self._header.affine)

    @cached_property
    def _header(self) -> nifti.Header:
        return nifti.parse_blank(self.file, base64.b64decode(self.header, validate=True))

    @cached_property
    def _regions(self) -> Regions:
        return Regions(np.concatenate(list(self._map())), self.addresses)

    def _map(self) -> Iterator[npt.NDArray[np.uint16]]:
        """The region of each voxel, in pieces. Raises ValueError unless there is one number for each."""
        inflater, left = zlib.decompressobj(), 2 * self._header.voxels
        packed = base64.b64decode(self.regions, validate=True)
        while left:
            piece = inflater.decompress(packed, min(left, _PIECE))
            packed, left = inflater.unconsumed_tail, left - len(piece)
            if len(piece) % 2 or not piece:
                raise ValueError("not one number for each voxel")
            yield np.frombuffer(piece, "<u2")
        if inflater.decompress(packed, 1) or not inflater.eof:
            raise ValueError("not one number for each voxel")


def lock(output: OutputFile, content: bytes, sources: Mapping[str, bytes]) -> NiftiShape:
    """The shape of a volume that the pipeline wrote on the twin.

    Raises PipelineError for more numbers than any mechanism takes, with what to declare instead.
    """
    header, _ = nifti.read(output.file, content)
    if header.voxels > MOST_VOXELS:
        raise PipelineError(
            f"{output.file} has {header.voxels} voxels; at most {MOST_VOXELS} are released. "
            "Write a coarser grid"
        )
    found = _regions(output, header, sources)
    packed = base64.b64encode(zlib.compress(found.of_voxel.astype("<u2").tobytes(), 9)).decode()
    if len(packed) > MAX_MAP_CHARACTERS:
        raise PipelineError(f"the regions of {output.file} are too intricate to be sent; use a coarser mask")
    return NiftiShape(
        file=output.file,
        header=base64.b64encode(nifti.blank_header(header)).decode(),
        regions=packed,
        addresses=found.names,
    )


def _regions(output: OutputFile, header: nifti.Header, sources: Mapping[str, bytes]) -> Regions:
    asked = output.volume
    if asked is None:
        return _every_voxel(output.file, header)
    if len(header.dims) > 3:
        raise PipelineError(
            f"{output.file} has {len(header.dims)} axes; average over time, or write one file for each volume"
        )
    found = _averaged(asked, header, sources)
    if len(found.names) > MAX_VALUES:
        raise PipelineError(_too_many(output.file, header, len(found.names)))
    return found


def _averaged(asked: VolumeBounds, header: nifti.Header, sources: Mapping[str, bytes]) -> Regions:
    labels = regions.read_mask(asked.mask, sources[asked.mask], header) if asked.mask else None
    if labels is not None and asked.average == 1:
        return regions.of_labels(labels, mask=str(asked.mask))
    if asked.average == 1 and header.voxels > MAX_VALUES:
        raise PipelineError(_too_many("the volume", header, header.voxels))
    return regions.of_cubes(header.dims, asked.average, None if labels is None else labels > 0)


def _every_voxel(file: str, header: nifti.Header) -> Regions:
    if header.voxels > MAX_VALUES:
        raise PipelineError(_too_many(file, header, header.voxels))
    places = np.unravel_index(range(header.voxels), header.dims, order="F")
    names = tuple(",".join(map(str, place)) for place in zip(*places, strict=True))
    return Regions(np.arange(1, header.voxels + 1, dtype=np.uint16), names)


def _too_many(what: str, header: nifti.Header, count: int) -> str:
    dims = (*header.dims, 1, 1)[:3]
    return (
        f"{what} gives {count} numbers that would share one privacy loss, which leaves nothing but noise. "
        "Declare `volume` with a mask of a few labels, or with "
        f"average: {regions.edge_for(dims, MAX_OUTPUTS)} for at most {MAX_OUTPUTS} medians, or "
        f"average: {regions.edge_for(dims, MAX_VALUES)} for at most {MAX_VALUES} means"
    )
