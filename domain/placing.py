"""Where a volume's voxels lie in space, and whether two volumes lie alike.

An affine leads from the numbers of a voxel to millimetres right, front and up. A volume whose axes run in
another order or in other directions through the very same voxels is turned, exactly; nothing is resampled.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from formats.nifti_axes import Affine, letters_of

Voxels = npt.NDArray[np.float64]

TOLERANCE = 0.1
"""Of the smallest edge of a voxel: how far apart the corners of two volumes that lie alike may be."""

PLACED = (
    "Volumes stand where the twin's do. Those of a run count if their headers say the same place, within a "
    "tenth of a voxel, or the same voxels with axes in another order or direction, which is undone exactly; "
    "any other run counts as failed."
)
UNPLACED = (
    "Volumes lead where the twin's do. Those of a run count if their voxels are as large; axes in another "
    "order or direction are undone exactly; any other run counts as failed. The twin's volume has no place "
    "of its own, so nothing was compared with its origin, and that of the released one means nothing."
)
UNSAID = (
    "Neither the twin's volume nor those of runs that count say where their axes lead: which side of the "
    "released one is left is not known."
)


@dataclass(frozen=True)
class Turn:
    """How to bring another volume's voxels into the order of ours: our axis number i is its axis `axes[i]`,
    gone through backwards where `flips[i]`."""

    axes: tuple[int, ...]
    flips: tuple[bool, ...]

    def dims(self, dims: Sequence[int]) -> tuple[int, ...]:
        """The dimensions afterwards."""
        dims = of_space(dims)
        return (*(dims[axis] for axis in self.axes), *dims[3:])

    def apply(self, voxels: Voxels, dims: Sequence[int]) -> Voxels:
        """Voxels with the first axis fastest, before and after. `dims` are the other's."""
        if self == AS_IT_IS:
            return voxels
        dims = of_space(dims)
        rest = tuple(range(3, len(dims)))
        block = voxels.reshape(dims, order="F").transpose(*self.axes, *rest)
        steps = tuple(slice(None, None, -1 if flip else 1) for flip in self.flips)
        return block[steps].reshape(-1, order="F")


AS_IT_IS = Turn((0, 1, 2), (False, False, False))


def of_space(dims: Sequence[int]) -> tuple[int, ...]:
    """With three axes or more."""
    return (*dims, *(1,) * (3 - len(dims)))


def promise(affine: Affine | None) -> str:
    """What is compared of a run's volume with that of the run on the twin, for whoever reads the release."""
    if affine is None:
        return UNSAID
    return UNPLACED if is_placeless(affine) else PLACED


# a header of huge numbers must not make a line in a log
@np.errstate(over="ignore", invalid="ignore")
def lies_alike(one: Affine, other: Affine, dims: Sequence[int]) -> bool:
    """Whether a grid of these dimensions has all its corners in the same places under both."""
    return _are_near(_matrix(one), _matrix(other), dims)


@np.errstate(over="ignore", invalid="ignore")
def find_turn(ours: Affine | None, theirs: Affine | None, dims: Sequence[int]) -> Turn | None:
    """What makes of their voxels ours, `dims` being their dimensions; None where nothing exact does.

    An affine that no declaration stands behind, upright and from the origin, has no place: then only
    directions and sizes are compared. Two volumes that both say nothing are taken as they are.
    """
    dims = of_space(dims)
    if ours is None or theirs is None:
        return AS_IT_IS if ours is theirs else None
    if is_placeless(ours):
        return _by_directions(ours, theirs, dims)
    our, their = _matrix(ours), _matrix(theirs)
    for turn in _TURNS:
        if _are_near(our @ _undone(turn, dims), their, dims):
            return turn
    return None


def is_placeless(affine: Affine) -> bool:
    """Upright, and voxel 0, 0, 0 at the origin: what a header says whose writer knew directions alone."""
    matrix = _matrix(affine)
    upright = all(np.count_nonzero(matrix[:3, axis]) == 1 for axis in range(3))
    return upright and not matrix[:3, 3].any()


def _by_directions(ours: Affine, theirs: Affine, dims: Sequence[int]) -> Turn | None:
    our, their = letters_of(ours), letters_of(theirs)
    if our is None or their is None:
        return None
    pairs = [next(pair for pair in ("RL", "AP", "SI") if letter in pair) for letter in our]
    axes = tuple(next(at for at, letter in enumerate(their) if letter in pair) for pair in pairs)
    sizes = _edges(_matrix(theirs))[list(axes)]
    apart = np.abs(sizes - _edges(_matrix(ours))) * np.array([dims[axis] for axis in axes])
    if not _within(apart, sizes):
        return None
    return Turn(axes, tuple(their[axis] != letter for axis, letter in zip(axes, our, strict=True)))


def _undone(turn: Turn, dims: Sequence[int]) -> npt.NDArray[np.float64]:
    """From the numbers of their voxels to those of ours."""
    found = np.zeros((4, 4))
    found[3, 3] = 1
    for ours, (theirs, flip) in enumerate(zip(turn.axes, turn.flips, strict=True)):
        found[ours, theirs] = -1 if flip else 1
        found[ours, 3] = dims[theirs] - 1 if flip else 0
    return found


def _are_near(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64], dims: Sequence[int]) -> bool:
    corners = np.array(
        [(*corner, 1) for corner in itertools.product(*((0, side - 1) for side in dims[:3]))]
    ).T
    apart = np.linalg.norm(((one - other) @ corners)[:3], axis=0)
    return _within(apart, np.concatenate([_edges(one), _edges(other)]))


def _within(apart: npt.NDArray[np.float64], edges: npt.NDArray[np.float64]) -> bool:
    # an edge without end would be near to everything; of one that rounds to nothing, the distance does too
    is_sound = np.isfinite(edges).all() and edges.min() > 0
    return bool(is_sound and (apart <= TOLERANCE * edges.min()).all())


def _edges(matrix: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    lengths: npt.NDArray[np.float64] = np.linalg.norm(matrix[:3, :3], axis=0)
    return lengths


def _matrix(affine: Affine) -> npt.NDArray[np.float64]:
    return np.array([*affine, (0, 0, 0, 1)], np.float64)


_TURNS = tuple(
    Turn(axes, flips)
    for axes in itertools.permutations(range(3))
    for flips in itertools.product((False, True), repeat=3)
)
