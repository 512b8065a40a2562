"""NIfTI-1 and NIfTI-2 files in one piece (`.nii`, `.nii.gz`): read from hostile bytes, written from numbers.

Layouts as in the NIfTI-1.1 and NIfTI-2 standards (nifti1.h, nifti2.h). Every size is checked before anything
of that size is made. Of a header that was read, only where the voxels lie and how they scale is ever used.
"""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from domain.errors import PipelineError
from formats import nifti_axes

MAX_CONTENT_BYTES = 32 * 1024 * 1024
MAX_VOLUME_BYTES = 64 * 1024 * 1024
MAX_EXTENSION_BYTES = 1024 * 1024
"""Between the header and the voxels, where it is known how many these are."""

HEAD_BYTES = 4096
"""As much of a file as is ever looked at for its grid alone."""

Order = Literal["<", ">"]
_SECONDS = {0: 1.0, 8: 1.0, 16: 1e-3, 24: 1e-6}
"""xyzt_units: unknown, which BIDS and its validator read as seconds, seconds, milliseconds, microseconds."""
_KINDS = {
    2: "u1", 4: "i2", 8: "i4", 16: "f4", 64: "f8", 256: "i1", 512: "u2", 768: "u4", 1024: "i8", 1280: "u8",
}  # fmt: skip
CODES = {kind: code for code, kind in _KINDS.items()}
_END_OF_HEADER = 4  # "no extensions follow"


@dataclass(frozen=True)
class _Layout:
    """Where the fields of one version lie: offset and struct code."""

    size: int
    magic: tuple[int, bytes]
    dim: tuple[int, str]
    datatype: int
    pixdim: tuple[int, str]
    vox_offset: tuple[int, str]
    scale: tuple[int, str]
    kept: tuple[tuple[int, int], ...]  # voxel sizes, units and the two transforms: start and end


_ONE = _Layout(
    size=348,
    magic=(344, b"n+1\0"),
    dim=(40, "8h"),
    datatype=70,
    pixdim=(76, "8f"),
    vox_offset=(108, "f"),
    scale=(112, "2f"),
    kept=((40, 56), (76, 108), (123, 124), (252, 328)),
)
_TWO = _Layout(
    size=540,
    magic=(4, b"n+2\0\r\n\x1a\n"),
    dim=(16, "8q"),
    datatype=12,
    pixdim=(104, "8d"),
    vox_offset=(168, "q"),
    scale=(176, "2d"),
    kept=((16, 80), (104, 168), (344, 496), (500, 504)),
)


@dataclass(frozen=True)
class Grid:
    """What the first bytes of a file say of its voxels: numbers only, none of its words. `zooms` in mm;
    `seconds` from one volume to the next, `axes` such as RAS and `affine`, where the file says so."""

    dims: tuple[int, ...]
    kind: str
    zooms: tuple[float, float, float]
    seconds: float | None
    axes: str | None
    affine: nifti_axes.Affine | None


@dataclass(frozen=True)
class Header:
    """What is known of a file before its voxels. `dims`: voxels along each axis, without trailing ones."""

    raw: bytes
    layout: _Layout
    order: Order
    dims: tuple[int, ...]
    kind: str
    start: int
    slope: float
    inter: float

    @property
    def voxels(self) -> int:
        return math.prod(self.dims)

    @property
    def affine(self) -> nifti_axes.Affine | None:
        return nifti_axes.read_affine(self.raw, self.order, is_second=self.layout is _TWO)


def read(
    file: str, content: bytes, *, dims: tuple[int, ...] | None = None
) -> tuple[Header, npt.NDArray[np.float64]]:
    """Header and scaled voxels, the first axis fastest. Raises PipelineError for anything else.

    With `dims` also for other dimensions in space, in whatever order, before a voxel is looked at: nothing
    is spent on a larger grid.
    """
    if len(content) > MAX_CONTENT_BYTES:
        raise PipelineError(f"{file} is larger than {MAX_CONTENT_BYTES} bytes")
    plain = _inflate(file, content, most=_most_bytes(dims)) if file.endswith(".gz") else content
    header = _header(file, plain)
    if dims and [*sorted(dims[:3]), *dims[3:]] != [*sorted(header.dims[:3]), *header.dims[3:]]:
        raise PipelineError(f"{file} has other dimensions than it must: {_size(header.dims)} voxels")
    stored = np.dtype(header.kind).newbyteorder(header.order)
    if len(plain) - header.start < header.voxels * stored.itemsize:
        raise PipelineError(f"{file} ends before its last voxel")
    with np.errstate(over="ignore", invalid="ignore"):  # a signalling NaN must not make a line in a log
        voxels = np.frombuffer(plain, dtype=stored, count=header.voxels, offset=header.start).astype(
            np.float64
        )
        if header.slope not in (0.0, 1.0) or header.inter:
            voxels *= header.slope or 1.0  # in place: there may be many
            voxels += header.inter if header.slope else 0.0
    return header, voxels


