"""Files of a data set that are no tables: those that each person has, and those that are the same for all."""

from __future__ import annotations

import base64
import binascii
import math
import re
from functools import cached_property
from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema, model_validator

from domain.dataset.twin_content import NOT_MADE, OTHER_RECORDINGS, TABLES, Share, TwinRecording, TwinTable
from domain.model import InsidePath, Model, Number, Whole
from formats.nifti_axes import PATTERN as ORIENTATION
from formats.nifti_axes import Affine, affine_rows, letters_of

PERSON = "{person}"
MAX_TEXT, MAX_ENCODED = 1_000_000, 12_000_000
MAX_VOXELS, MAX_BYTES_IN_PIECES, MAX_BYTES_UNPACKED = 16 * 2**20, 64 * 2**20, 2**30
VOLUMES = (".nii", ".nii.gz")


def _one_of_each(letters: str) -> str:
    if not re.fullmatch(ORIENTATION, letters):
        raise ValueError("must have one letter of R and L, one of A and P and one of S and I, such as RAS")
    return letters


VoxelKind = Literal["u1", "i1", "u2", "i2", "u4", "i4", "f4", "f8"]
_KINDS: dict[str, VoxelKind] = {
    "uint8": "u1", "int8": "i1", "uint16": "u2", "int16": "i2", "uint32": "u4", "int32": "i4",
    "float32": "f4", "float64": "f8",
}  # fmt: skip
VoxelType = Literal["uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float64"]
Orientation = Annotated[
    str, AfterValidator(_one_of_each), WithJsonSchema({"type": "string", "pattern": ORIENTATION})
]
Row = Annotated[tuple[Number, ...], Field(min_length=4, max_length=4)]
Fill = Literal["noise", "phantom", "sketch", "zeros"]
Axis = Annotated[Whole, Field(ge=1, le=1024)]
Size = Annotated[Number, Field(gt=0, le=1e6)]

_PACKED = {"noise": 1, "phantom": 2, "sketch": 75, "zeros": 150}  # times smaller in a .gz, about
_NEARLY = 1e-3
_A_PERSON = r"sub-[A-Za-z0-9+]+"


def _is_unset(value: object) -> bool:
    return value is None or value is False


def _is_as_ever(value: object) -> bool:
    """Twins are drawn from the digest of the declaration: a field that says nothing new stays out of it."""
    return value in (None, 0, "noise", "RAS")


def covers(place: str, path: str) -> bool:
    """Whether `path` is the file `place` or lies below the folder `place`; {person} stands for anybody."""
    return re.fullmatch(f"{_pattern(place)}(/.*)?", path, re.DOTALL) is not None


def leads_to(path: str, place: str) -> bool:
    """Whether `path` is the file or folder `place`, or a folder on the way there."""
    above = "/".join(place.split("/")[: path.count("/") + 1])
    return re.fullmatch(_pattern(above), path, re.DOTALL) is not None


def _pattern(place: str) -> str:
    return re.escape(place).replace(re.escape(PERSON), f"(?:{_A_PERSON}|{re.escape(PERSON)})")


