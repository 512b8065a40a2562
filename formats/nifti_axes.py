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
_CODES = frozenset(range(6))
"""Of transforms; 0: there is none."""

_FLAT = 1e-3
"""The volume between three axes of length 1, below which they lie in one plane."""


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
    """Of a header that is long enough; None where it does not say, says nonsense, or its two transforms lead
    to other sides: programs differ in which of them they take, and in what they make of an unknown code."""
    codes, number, start = ("2i", "d", 344) if is_second else ("2h", "f", 252)
    by_quaternion, by_rows = struct.unpack_from(order + codes, head, start)
    if not {by_quaternion, by_rows} <= _CODES:
        return None
    start += 8 if is_second else 4
    found = []
    if by_rows:
        numbers = struct.unpack_from(f"{order}12{number}", head, start + 6 * struct.calcsize(f"<{number}"))
        found.append(_sound([numbers[:4], numbers[4:8], numbers[8:12]]))
    if by_quaternion:
        found.append(_turned(head, f"{order}%d{number}", start, is_second=is_second))
    axes = {letters_of(each) if each else None for each in found}
    return found[0] if len(axes) == 1 else None


def _turned(head: bytes, form: str, start: int, *, is_second: bool) -> Affine | None:
    """By the quaternion, whose first number lies at `start`. An edge of a voxel below zero is nonsense:
    some programs go backwards then, others do not."""
    flip, *zooms = struct.unpack_from(form % 4, head, 104 if is_second else 76)
    if min(zooms) < 0:
        return None
    quaternion, origin = (struct.unpack_from(form % 6, head, start)[at : at + 3] for at in (0, 3))
    turned = _rotation(quaternion, flip)
    scaled = [[share * zoom for share, zoom in zip(row, zooms, strict=True)] for row in turned]
    return _sound([[*row, offset] for row, offset in zip(scaled, origin, strict=True)])


def _sound(rows: Rows) -> Affine | None:
    affine = tuple(tuple(row) for row in rows)
    is_finite = all(math.isfinite(number) for row in affine for number in row)
    return affine if is_finite and closest([row[:3] for row in affine]) else None


def closest(rows: Rows) -> str | None:
    """Letters of the directions nearest to the axes of the voxels, each pair once; None where they do not
    span space: an axis would get a letter that nothing says."""
    lengths = [math.hypot(*(row[axis] for row in rows)) for axis in range(3)]
    if not all(math.isfinite(length) and length > 0 for length in lengths):
        return None
    unit = [[row[axis] / lengths[axis] for axis in range(3)] for row in rows]
    if abs(_volume(unit)) < _FLAT:
        return None
    shares = {(axis, way): unit[way][axis] for axis in range(3) for way in range(3)}
    found: dict[int, str] = {}
    taken: set[int] = set()
    for axis, way in sorted(shares, key=lambda place: -abs(shares[place])):
        if axis not in found and way not in taken:
            found[axis] = _LETTERS[way][shares[axis, way] < 0]
            taken.add(way)
    return "".join(found[axis] for axis in range(3))


def _volume(rows: Rows) -> float:
    """The determinant."""
    (a, b, c), (d, e, f), (g, h, i) = rows
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


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
