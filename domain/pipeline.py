"""A pipeline: an image, a command, the numbers it declares, and its source files."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from domain.environment import Environment, Resources
from domain.formats import FORMATS, format_of, suffixes
from domain.image import HOST_IMAGE as HOST_IMAGE
from domain.image import ImageName
from domain.model import InsidePath, Model, Slug, digest, find_inside_another, is_empty, is_none
from domain.output_bounds import MAX_VALUES as MAX_VALUES
from domain.output_bounds import CurveBounds as CurveBounds
from domain.output_bounds import GroupName as GroupName
from domain.output_bounds import Select as Select
from domain.output_bounds import SelectedBounds as SelectedBounds
from domain.output_bounds import VolumeBounds as VolumeBounds
from domain.output_value import OutputValue as OutputValue
from domain.output_value import ValueName as ValueName
from domain.people import ColumnBounds as ColumnBounds
from domain.people import Result

MAX_SOURCE_BYTES = 1024 * 1024
MAX_SOURCES = 256

Argument = Annotated[str, StringConstraints(min_length=1, max_length=1000, pattern=r"^[^\x00]*$")]

# as sandbox_images/supervisor/order.py fills them in; not ${in}, which is a shell's
_PLACE = re.compile(r"(?<!\$)\{(in|out|level)\}")


def _ends_as_a_format(file: str) -> str:
    """Looked up when a manifest is read."""
    if not file.endswith(suffixes()):
        raise ValueError(
            f"is no name of a file of numbers; let it end in {', '.join(suffixes())}. Of a figure, a report "
            "or a text nothing can leave: write the numbers that it shows into a table"
        )
    return file


class OutputFile(Model):
    """A file below the output folder, and what its numbers are: `values` one by one in reading order, or
    `bounds` by place, or `volume` for averages over a NIfTI volume, or `columns` of a table with a row for
    each person, or a `curve` over a public axis.

    `constants` are places as in `bounds` whose numbers are no results: they stay the twin's, like labels.
    """

    file: Annotated[InsidePath, AfterValidator(_ends_as_a_format)]
    """Below `/out`."""
    values: Annotated[tuple[OutputValue, ...], Field(max_length=MAX_VALUES, exclude_if=is_empty)] = ()
    """The numbers of the file in reading order. At most 20 in all; of means with joint or Gaussian noise
    400."""
    bounds: Annotated[tuple[SelectedBounds, ...], Field(max_length=MAX_VALUES, exclude_if=is_empty)] = ()
    """Instead of `values`: bounds by place. Each number takes the first entry that fits."""
    volume: Annotated[VolumeBounds | None, Field(exclude_if=is_none)] = None
    """Instead of `values`, for `.nii` and `.nii.gz`: averages over a volume."""
    columns: Annotated[tuple[ColumnBounds, ...], Field(max_length=MAX_VALUES, exclude_if=is_empty)] = ()
    """Instead of `values`, for a table with a row for each person: one number of each."""
    curve: Annotated[CurveBounds | None, Field(exclude_if=is_none)] = None
    """Instead of `values`, for a text file with a column for an axis: the coefficients of a curve on splines,
    written back as the curve."""
    constants: Annotated[tuple[Select, ...], Field(max_length=MAX_VALUES, exclude_if=is_empty)] = ()
    """Places as in `bounds` whose numbers are no results: a year, a group's number. They stay the twin's,
    without noise and at no cost."""

    @model_validator(mode="after")
    def _says_once_what_its_numbers_are(self) -> OutputFile:
        said = [name for name in ("values", "bounds", "volume", "columns", "curve") if getattr(self, name)]
        if not said:
            raise ValueError("says nothing of its numbers; add values, or bounds, or for .nii files volume")
        if len(said) > 1:
            raise ValueError(f"has {' and '.join(said)}; keep one of them")
        if self.volume and self.format != "nifti":
            raise ValueError("volume is for .nii and .nii.gz files; use values or bounds")
        if (self.columns or self.curve) and format_of(self.file) != "text":
            raise ValueError(f"{said[0]} is for .tsv, .csv and .txt files; use values or bounds")
        if (self.volume or self.columns or self.curve) and self.constants:
            raise ValueError("a volume, columns or a curve have no constants; leave them out")
        if "*" in self.constants:
            raise ValueError("constants of * leave no result; name a column or a place")
        return self

    @property
    def format(self) -> str:
        if self.curve:
            return "curve"
        return "table" if self.columns else format_of(self.file)

    @property
    def max_bytes(self) -> int:
        """The most that is read of this file."""
        return FORMATS[self.format].most_bytes

    @property
    def names(self) -> tuple[str, ...]:
        """As declared; one name of `bounds` or of `volume` can stand for many values."""
        if one := self.volume or self.curve:
            return (one.name,)
        columns = tuple(value.name for each in self.columns for value in each.values)
        return tuple(each.name for each in self.values) + tuple(each.name for each in self.bounds) + columns

    @property
    def results(self) -> tuple[Result, ...]:
        """What is computed from its drawn numbers."""
        return tuple(each.result for each in self.columns if each.result is not None)


class Manifest(Model):
    """`dpgate.yaml`, the contract of a pipeline."""

    name: Slug
    """Small letters, digits, hyphens."""
    image: ImageName
    """The name of an approved image: no tag, no address, no path."""
    command: Annotated[
        tuple[Argument, ...], Field(max_length=64, validate_default=True)
    ] = ()  # none: the image's entry point
    """What runs; `/in /out LEVEL` is appended, unless `{in}`, `{out}`, `{level}` say where. Without one the
    image's entry point runs or, of a SIF, its runscript."""
    levels: Annotated[tuple[Literal["participant", "group"], ...], Field(min_length=1)] = ("group",)
    """`[group]`, or `[participant, group]`: each person alone first, then groups."""
    outputs: Annotated[tuple[OutputFile, ...], Field(min_length=1, max_length=MAX_VALUES)]
    """The files that are read after the run. Nothing else is."""
    resources: Resources = Resources.model_construct()  # its defaults, without a validator at the import
    """What one run may use."""
    environment: Environment = Field(default_factory=dict)
    """Variables for every run, the same for each. At most 32, of 4 KiB; names in capitals. Not what the
    sandbox sets (`PATH`, `HOME`, `LANG`, `TZ`, `*_NUM_THREADS`, `DPGATE_*`), nor what steers the loader, the
    interpreter or a proxy (`LD_*`, `PYTHON*`, `GCONV*`, `GLIBC_*`, `*_PROXY`)."""

    @field_validator("command")
    @classmethod
    def _host_has_no_entry_point(cls, command: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if not command and info.data.get("image") == HOST_IMAGE:
            raise ValueError(f"{HOST_IMAGE} has no entry point of its own: say what to run")
        return command

    @model_validator(mode="after")
    def _outputs_are_distinct(self) -> Manifest:
        names = [name for output in self.outputs for name in output.names]
        shown = [*names, *(result.name for result in self.results)]
        if len(set(shown)) != len(shown):
            raise ValueError("two outputs have the same name; give each value its own")
        files = [output.file for output in self.outputs]
        if len(set(files)) != len(files):
            raise ValueError("two outputs name the same file; list its values together")
        if len(names) > MAX_VALUES:
            raise ValueError(f"at most {MAX_VALUES} values: each one shares the loss with the others")
        if self.levels not in (("group",), ("participant",), ("participant", "group")):
            raise ValueError("levels are [group], [participant] or [participant, group]")
        return self

    @model_validator(mode="after")
    def _command_names_all_places_or_none(self) -> Manifest:
        named = {place for word in self.command for place in _PLACE.findall(word)}
        needed = {"in", "out", "level"} if self.carries_on else {"in", "out"}
        if named and (missing := sorted(needed - named)):
            raise ValueError(
                f"the command says where some of its places go and leaves out {{{missing[0]}}}; name all of "
                "{in}, {out} and, with two levels, {level}, or none: they then come behind it in this order"
            )
        if self.command and _PLACE.search(self.command[0]):
            raise ValueError("the command begins with a place of a run; name a program first")
        return self

    @property
    def program(self) -> str:
        """What is started, in words."""
        return f"command {self.command[0]}" if self.command else "entry point"

    @property
    def is_person_by_person(self) -> bool:
        """Whether its participant level is all there is: each run is one person's, and dpgate aggregates."""
        return self.levels == ("participant",)

    @property
    def carries_on(self) -> bool:
        """Whether group runs get what a participant level wrote before."""
        return self.levels == ("participant", "group")

    @property
    def needs_blocks_of_one(self) -> bool:
        columns = [column for output in self.outputs for column in output.columns]
        return self.is_person_by_person or any(column.is_of_each_person for column in columns)

    def check_block_size(self, size: int) -> None:
        """Raises ValueError for blocks of several people where each person's own number is wanted."""
        if size == 1 or not self.needs_blocks_of_one:
            return
        if self.is_person_by_person:
            raise ValueError("levels [participant] is run on one person at a time; choose block_size 1")
        column = next(each for output in self.outputs for each in output.columns if each.is_of_each_person)
        raise ValueError(f"{column.name}: a {column.kind} is over single people; choose block_size 1")

    @property
    def results(self) -> tuple[Result, ...]:
        """What is computed from the drawn numbers of all files."""
        return tuple(result for output in self.outputs for result in output.results)

    @property
    def least_values(self) -> int:
        """How many numbers it gives at least: for how many a group's name stands, the locked shape says."""
        return sum(len(output.names) for output in self.outputs)

    @property
    def max_output_bytes(self) -> int:
        """The most that is read of any one file."""
        return max(output.max_bytes for output in self.outputs)


class Source(Model):
    """One file of the pipeline's own code, mounted read-only at /pipeline."""

    path: InsidePath
    content_base64: Annotated[str, StringConstraints(max_length=MAX_SOURCE_BYTES * 4 // 3 + 4)]

    @field_validator("content_base64")
    @classmethod
    def _is_base64(cls, text: str) -> str:
        try:
            base64.b64decode(text, validate=True)
        except ValueError:  # also for characters outside ASCII
            raise ValueError("must be base64") from None
        return text

    @property
    def content(self) -> bytes:
        return base64.b64decode(self.content_base64)

    @classmethod
    def of(cls, path: str, content: bytes) -> Source:
        return cls(path=path, content_base64=base64.b64encode(content).decode())


class Pipeline(Model):
    """Manifest and sources together: what runs, named by its digest."""

    manifest: Manifest
    sources: Annotated[tuple[Source, ...], Field(max_length=MAX_SOURCES)] = ()

    @model_validator(mode="after")
    def _sources_fit(self) -> Pipeline:
        paths = [source.path for source in self.sources]
        if len(set(paths)) != len(paths):
            raise ValueError("two source files have the same path")
        if inner := find_inside_another(paths):
            raise ValueError(f"the source file {inner} lies inside another file's path")
        masks = [output.volume.mask for output in self.manifest.outputs if output.volume]
        if missing := [mask for mask in masks if mask is not None and mask not in paths]:
            raise ValueError(f"the mask {missing[0]} is not among the source files; put it into the folder")
        if sum(len(source.content) for source in self.sources) > MAX_SOURCE_BYTES:
            raise ValueError(
                f"the source files exceed {MAX_SOURCE_BYTES // 1024} KiB; put large parts in the image"
            )
        return self

    @property
    def contents(self) -> dict[str, bytes]:
        """The source files by path."""
        return {source.path: source.content for source in self.sources}

    @property
    def digest(self) -> str:
        files = {source.path: hashlib.sha256(source.content).hexdigest() for source in self.sources}
        manifest = self.manifest.model_dump(mode="json")
        if not manifest["environment"]:
            # as before there was one: what was locked and answered then is still the same pipeline
            del manifest["environment"]
        return digest({"manifest": manifest, "sources": files})