class TwinVolume(Model):
    """A NIfTI volume for the twin: this grid, and voxels between these bounds.

    `zooms` are the millimetres of a voxel along the first three axes, `repetition_time` the seconds from one
    volume to the next, `orientation` where the first three axes lead, such as RAS or LPS; an `affine` says it
    to the millimetre, where all people's volumes lie on one grid. An import refuses people's volumes that lie
    otherwise, unless `any_orientation` says that they do. `fill`: `noise` is drawn at random, `phantom` an
    ellipsoid as large as a brain with noise, whose voxels change with time where there are several volumes,
    `sketch` the same with noise that comes back by rows and packs to a seventieth; `zeros` holds nothing.
    """

    shape: Annotated[tuple[Axis, ...], Field(min_length=3, max_length=4)]
    """Voxels along three or four axes."""
    dtype: VoxelType = "int16"
    """How a voxel is kept."""
    lower: Number
    """The smallest voxel."""
    upper: Number
    """The largest voxel."""
    zooms: Annotated[tuple[Size, ...], Field(min_length=3, max_length=3)] = (1, 1, 1)
    """Millimetres of a voxel along the first three axes."""
    repetition_time: Annotated[Size | None, Field(exclude_if=_is_as_ever)] = None
    """With four axes: seconds from one volume to the next."""
    orientation: Annotated[Orientation, Field(exclude_if=_is_as_ever)] = "RAS"
    """Where the first three axes lead: one letter of `R`/`L`, `A`/`P` and `S`/`I` each."""
    affine: Annotated[tuple[Row, ...] | None, Field(min_length=3, max_length=3, exclude_if=_is_unset)] = None
    """Where all people's volumes lie, in place of `orientation`: three rows of four numbers, millimetres to
    the right, front and up for a step along each axis and at the first voxel."""
    any_orientation: Annotated[bool, Field(exclude_if=_is_unset)] = False
    """People's volumes lead to several directions. The import then compares nothing."""
    fill: Annotated[Fill, Field(exclude_if=_is_as_ever)] = "noise"
    """`noise`: at random between the bounds. `phantom`: an ellipsoid as large as a brain, whose voxels change
    with time. `sketch`: one that packs to about a seventieth. `zeros`: nothing; packs to less."""

    @model_validator(mode="after")
    def _can_be_made(self) -> TwinVolume:
        if self.lower >= self.upper:
            raise ValueError("lower must be less than upper")
        if self.repetition_time is not None and len(self.shape) < 4:
            raise ValueError("repetition_time is for a shape of four axes; remove it")
        if self.fill == "zeros":
            return self  # 0 is what they are, whatever the bounds
        if self.fill == "noise" and math.prod(self.shape) > MAX_VOXELS:
            raise ValueError(f"the volume has {math.prod(self.shape)} voxels, more than {MAX_VOXELS}")
        bits = 8 * int(self.kind[1])
        least, most = {"u": (0, 2**bits - 1), "i": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)}.get(
            self.kind[0], (-math.inf, math.inf)
        )
        if self.lower < least or self.upper > most:
            raise ValueError(f"voxels of type {self.dtype} cannot hold all of {self.lower} to {self.upper}")
        return self

    @model_validator(mode="after")
    def _lies_in_one_place(self) -> TwinVolume:
        if self.affine is None:
            return self
        if self.any_orientation:
            raise ValueError("an affine is for volumes that lie alike; remove it or any_orientation")
        axes = letters_of(self.affine)
        if axes is None:
            raise ValueError(
                "affine leads nowhere: each of its first three columns needs a direction of its own"
            )
        if "orientation" in self.model_fields_set and self.orientation != axes:
            raise ValueError(
                f"orientation is {self.orientation} and the affine leads to {axes}; remove orientation"
            )
        edges = [math.hypot(*(row[axis] for row in self.affine)) for axis in range(3)]
        if any(abs(zoom - edge) > _NEARLY * edge for zoom, edge in zip(self.zooms, edges, strict=True)):
            said = ", ".join(f"{edge:.6g}" for edge in edges)
            raise ValueError(f"the affine has voxels of {said} mm; state zooms: [{said}]")
        return self

    @property
    def axes(self) -> str:
        """Where the first three axes lead."""
        return (self.affine and letters_of(self.affine)) or self.orientation

    @property
    def rows(self) -> Affine:
        """The affine of the twin's volume: without a declared one its first voxel is at the origin."""
        return self.affine or tuple((*row, 0.0) for row in affine_rows(self.orientation, self.zooms))

    @property
    def kind(self) -> VoxelKind:
        """The type in numpy's short form."""
        return _KINDS[self.dtype]

    @property
    def size(self) -> int:
        """Bytes of its voxels."""
        return math.prod(self.shape) * int(self.kind[1])


