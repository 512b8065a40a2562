"""Which voxels of a volume make one number together: the regions of a mask, or the cubes of a coarser grid.

Millions of voxels that share one privacy loss are noise; a dozen means are not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from domain import placing
from domain.errors import PipelineError
from formats import nifti
from formats.nifti_axes import letters_of

MAX_LABEL = 65_535
_MOSTLY = 0.5  # a cube of which less lies in the mask is left out


@dataclass(frozen=True, eq=False)
class Regions:
    """`of_voxel`: 0 for a voxel that counts nowhere, else the number of its region, from 1. Uint16, the first
    axis fastest. `names`: what each region is called."""

    of_voxel: npt.NDArray[np.uint16]
    names: tuple[str, ...]


def of_labels(labels: npt.NDArray[np.float64], *, mask: str) -> Regions:
    """A region for each whole number above zero of a mask."""
    if not np.all(np.isfinite(labels)) or np.any(labels != np.rint(labels)):
        raise PipelineError(f"the mask {mask} holds voxels that are no whole numbers")
    if labels.min() < 0 or labels.max() > MAX_LABEL:
        raise PipelineError(f"the mask {mask} holds labels outside 0 to {MAX_LABEL}")
    found = np.unique(labels)
    found = found[found > 0]
    if not found.size:
        raise PipelineError(f"the mask {mask} holds no label above zero")
    numbers = np.where(labels > 0, np.searchsorted(found, labels) + 1, 0)
    return Regions(numbers.astype(np.uint16), tuple(f"label[{int(label)}]" for label in found))


def of_cubes(dims: tuple[int, ...], edge: int, inside: npt.NDArray[np.bool_] | None) -> Regions:
    """Cubes of `edge` voxels a side, those at the far ends cut; with a mask, only voxels inside count."""
    sides = (*dims, 1, 1)[:3]
    along = [np.arange(side) // edge for side in sides]
    counts = [-(-side // edge) for side in sides]
    if math.prod(counts) > MAX_LABEL:
        raise PipelineError(
            f"{math.prod(dims)} voxels make {math.prod(counts)} cubes of {edge} a side; average more"
        )
    cube = (along[0] + counts[0] * (along[1][:, None] + counts[1] * along[2][:, None, None])).reshape(-1)
    whole = np.bincount(cube, minlength=math.prod(counts))
    member = np.ones(cube.size, dtype=bool) if inside is None else inside
    taken = np.bincount(cube, weights=member, minlength=whole.size) >= _MOSTLY * whole
    if inside is not None:
        taken &= np.bincount(cube, weights=member, minlength=whole.size) > 0
    number = np.cumsum(taken) * taken
    if not taken.any():
        raise PipelineError("no cube lies mostly inside the mask; average less, or draw the mask larger")
    names = tuple(f"cube {_place(int(index), counts)}" for index in np.flatnonzero(taken))
    return Regions(np.where(member, number[cube], 0).astype(np.uint16), names)


def read_mask(mask: str, content: bytes, volume: nifti.Header) -> npt.NDArray[np.float64]:
    """The voxels of a mask. Raises PipelineError unless it lies on the same grid as the volume, and its axes
    lead to the same sides where both say, from the same place where both have one."""
    header, voxels = nifti.read(mask, content)
    if header.dims != volume.dims:
        raise PipelineError(
            f"the mask {mask} has {_size(header.dims)} voxels, the volume {_size(volume.dims)}"
        )
    theirs, ours = (letters_of(each.affine) if each.affine else None for each in (header, volume))
    if theirs and ours and theirs != ours:
        raise PipelineError(f"the mask {mask} leads to {theirs} and the volume to {ours}; turn the mask")
    if _stand_apart(header, volume):
        raise PipelineError(
            f"the mask {mask} stands elsewhere than the volume: its affine is another; resample the mask"
        )
    return voxels


def _stand_apart(mask: nifti.Header, volume: nifti.Header) -> bool:
    """Whether both have a place, and not the same."""
    one, other = mask.affine, volume.affine
    if one is None or other is None or placing.is_placeless(one) or placing.is_placeless(other):
        return False
    return not placing.lies_alike(one, other, placing.of_space(volume.dims))


def means(regions: Regions, voxels: npt.NDArray[np.float64]) -> list[float | None]:
    """The mean of the finite voxels of each region; None where there are none. The same voxels give the same
    numbers on every machine: they are added in their order."""
    finite = np.isfinite(voxels)
    numbers = np.where(finite, regions.of_voxel, 0)
    size = len(regions.names) + 1
    counts = np.bincount(numbers, minlength=size)[1:]
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.bincount(numbers, weights=np.where(finite, voxels, 0.0), minlength=size)[1:]
    return [
        float(total) / int(count) if count and math.isfinite(total) else None
        for total, count in zip(sums, counts, strict=True)
    ]


def spread(regions: Regions, numbers: list[float]) -> npt.NDArray[np.float64]:
    """A volume with each region's number in its voxels, and zero elsewhere."""
    return np.asarray([0.0, *numbers])[regions.of_voxel]


def edge_for(dims: tuple[int, ...], most: int) -> int:
    """The smallest edge of cubes with which at most `most` numbers are left."""
    return next(
        edge for edge in range(1, max(dims) + 1) if math.prod(-(-side // edge) for side in dims) <= most
    )


def _place(index: int, counts: list[int]) -> str:
    x, rest = index % counts[0], index // counts[0]
    return f"{x},{rest % counts[1]},{rest // counts[1]}"


def _size(dims: tuple[int, ...]) -> str:
    return "x".join(map(str, dims))
