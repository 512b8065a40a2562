"""A pipeline: an image, a command, the numbers it declares, and its source files."""

from __future__ import annotations

import base64
import hashlib
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator, model_validator

from domain.environment import Environment
from domain.image import ImageName
from domain.model import InsidePath, Model, Number, Slug, Whole, digest, find_inside_another
from privacy.grid import OutputGrid
from privacy.sample_aggregate import MAX_OUTPUTS

MAX_SOURCE_BYTES = 1024 * 1024
MAX_SOURCES = 256

Argument = Annotated[str, StringConstraints(min_length=1, max_length=1000, pattern=r"^[^\x00]*$")]
ValueName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,63}$")]


class OutputValue(Model):
    """One number that may be released. The bounds are the researcher's, typed without seeing the data."""

    name: ValueName
    lower: Number
    upper: Number

    @model_validator(mode="after")
    def _bounds_in_order(self) -> OutputValue:
        if self.lower >= self.upper:
            raise ValueError(f"{self.name}: lower must be less than upper")
        try:
            OutputGrid.build(self.lower, self.upper)
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from None
        return self


class OutputFile(Model):
    """A file below the output folder whose numeric cells, in reading order, are `values`."""

    file: Annotated[InsidePath, StringConstraints(pattern=r"\.(tsv|csv|txt)$")]
    values: Annotated[tuple[OutputValue, ...], Field(min_length=1, max_length=MAX_OUTPUTS)]


class Resources(Model):
    """What one run may use, over all its levels together. Every run of a job gets exactly the same."""

    wall_seconds: Annotated[Number, Field(ge=0.2, le=86_400)] = 10
    memory_mib: Annotated[Whole, Field(ge=32, le=1_048_576)] = 512
    processes: Annotated[Whole, Field(ge=1, le=1024)] = 64
    scratch_mib: Annotated[Whole, Field(ge=1, le=65_536)] = 64


class Manifest(Model):
    """`dpgate.yaml`, the contract of a pipeline."""

    name: Slug
    image: ImageName
    command: Annotated[tuple[Argument, ...], Field(min_length=1, max_length=64)]
    levels: Annotated[tuple[Literal["participant", "group"], ...], Field(min_length=1)] = ("group",)
    outputs: Annotated[tuple[OutputFile, ...], Field(min_length=1, max_length=MAX_OUTPUTS)]
    resources: Resources = Resources()
    environment: Environment = Field(default_factory=dict)

    @model_validator(mode="after")
    def _outputs_are_distinct(self) -> Manifest:
        names = [value.name for value in self.values]
        if len(set(names)) != len(names):
            raise ValueError("two outputs have the same name; give each value its own")
        files = [output.file for output in self.outputs]
        if len(set(files)) != len(files):
            raise ValueError("two outputs name the same file; list its values together")
        if len(names) > MAX_OUTPUTS:
            raise ValueError(f"at most {MAX_OUTPUTS} values: each one shares the epsilon with the others")
        if self.levels not in (("group",), ("participant", "group")):
            raise ValueError("levels are [group] or [participant, group]")
        return self

    @property
    def values(self) -> tuple[OutputValue, ...]:
        """All declared numbers, in the order of the manifest: the order of every vector of this job."""
        return tuple(value for output in self.outputs for value in output.values)


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
        if sum(len(source.content) for source in self.sources) > MAX_SOURCE_BYTES:
            raise ValueError(
                f"the source files exceed {MAX_SOURCE_BYTES // 1024} KiB; put large parts in the image"
            )
        return self

    @property
    def digest(self) -> str:
        files = {source.path: hashlib.sha256(source.content).hexdigest() for source in self.sources}
        manifest = self.manifest.model_dump(mode="json")
        if not manifest["environment"]:
            # as before there was one: what was locked and answered then is still the same pipeline
            del manifest["environment"]
        return digest({"manifest": manifest, "sources": files})