class PersonFile(Model):
    """A file that each person has, by a path with `{person}`; the twin's is made of public text, or drawn.

    A recording `.vhdr` has its `.eeg` and `.vmrk` with it, a `.set` its `.fdt` if it says so. `missing_rate`
    is the share of people of the twin who lack the file.
    """

    path: InsidePath
    """Holds `{person}` as a folder, or as a part of a name between `_` and `.`."""
    twin_text: Annotated[str, StringConstraints(max_length=100_000)] = ""
    """Public text for the twin; `{person}` is replaced."""
    twin_volume: Annotated[TwinVolume | None, Field(exclude_if=_is_unset)] = None
    """For `.nii` and `.nii.gz`: a volume for the twin."""
    twin_table: Annotated[TwinTable | None, Field(exclude_if=_is_unset)] = None
    """For `.tsv` and `.tsv.gz`: rows drawn for each person of the twin, such as events."""
    twin_recording: Annotated[TwinRecording | None, Field(exclude_if=_is_unset)] = None
    """For `.vhdr` (`.eeg` and `.vmrk` come along), `.edf`, `.bdf`, `.set` and `.fif`: signals for the
    twin."""
    missing_rate: Annotated[Share, Field(exclude_if=_is_as_ever)] = 0
    """The share of people of the twin who lack the file."""

    @model_validator(mode="after")
    def _names_the_person(self) -> PersonFile:
        tokens = [token for part in self.path.split("/") for token in re.split(r"[_.]", part)]
        if PERSON not in tokens or any(PERSON in token and token != PERSON for token in tokens):
            raise ValueError(
                "the path of a person's file must hold {person} as a folder, or as a part of its name "
                "between _ and ."
            )
        return self

    @model_validator(mode="after")
    def _twin_is_one_thing(self) -> PersonFile:
        if self.twin_volume is not None and self.twin_text:
            raise ValueError("give twin_text or twin_volume, not both")
        given = {"twin_text": self.twin_text or None, "twin_volume": self.twin_volume,
                 "twin_table": self.twin_table, "twin_recording": self.twin_recording}  # fmt: skip
        if len(several := [name for name, content in given.items() if content is not None]) > 1:
            raise ValueError(f"give one of {' and '.join(several)}, not several")
        if self.twin_volume is not None and not self.path.endswith(VOLUMES):
            raise ValueError("twin_volume is for a path that ends in .nii or .nii.gz")
        self._check_size()
        if self.twin_table is not None and not self.path.endswith(TABLES):
            raise ValueError("twin_table is for a path that ends in .tsv or .tsv.gz")
        self._check_recording()
        return self

    def _check_size(self) -> None:
        """Packed, as it is kept and sent; and unpacked, as whoever makes or opens it has to bear."""
        volume = self.twin_volume
        if volume is None or volume.fill == "noise":
            return  # which has a number of voxels of its own
        if volume.size > MAX_BYTES_UNPACKED:
            raise ValueError(f"the volume has {volume.size} bytes, more than {MAX_BYTES_UNPACKED}")
        if self._volume_bytes(volume) > MAX_BYTES_IN_PIECES:
            raise ValueError(
                f"the file has about {self._volume_bytes(volume)} bytes, more than {MAX_BYTES_IN_PIECES}; "
                "fill: sketch or zeros in a .nii.gz packs to little"
            )

    def _volume_bytes(self, volume: TwinVolume) -> int:
        return volume.size // _PACKED[volume.fill] if self.path.endswith(".gz") else volume.size

    def _check_recording(self) -> None:
        recording, ending = self.twin_recording, PurePosixPath(self.path).suffix
        if recording is None:
            return
        if ending in OTHER_RECORDINGS:
            raise ValueError(f"twin_recording of {ending}: {NOT_MADE}")
        if misfit := recording.misfit(ending):
            raise ValueError(misfit)

    @property
    def paths(self) -> tuple[str, ...]:
        """Of all files that come with it, itself first."""
        stem, _, ending = self.path.rpartition(".")
        if self.twin_recording is not None and ending == "vhdr":
            return (self.path, f"{stem}.eeg", f"{stem}.vmrk")
        if self.twin_recording is not None and self.twin_recording.fdt:
            return (self.path, f"{stem}.fdt")
        return (self.path,)

    @property
    def twin_bytes(self) -> int:
        """About so many for each person of the twin."""
        volume = self.twin_volume
        of_volume = self._volume_bytes(volume) if volume else 0
        of_table = self.twin_table.size if self.twin_table else 0
        recording = self.twin_recording
        of_recording = recording.size(PurePosixPath(self.path).suffix) if recording else 0
        return len(self.twin_text) + of_volume + of_table + of_recording


class PublicFile(Model):
    """A file that says nothing about any one person; every block and the twin get it as it is.

    The rights holder states that it is public and gives its content here, as `text` or, if it is no text, in
    base64: it is never read from the original. With `as_delivered` every block gets the delivered file,
    whatever its size, and the content given here is the twin's stand-in.
    """

    path: InsidePath
    """Where it lies."""
    text: Annotated[str, StringConstraints(max_length=MAX_TEXT)] = ""
    """Its content. `dpgate dataset add` fills it from your data when it is left out."""
    content_base64: Annotated[
        str | None, StringConstraints(max_length=MAX_ENCODED), Field(exclude_if=_is_unset)
    ] = None
    """The same of a file that is no text."""
    as_delivered: Annotated[bool, Field(exclude_if=_is_unset)] = False
    """For files that are too large to be declared, and public by your word: every block gets the delivered
    file, and the content given here is the twin's stand-in."""

    @model_validator(mode="after")
    def _has_one_content(self) -> PublicFile:
        given = {"text", "content_base64"} & self.model_fields_set
        if len(given) > 1 and self.content_base64 is not None and self.text:
            raise ValueError("give text or content_base64, not both")
        if not given and not self.as_delivered:
            raise ValueError("its content is missing; give text or content_base64")
        try:
            _ = self.content
        except binascii.Error:
            raise ValueError("content_base64 is not base64") from None
        return self

    @cached_property
    def content(self) -> bytes:
        """The bytes for the twin and, unless the delivered ones are meant, for every block."""
        if self.content_base64 is None:
            return self.text.encode()
        return base64.b64decode(self.content_base64, validate=True)
