"""A pipeline on the researcher's own machine: run it on the twin in the same sandbox, lock, preview.

Loads the worker's sandbox and the mathematics; `import dpgate` alone does not.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from domain.dataset import Declaration, Table
from domain.errors import PipelineError
from domain.loss import format_epsilon
from domain.pipeline import Manifest, Pipeline
from domain.shape import Shape, lock
from dpgate.errors import DpgateError, PipelineFailed
from privacy.grid import OutputGrid
from privacy.partition import block_count
from privacy.preview import LadderRow, epsilon_for_error, ladder, standard_ladder
from privacy.sample_aggregate import SampleAggregate
from worker.collect import collect
from worker.images.held import HeldImages
from worker.order import order_for
from worker.sandbox.host_image import HostImage, describe
from worker.sandbox.protocol import Audience, RunDetail, RunResult, Slot
from worker.sandbox.stored_image import StoredImage
from worker.sandbox.supervised import SupervisedSandbox
from worker.stage import People, cut, open_people, whole

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class TwinRun:
    """What running on the twin taught: the locked shape, the twin's own numbers, and its blocks' outputs."""

    pipeline_digest: str
    shape: Shape
    numbers: tuple[float, ...]
    block_outputs: tuple[tuple[int, ...] | None, ...]
    longest_s: float


class TwinFolder:
    """A twin on disk, with the people of its privacy unit's table."""

    def __init__(self, folder: Path, declaration: Declaration) -> None:
        self._folder = folder
        self._table: Table = next(
            table for table in declaration.tables if table.path == declaration.privacy_unit.table
        )

    @property
    def people(self) -> list[str]:
        rows = self._table.split(self.table(self._table.path).decode())
        position = next(rows).index(self._table.person_column.name)
        return list(dict.fromkeys(row[position] for row in rows))

    def table(self, path: str) -> bytes:
        try:
            return (self._folder / path).read_bytes()
        except FileNotFoundError:
            raise self._changed(path) from None

    def _changed(self, path: str) -> DpgateError:
        return DpgateError(
            f"{self._folder / path} is not as it was fetched; fetch the twin again: dpgate twin"
        )

    def files_of(self, person: str) -> Mapping[str, bytes]:
        own = self._folder / person
        return {
            path.relative_to(self._folder).as_posix(): path.read_bytes()
            for path in sorted(own.rglob("*"))
            if path.is_file()
        }


def run_on_twin(
    pipeline: Pipeline,
    *,
    declaration: Declaration,
    twin: Path,
    block_size: int,
    python_env: Path | None = None,
    images: Path | None = None,
    progress: Progress = lambda _done, _total: None,
) -> TwinRun:
    """Run on the whole twin to lock the shape, then on its blocks to see what blocks give.

    `images` is the store to take the pipeline's image from, unless it is this host's own.
    Raises PipelineFailed with the pipeline's own words: the twin is not original data.
    """
    people = _open_twin(declaration, twin)
    blocks = count_blocks(declaration.nominal_size, block_size)
    host = describe(python_env)
    image = _image_for(pipeline.manifest, host, images)
    order = order_for(pipeline, image=image, audience=Audience.TWIN, warm=image is host)
    with SupervisedSandbox(host) as sandbox, sandbox.open_slot(order, slot=0) as slot:
        started = time.monotonic()
        outputs = _outputs(pipeline.manifest, slot.run(whole(people)))
        longest = time.monotonic() - started
        shape = _lock(pipeline.manifest, outputs)
        progress(1, blocks + 1)
        found, slowest = _run_blocks(slot, people, pipeline, shape, blocks, progress)
    numbers = [number for file in shape.files for number in file.read(outputs[file.file])]
    return TwinRun(
        pipeline_digest=pipeline.digest,
        shape=shape,
        numbers=tuple(number for number in numbers if number is not None),
        block_outputs=found,
        longest_s=max(longest, slowest),
    )


