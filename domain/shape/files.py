"""The shapes of a pipeline's output files, one class for each format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag, field_validator, model_validator

from domain.errors import PipelineError
from domain.model import Model
from domain.pipeline import MAX_VALUES, Manifest, OutputFile
from domain.shape import curve, json_file, matlab, nifti, npy, table, text
from domain.shape.constants import read_results, results_in, write_results
from domain.shape.selection import constant_places, name_values

MOST_VOLUMES = 16
MOST_CURVES = 16


def _format(shape: Any) -> str:
    """The format of a shape. One that says none was locked when there was text only."""
    if isinstance(shape, Mapping):
        return str(shape.get("format", "text"))
    return str(getattr(shape, "format", "text"))


FileShape = Annotated[
    Annotated[text.TextShape, Tag("text")]
    | Annotated[json_file.JsonShape, Tag("json")]
    | Annotated[matlab.MatlabShape, Tag("mat")]
    | Annotated[nifti.NiftiShape, Tag("nifti")]
    | Annotated[npy.NpyShape, Tag("npy")]
    | Annotated[table.TableShape, Tag("table")]
    | Annotated[curve.CurveShape, Tag("curve")],
    Discriminator(_format),
]

LOCKS: dict[str, Callable[[OutputFile, bytes, Mapping[str, bytes]], Any]] = {
    "text": text.lock,
    "json": json_file.lock,
    "mat": matlab.lock,
    "nifti": nifti.lock,
    "npy": npy.lock,
    "table": table.lock,
    "curve": curve.lock,
}


class Shape(Model):
    """The shapes of all output files of a pipeline, in the manifest's order."""

    files: Annotated[tuple[FileShape, ...], Field(min_length=1, max_length=MAX_VALUES)]

    @field_validator("files", mode="before")
    @classmethod
    def _has_few_volumes(cls, files: Any) -> Any:
        # before they are read: each holds a map that is a thousand times larger than what was sent
        if isinstance(files, Sequence) and sum(_format(each) == "nifti" for each in files) > MOST_VOLUMES:
            raise ValueError(f"has more than {MOST_VOLUMES} volumes; write fewer")
        # the basis of each is made anew by whoever reads a run's file
        if isinstance(files, Sequence) and sum(_format(each) == "curve" for each in files) > MOST_CURVES:
            raise ValueError(f"has more than {MOST_CURVES} curves; write fewer")
        return files

    @model_validator(mode="after")
    def _is_small(self) -> Shape:
        voxels = sum(shape.voxels for shape in self.files if isinstance(shape, nifti.NiftiShape))
        if voxels > nifti.MOST_VOXELS:
            raise ValueError(
                f"has {voxels} voxels in all its volumes; at most {nifti.MOST_VOXELS} are released. "
                "Write coarser volumes, or fewer"
            )
        return self

    def check_fits(self, manifest: Manifest) -> None:
        """Raises ValueError when this shape was not locked for this manifest."""
        again = "does not fit the manifest's outputs; run the pipeline on the twin again"
        if [output.file for output in manifest.outputs] != [shape.file for shape in self.files]:
            raise ValueError(again)
        try:
            for output, shape in zip(manifest.outputs, self.files, strict=True):
                if output.format != shape.format:
                    raise ValueError(f"{output.file} is of another kind")
                if isinstance(shape, table.TableShape) and shape.columns != table.summaries(output):
                    raise ValueError(f"{output.file} has other columns")
                if isinstance(shape, curve.CurveShape) and shape.curve != output.curve:
                    raise ValueError(f"{output.file} has another curve")
                name_values(output, shape)
                if constant_places(output, shape) != _constant(shape):
                    raise ValueError(f"{output.file} has other constants")
        except ValueError as error:
            raise ValueError(f"{again}: {error}") from None

    @property
    def places(self) -> list[tuple[str, str]]:
        """File and address of every result."""
        return [
            (file.file, address)
            for file in self.files
            for address, is_constant in zip(file.addresses, _constant(file), strict=True)
            if not is_constant
        ]

    def read(self, outputs: Mapping[str, bytes]) -> list[float | None]:
        """The results of a run's files, in the order of every vector of a job; None for one that is missing.

        Raises PipelineError where a file is missing or has another shape.
        """
        return [number for file in self.files for number in read_results(file, outputs.get(file.file, b""))]

    def read_run(self, outputs: Mapping[str, bytes]) -> list[float | None]:
        """The same of one run of a job, for whose reading a turn has room: else PipelineError."""
        for file in self.files:
            check_run(file, outputs.get(file.file, b""))
        return self.read(outputs)

    def write(self, results: Sequence[str]) -> dict[str, bytes]:
        """The twin's files by path, with these results in place of its own."""
        left = iter(results)
        return {
            file.file: write_results(file, [next(left) for _ in range(results_in(file))])
            for file in self.files
        }


def _constant(shape: FileShape) -> tuple[bool, ...]:
    return tuple(text is not None for text in shape.constants) or (False,) * shape.numbers


def check_run(file: FileShape, content: bytes) -> None:
    """Raises PipelineError where one run wrote more than there is time to read in its turn."""
    if isinstance(file, table.TableShape):
        file.check_run(content)


def lock(output: OutputFile, content: bytes, sources: Mapping[str, bytes]) -> FileShape:
    """The shape of a file that the pipeline wrote on the twin; `sources` are its own files by path.

    Raises PipelineError when it has none, or when the declared numbers are not those that it holds.
    """
    shape: FileShape = LOCKS[output.format](output, content, sources)
    try:
        name_values(output, shape)
        if output.constants:
            shape = _with_constants(output, shape, content)
    except ValueError as error:
        raise PipelineError(str(error)) from None
    missing = [
        address
        for address, number in zip(shape.addresses, shape.read(content), strict=True)
        if number is None
    ]
    if missing:
        raise PipelineError(
            f"{output.file} holds no finite number at {missing[0]}; on the whole twin each must be there"
        )
    return shape


def _with_constants(output: OutputFile, shape: Any, content: bytes) -> FileShape:
    """The shape with the twin's own text at each place that is declared constant."""
    places = zip(constant_places(output, shape), shape.texts(content), strict=True)
    constants = tuple(text if is_constant else None for is_constant, text in places)
    locked: FileShape = type(shape)(**{**dict(shape), "constants": constants})
    return locked
