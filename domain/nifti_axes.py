"""Where the axes of a NIfTI volume lead: to the Right or Left, Anterior or Posterior, Superior or Inferior.

NIfTI-1.1 and NIfTI-2 standards (nifti1.h: "method 2" by a quaternion, "method 3" by rows of an affine).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

Rows = Sequence[Sequence[float]]
Affine = tuple[tuple[float, ...], ...]
"""Three rows of four: millimetres to the right, front and up, for a step along each axis and at voxel 0."""

PATTERN = "^([RL][AP][SI]|[RL][SI][AP]|[AP][RL][SI]|[AP][SI][RL]|[SI][RL][AP]|[SI][AP][RL])$"
"""One letter for each axis of the voxels, as in RAS."""

_LETTERS = ("RL", "AP", "SI")


def letters_of(affine: Affine) -> str | None:
    """Where the axes of the voxels lead, as in RAS; None where an affine is none."""
    return closest([row[:3] for row in affine])


def affine_rows(orientation: str, zooms: Sequence[float]) -> tuple[tuple[float, ...], ...]:
    """Three rows of three: millimetres to the right, front and up for a step along each axis."""
    return tuple(
        tuple(
            zoom * (1, -1)[letters.index(letter)] if letter in letters else 0.0
            for letter, zoom in zip(orientation, zooms, strict=True)
        )
        for letters in _LETTERS
    )


def read_affine(head: bytes, order: str, *, is_second: bool) -> Affine | None:
    """Of a header that is long enough; None where it does not say, or says nonsense."""
    codes, number, start = ("2i", "d", 344) if is_second else ("2h", "f", 252)
    by_quaternion, by_rows = struct.unpack_from(order + codes, head, start)
    start += 8 if is_second else 4
    width = struct.calcsize(f"<{number}")
    if by_rows > 0:
        found = struct.unpack_from(f"{order}12{number}", head, start + 6 * width)
        return _sound([found[:4], found[4:8], found[8:12]])
    if by_quaternion > 0:
        flip, *zooms = struct.unpack_from(f"{order}4{number}", head, 104 if is_second else 76)
        turned = _rotation(struct.unpack_from(f"{order}3{number}", head, start), flip)
        origin = struct.unpack_from(f"{order}3{number}", head, start + 3 * width)
        scaled = [[share * zoom for share, zoom in zip(row, zooms, strict=True)] for row in turned]
        return _sound([[*row, offset] for row, offset in zip(scaled, origin, strict=True)])
    return None


def _sound(rows: Rows) -> Affine | None:
    affine = tuple(tuple(row) for row in rows)
    is_finite = all(math.isfinite(number) for row in affine for number in row)
    return affine if is_finite and closest([row[:3] for row in affine]) else None


def closest(rows: Rows) -> str | None:
    """Letters of the directions nearest to the axes of the voxels, each pair once."""
    lengths = [math.hypot(*(row[axis] for row in rows)) for axis in range(3)]
    if not all(math.isfinite(length) and length > 0 for length in lengths):
        return None
    shares = {(axis, way): rows[way][axis] / lengths[axis] for axis in range(3) for way in range(3)}
    found: dict[int, str] = {}
    taken: set[int] = set()
    for axis, way in sorted(shares, key=lambda place: -abs(shares[place])):
        if axis not in found and way not in taken:
            found[axis] = _LETTERS[way][shares[axis, way] < 0]
            taken.add(way)
    return "".join(found[axis] for axis in range(3))


def _rotation(quaternion: Sequence[float], flip: float) -> Rows:
    """Rows of the matrix of a unit quaternion without its real part."""
    b, c, d = quaternion
    a = math.sqrt(max(0.0, 1 - (b * b + c * c + d * d)))
    last = -1 if flip < 0 else 1
    return (
        (a * a + b * b - c * c - d * d, 2 * (b * c - a * d), last * 2 * (b * d + a * c)),
        (2 * (b * c + a * d), a * a + c * c - b * b - d * d, last * 2 * (c * d - a * b)),
        (2 * (b * d - a * c), 2 * (c * d + a * b), last * (a * a + d * d - c * c - b * b)),
    )
