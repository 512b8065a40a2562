"""Volumes for a twin that are made slice by slice, from what is declared: nothing in them, or a phantom.

Memory stays that of one slice, or of one volume of several. The phantom is an ellipsoid of a brain's size in
the middle of the grid: masks, registrations and models of the time course find something to work on. A
sketch is one of which few rows differ, so that long series pack to little. No voxel stands still in it, so
what divides by a spread runs on it as on the original.
"""

from __future__ import annotations

import math
import random
import zlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from domain.dataset import TwinVolume
from formats import nifti

Slice = NDArray[np.float64]

_PIECE = bytes(2**20)
_LEVEL = 1  # of gzip: larger by a tenth, and several times as fast
_LEVEL_OF_SKETCH = 6  # finds rows that come back, and is as fast where they do
_ALIKE = 4  # planes in a row, of a sketch
_HALF_AXES = {"RL": 68.0, "AP": 82.0, "SI": 62.0}
"""Of a brain from its middle, in mm: to the sides, front and back, up and down."""
_WIDEST = 0.45  # of the grid along an axis, where that is smaller
_OUTSIDE, _RIM, _INSIDE, _HOLLOW = 0.04, 0.55, 0.8, 0.25
_RIM_FROM, _HOLLOW_TO = 0.7, 0.04
_NOISE = 0.06
_LEVELS = 16
_BLOCK_SECONDS, _COURSE = 20.0, 0.04
_DRIFT = 0.01


def make_file(volume: TwinVolume, draw: random.Random, *, compressed: bool) -> bytes:
    """A NIfTI-1 file of this grid. Equal states of `draw` give equal bytes."""
    zooms = volume.zooms if volume.repetition_time is None else (*volume.zooms, volume.repetition_time)
    header = nifti.new_header(
        volume.shape,
        kind=volume.kind,
        zooms=zooms,
        seconds=volume.repetition_time,
        affine=volume.rows,
    )
    makers = {"zeros": _zeros, "noise": _plain_noise, "phantom": _phantom, "sketch": _sketch}
    pieces = makers[volume.fill](volume, draw)
    if not compressed:
        return b"".join((header, *pieces))
    packer = zlib.compressobj(_LEVEL_OF_SKETCH if volume.fill == "sketch" else _LEVEL, wbits=31)
    return b"".join((packer.compress(header), *map(packer.compress, pieces), packer.flush()))


def _zeros(volume: TwinVolume, _draw: random.Random) -> Iterator[bytes]:
    for start in range(0, volume.size, len(_PIECE)):
        yield _PIECE[: volume.size - start]


def _plain_noise(volume: TwinVolume, draw: random.Random) -> Iterator[bytes]:
    plane = volume.shape[0] * volume.shape[1]
    for _ in range(math.prod(volume.shape[2:])):
        yield _stored(volume, np.frombuffer(draw.randbytes(4 * plane), dtype="<u4") / 2**32)


def _phantom(volume: TwinVolume, draw: random.Random) -> Iterator[bytes]:
    """Slice by slice, the last axis slowest. Each voxel is a share of the way between the bounds."""
    for course, drift in _times(volume, draw):
        for still, active in _slices(volume):
            shares = still * drift + _noise(still.shape, draw)
            yield _stored(volume, shares + course * active)


def _sketch(volume: TwinVolume, draw: random.Random) -> Iterator[bytes]:
    """The phantom with four rows of noise, above, below, in front and behind. Planes are alike by four."""
    wide, deep, high = volume.shape[:3]
    middles = {min(start + _ALIKE // 2, high - 1) for start in range(0, high, _ALIKE)}
    planes = [(number, *plane) for number, plane in enumerate(_slices(volume)) if number in middles]
    halves = np.arange(deep) * 2 // deep
    for course, drift in _times(volume, draw):
        noise = _noise((2, 2, wide), draw)
        left = high
        for number, still, active in planes:
            shares = still * drift + noise[number * 2 // high][halves] + course * active
            yield _stored(volume, shares) * min(_ALIKE, left)
            left -= _ALIKE


def _times(volume: TwinVolume, draw: random.Random) -> Iterator[tuple[float, float]]:
    """Of each volume in turn: what is added where the time course follows the blocks, and the drift."""
    times = volume.shape[3] if len(volume.shape) > 3 else 1
    step = volume.repetition_time or 1.0
    phase = draw.random()
    for time in range(times):
        wave = math.copysign(1.0, math.sin(2 * math.pi * (time * step / (2 * _BLOCK_SECONDS) + phase)))
        yield (_COURSE * wave if times > 1 else 0.0), 1 + _DRIFT * time / times


def _slices(volume: TwinVolume) -> Iterator[tuple[Slice, Slice]]:
    """Of one volume: the tissue of each slice, and where its time course follows the blocks."""
    halves = [half for letter in volume.axes for ways, half in _HALF_AXES.items() if letter in ways]
    grid = zip(volume.shape[:3], volume.zooms, halves, strict=True)
    away = [_distances(side, zoom, half) for side, zoom, half in grid]
    right = np.arange(volume.shape[0])[None, :] * 2 > volume.shape[0]
    for height in away[2]:
        square = away[0][None, :] + away[1][:, None] + height
        tissue = np.select(
            [square > 1, square > _RIM_FROM, square < _HOLLOW_TO], [_OUTSIDE, _RIM, _HOLLOW], _INSIDE
        )
        yield tissue, ((square <= _RIM_FROM) & right).astype(np.float64)


def _distances(side: int, zoom: float, half: float) -> Slice:
    """Squares of the distance from the middle, in half axes of the ellipsoid."""
    from_middle = (np.arange(side) - (side - 1) / 2) * zoom
    squares: Slice = np.square(from_middle / min(half, max(_WIDEST * side * zoom, zoom)))
    return squares


def _noise(shape: tuple[int, ...], draw: random.Random) -> Slice:
    """Of few levels, which packs well, and with the same seed the same."""
    drawn = np.frombuffer(draw.randbytes(math.prod(shape)), dtype=np.uint8) % _LEVELS
    noise: Slice = ((drawn / (_LEVELS - 1) - 0.5) * _NOISE).reshape(shape)
    return noise


def _stored(volume: TwinVolume, shares: Slice) -> bytes:
    shares = shares.clip(0, 1)
    values = volume.lower * (1 - shares) + volume.upper * shares  # their difference may be beyond any float
    kind = np.dtype(volume.kind)
    if kind.kind in "ui":
        values = np.rint(values).clip(math.ceil(volume.lower), math.floor(volume.upper))
    return values.astype(kind.newbyteorder("<")).tobytes()
