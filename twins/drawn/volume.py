"""Volumes for a twin: the declared grid and type, voxels drawn at random inside the declared bounds."""

from __future__ import annotations

import gzip
import math
import random
from typing import Literal

import numpy as np

from formats import nifti

VolumeKind = Literal["u1", "i1", "u2", "i2", "u4", "i4", "f4", "f8"]


def make_volume(
    shape: tuple[int, ...],
    *,
    kind: VolumeKind,
    lower: float,
    upper: float,
    draw: random.Random,
    zooms: tuple[float, ...] = (1.0, 1.0, 1.0),
    compressed: bool = False,
) -> bytes:
    """A NIfTI-1 file of `shape` voxels (3 or 4 axes), each drawn uniformly from [lower, upper].

    Whole-number types round. Equal states of `draw` give equal bytes. Raises ValueError for a shape that is
    none, or for bounds that the type cannot hold.
    """
    voxels = math.prod(shape)
    stored = np.dtype(kind)
    if not 1 <= len(shape) <= 4 or min(shape) < 1 or voxels * stored.itemsize > nifti.MAX_VOLUME_BYTES:
        raise ValueError(f"a twin's volume has 1 to 4 axes and at most {nifti.MAX_VOLUME_BYTES} bytes")
    if stored.kind in "ui" and (lower < np.iinfo(stored).min or upper > np.iinfo(stored).max):
        raise ValueError(f"voxels of type {kind} cannot hold all of {lower} to {upper}")
    shares = np.frombuffer(draw.randbytes(4 * voxels), dtype="<u4") / 2**32
    values = lower + shares * (upper - lower)
    if stored.kind in "ui":
        values = np.floor(values + 0.5).clip(math.ceil(lower), math.floor(upper))
    content = (
        nifti.new_header(shape, kind=kind, zooms=zooms) + values.astype(stored.newbyteorder("<")).tobytes()
    )
    return gzip.compress(content, mtime=0) if compressed else content