def _image_for(manifest: Manifest, host: HostImage, images: Path | None) -> HostImage | StoredImage:
    """By the name in the manifest: here the researcher is their own operator."""
    if manifest.image == host.name:
        return host
    held = HeldImages(host, images).listed() if images else ()
    found = [image for image in held if image.name == manifest.image]
    if len(found) == 1:
        return found[0]
    if found:
        digests = ", ".join(image.digest for image in found)
        raise DpgateError(f"several images are named {manifest.image}: {digests}; remove all but one")
    raise DpgateError(
        f"the image {manifest.image} is not on this machine; get its archive from the platform's operator, "
        f"then: dpgate image add ARCHIVE --name {manifest.image}"
    )


def preview(
    manifest: Manifest,
    *,
    nominal_size: int,
    block_size: int,
    max_micro_epsilon: int,
    block_outputs: tuple[tuple[int, ...] | None, ...] | None,
) -> tuple[LadderRow, ...]:
    """The error to expect for a ladder of epsilon, before anything is spent."""
    return ladder(
        grids_of(manifest),
        blocks=count_blocks(nominal_size, block_size),
        epsilons=standard_ladder(max_micro_epsilon) or (max_micro_epsilon,),
        block_outputs=block_outputs,
    )


def epsilon_needed(
    manifest: Manifest, name: str, *, half_width_95: float, nominal_size: int, block_size: int
) -> str:
    """The epsilon at which the noise keeps one output within `half_width_95`, 95 times in 100."""
    names = [value.name for value in manifest.values]
    blocks = count_blocks(nominal_size, block_size)
    try:
        micro = epsilon_for_error(
            grids_of(manifest)[names.index(name)],
            outputs=len(names),
            blocks=blocks,
            half_width_95=half_width_95,
        )
    except ValueError as error:
        raise DpgateError(str(error)) from None
    return format_epsilon(micro)


def count_blocks(nominal_size: int, block_size: int) -> int:
    """Raises DpgateError when blocks of this size are too few or too many."""
    try:
        return block_count(nominal_size, block_size)
    except ValueError as error:
        raise DpgateError(f"block size: {error}") from None


def grids_of(manifest: Manifest) -> tuple[OutputGrid, ...]:
    return tuple(OutputGrid.build(value.lower, value.upper) for value in manifest.values)


def _run_blocks(
    slot: Slot, people: People, pipeline: Pipeline, shape: Shape, blocks: int, progress: Progress
) -> tuple[tuple[tuple[int, ...] | None, ...], float]:
    # any key will do: the twin's people are nobody
    key = hashlib.sha256(b"twin").digest()
    mechanism = SampleAggregate(grids=grids_of(pipeline.manifest), blocks=blocks, micro_epsilon=1_000_000)
    found, slowest = [], 0.0
    for block, files in cut(people, key=key, blocks=blocks, wanted=range(blocks)).items():
        started = time.monotonic()
        found.append(collect(slot.run(files).outputs, shape=shape, mechanism=mechanism))
        slowest = max(slowest, time.monotonic() - started)
        progress(block + 2, blocks + 1)
    return tuple(found), slowest


def _lock(manifest: Manifest, outputs: Mapping[str, bytes]) -> Shape:
    try:
        return Shape(files=tuple(lock(output, outputs[output.file]) for output in manifest.outputs))
    except PipelineError as error:
        raise PipelineFailed(str(error)) from None


def _open_twin(declaration: Declaration, twin: Path) -> People:
    try:
        return open_people(declaration, TwinFolder(twin, declaration))
    except (ValueError, IndexError):
        raise DpgateError(f"{twin} is not as it was fetched; fetch the twin again: dpgate twin") from None


def _outputs(manifest: Manifest, result: RunResult) -> Mapping[str, bytes]:
    if result.outputs is not None:
        return result.outputs
    files = ", ".join(output.file for output in manifest.outputs)
    raise PipelineFailed(f"{_why(result.detail)}\nDeclared outputs: {files}")


def _why(detail: RunDetail | None) -> str:
    if detail is None:
        return "the run failed"
    words = [detail.cause.value]
    if detail.level is not None:
        words.append(f"level {detail.level}")
    if detail.exit_code is not None:
        words.append(f"exit code {detail.exit_code}")
    tail = f"\n{detail.tail.strip()}" if detail.tail.strip() else ""
    return f"{', '.join(words)} after {detail.duration_s:.1f} s{tail}"