def read_grid(file: str, head: bytes) -> Grid:
    """Of the first HEAD_BYTES or more of a file, packed or not. Nothing behind the header is looked at, so
    the volume may be of any size. Raises PipelineError for what is no header."""
    if file.endswith(".gz"):
        try:
            head = zlib.decompressobj(wbits=31).decompress(head[:HEAD_BYTES], HEAD_BYTES)
        except zlib.error:
            raise PipelineError(f"{file} is not a gzip file") from None
    layout, order = _layout(file, head)
    rank, *sides = struct.unpack_from(order + layout.dim[1], head, layout.dim[0])
    if not 1 <= rank <= 7 or any(side < 1 for side in sides[:rank]):
        raise PipelineError(f"{file} has no sound dimensions")
    (datatype,) = struct.unpack_from(f"{order}h", head, layout.datatype)
    if datatype not in _KINDS:
        raise PipelineError(f"{file} has voxels of type {datatype}, not of real numbers")
    steps = struct.unpack_from(order + layout.pixdim[1], head, layout.pixdim[0])[1:5]
    # a step of 0, or none, is what writers leave who do not know it
    sizes = [abs(step) if math.isfinite(step) and step else 1.0 for step in steps]
    place, form = (500, f"{order}i") if layout is _TWO else (123, "B")
    (units,) = struct.unpack_from(form, head, place)
    scale = _SECONDS.get(units & 0x38)
    is_timed = rank > 3 and sides[3] > 1 and scale is not None and bool(steps[3])
    seconds = sizes[3] * scale if is_timed and scale else None
    affine = nifti_axes.read_affine(head, order, is_second=layout is _TWO)
    axes = nifti_axes.letters_of(affine) if affine else None
    dims, zooms = _trimmed(sides[:rank]), (sizes[0], sizes[1], sizes[2])
    return Grid(dims, _KINDS[datatype], zooms, seconds, axes, affine)


def blank_header(header: Header) -> bytes:
    """A header for float64 voxels on the same grid in space, and without a word of the file's own."""
    layout, order = header.layout, header.order
    made = bytearray(layout.size)
    struct.pack_into(f"{order}i", made, 0, layout.size)
    for start, end in layout.kept:
        made[start:end] = header.raw[start:end]
    struct.pack_into(f"{order}2h", made, layout.datatype, CODES["f8"], 64)
    struct.pack_into(order + layout.vox_offset[1], made, layout.vox_offset[0], layout.size + _END_OF_HEADER)
    struct.pack_into(order + layout.scale[1], made, layout.scale[0], 1, 0)
    start, magic = layout.magic
    made[start : start + len(magic)] = magic
    return bytes(made)


def parse_blank(file: str, raw: bytes) -> Header:
    """A header that `blank_header` made. Raises PipelineError for any other."""
    header = _header(file, raw + bytes(_END_OF_HEADER))
    if blank_header(header) != raw:
        raise PipelineError(f"the header of {file} is not as a run on the twin locks it")
    return header


def write(file: str, raw: bytes, voxels: npt.NDArray[np.float64]) -> bytes:
    """A file of this blank header and these voxels; the same bytes whenever it is written."""
    order = parse_blank(file, raw).order
    content = raw + bytes(_END_OF_HEADER) + voxels.astype(np.dtype("f8").newbyteorder(order)).tobytes()
    return gzip.compress(content, mtime=0) if file.endswith(".gz") else content


def new_header(
    dims: tuple[int, ...],
    *,
    kind: str,
    zooms: tuple[float, ...],
    seconds: float | None = None,
    affine: nifti_axes.Affine | None = None,
) -> bytes:
    """A NIfTI-1 header, little endian; its affine scales unless it is given. `zooms`: edge of a voxel in mm.

    With `seconds`, the time from one volume to the next along the fourth axis.
    """
    made = bytearray(_ONE.size)
    struct.pack_into("<i", made, 0, _ONE.size)
    struct.pack_into("<8h", made, 40, len(dims), *dims, *[1] * (7 - len(dims)))
    struct.pack_into("<2h", made, 70, CODES[kind], 8 * np.dtype(kind).itemsize)
    struct.pack_into("<8f", made, 76, 1, *zooms, *[1] * (7 - len(zooms)))
    struct.pack_into("<3f", made, 108, _ONE.size + _END_OF_HEADER, 1, 0)
    struct.pack_into("<B", made, 123, 2)  # millimetres
    if seconds is not None:
        struct.pack_into("<f", made, 92, seconds)
        struct.pack_into("<B", made, 123, 2 + 8)  # millimetres and seconds
    struct.pack_into("<2h", made, 252, 0, 2)  # the affine of the rows below, aligned to some anatomy
    for way, row in enumerate(affine or nifti_axes.affine_rows("RAS", (*zooms, 1, 1, 1)[:3])):
        struct.pack_into(f"<{len(row)}f", made, 280 + 16 * way, *row)
    made[344:348] = b"n+1\0"
    return bytes(made) + bytes(_END_OF_HEADER)


def _most_bytes(dims: tuple[int, ...] | None) -> int:
    """Of an unpacked file: with so many voxels of the widest kind, or of any."""
    if dims is None:
        return MAX_VOLUME_BYTES + _TWO.size
    return min(MAX_VOLUME_BYTES, 8 * math.prod(dims) + MAX_EXTENSION_BYTES) + _TWO.size


def _inflate(file: str, content: bytes, *, most: int) -> bytes:
    inflater = zlib.decompressobj(wbits=31)
    try:
        plain = inflater.decompress(content, most + 1)
    except zlib.error:
        raise PipelineError(f"{file} is not a gzip file") from None
    if inflater.unconsumed_tail or len(plain) > most:
        raise PipelineError(f"{file} is larger than {most} bytes once unpacked")
    if not inflater.eof or inflater.unused_data:
        raise PipelineError(f"{file} is not one whole gzip file")
    return plain


def _header(file: str, plain: bytes) -> Header:
    layout, order = _layout(file, plain)
    offset, code = layout.dim
    rank, *sides = struct.unpack_from(order + code, plain, offset)
    if not 1 <= rank <= 7 or any(side < 1 for side in sides[:rank]):
        raise PipelineError(f"{file} has no sound dimensions")
    (datatype,) = struct.unpack_from(f"{order}h", plain, layout.datatype)
    if datatype not in _KINDS:
        raise PipelineError(f"{file} has voxels of type {datatype}; write real numbers of 1 to 8 bytes")
    kind = _KINDS[datatype]
    if math.prod(sides[:rank]) * np.dtype(kind).itemsize > MAX_VOLUME_BYTES:
        raise PipelineError(
            f"{file} has {math.prod(sides[:rank])} voxels, more than fit into {MAX_VOLUME_BYTES} bytes"
        )
    slope, inter = struct.unpack_from(order + layout.scale[1], plain, layout.scale[0])
    if not math.isfinite(slope):
        slope = 0.0  # as readers of the format have it: then nothing is scaled
    if not math.isfinite(inter):
        raise PipelineError(f"{file} has an intercept that is no number")
    start = _start(file, plain, layout, order)
    return Header(plain[: layout.size], layout, order, _trimmed(sides[:rank]), kind, start, slope, inter)


def _layout(file: str, plain: bytes) -> tuple[_Layout, Order]:
    for layout in (_ONE, _TWO):
        offset, magic = layout.magic
        if len(plain) < layout.size + _END_OF_HEADER or plain[offset : offset + len(magic)] != magic:
            continue
        orders: tuple[Order, Order] = ("<", ">")
        for order in orders:
            if struct.unpack_from(f"{order}i", plain)[0] == layout.size:
                return layout, order
    raise PipelineError(f"{file} is not a NIfTI file in one piece")


def _start(file: str, plain: bytes, layout: _Layout, order: Order) -> int:
    (found,) = struct.unpack_from(order + layout.vox_offset[1], plain, layout.vox_offset[0])
    if (
        not math.isfinite(found)
        or not layout.size + _END_OF_HEADER <= found <= len(plain)
        or found != int(found)
    ):
        raise PipelineError(f"{file} says that its voxels start where they cannot")
    return int(found)


def _trimmed(sides: list[int]) -> tuple[int, ...]:
    """Axes of one voxel at the end say nothing; three axes stay."""
    while len(sides) > 3 and sides[-1] == 1:
        sides = sides[:-1]
    return tuple(sides)


def _size(dims: tuple[int, ...]) -> str:
    return "x".join(map(str, dims))
