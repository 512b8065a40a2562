"""A pipeline on the researcher's disk: `dpgate.yaml`, its sources, and the lock that the twin's run wrote.
Everything is refused by its size before it is read."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from operator import not_
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field

from domain import whitelist
from domain.budget import Accounting
from domain.errors import InvalidRequest
from domain.model import Model, Number, Slug, Whole, digest, parse
from domain.pipeline import MAX_SOURCE_BYTES, MAX_SOURCES
from domain.shape import Shape
from domain.twin_record import BlocksSeen, TwinRecord, are_alike
from dpgate.chosen import Chosen
from dpgate.errors import DpgateError
from formats.yaml_text import place_of

MANIFEST = "dpgate.yaml"
LOCK = "dpgate.lock.json"
LEFT_OUT = {MANIFEST, LOCK, "__pycache__"}
MAX_TEXT_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class PipelineFolder:
    """The manifest as written, and the sources as the API takes them."""

    folder: Path
    manifest: dict[str, Any]
    sources: tuple[dict[str, str], ...]

    @property
    def body(self) -> dict[str, Any]:
        return {"manifest": self.manifest, "sources": list(self.sources)}


PlanName = Literal["blocks", "half_samples", "leave_one_out"]
Outputs = tuple[tuple[int, ...] | None, ...]


class LockedRuns(Model):
    """What a pipeline gave on the twin, run by run, in grid units; None for a run that failed.

    Only blocks have a block size, and only as many of them may be here as there was time for. `outside` and
    `missing`: for each output in how many runs its number was outside the bounds, or not there; `means` of
    its numbers; empty in locks of before. `seconds` are those of one run on average.
    """

    plan: PlanName
    block_size: Annotated[Whole, Field(ge=1)] | None = None
    outputs: Outputs
    outside: tuple[Whole, ...] = ()
    missing: tuple[Whole, ...] = ()
    means: tuple[Number | None, ...] = ()
    seconds: Annotated[Number, Field(ge=0)] | None = None

    def seen(self, values: int) -> BlocksSeen:
        """How the runs fared, for so many output values."""
        return BlocksSeen(
            blocks=len(self.outputs),
            failed=self.outputs.count(None),
            outside=self.outside or (0,) * values,
            missing=self.missing or (0,) * values,
            means=self.means,
            alike=are_alike(self.outputs),
        )


class Lock(Model):
    """What the run on the twin fixed: pipeline, twin, shape of the output, seconds of the longest run."""

    dataset: Slug
    # of what a platform made the twin of; locks of before do not say it
    dataset_version: Annotated[Whole, Field(ge=1)] | None = None
    pipeline: str
    block_size: Annotated[Whole, Field(ge=1)]
    nominal_size: Annotated[Whole, Field(ge=1)]
    max_micro_epsilon: Annotated[Whole, Field(ge=1)]
    # left out where it is the plain sum, as from before noise auto looked at it
    accounting: Annotated[Accounting, Field(exclude_if=Accounting.PURE_SUM.__eq__)] = Accounting.PURE_SUM
    # whether every run takes its turn by the clock; locks of before do not say it
    padded: Annotated[bool, Field(exclude_if=not_)] = False
    # what submit takes unless it is told otherwise; nothing before a preview
    chosen: Annotated[Chosen | None, Field(exclude_if=not_)] = None
    longest_s: Annotated[Number | None, Field(ge=0, exclude_if=not_)] = None
    shape: Shape
    twin_numbers: tuple[float, ...]
    twin_runs: tuple[LockedRuns, ...]

    def outputs_of(self, plan: PlanName, block_size: int | None = None) -> Outputs | None:
        """What the runs of this plan gave on the twin, or None if they have not been made."""
        return found.outputs if (found := self.runs_of(plan, block_size)) else None

    def runs_of(self, plan: PlanName, block_size: int | None = None) -> LockedRuns | None:
        return next((r for r in self.twin_runs if (r.plan, r.block_size) == (plan, block_size)), None)

    def record(self, block_size: int | None, *, of: str, values: int) -> TwinRecord:
        """What the platform is told of the runs, for a job of this pipeline with blocks of this size."""
        runs = None if block_size is None else self.runs_of("blocks", block_size)
        seen = runs and runs.seen(values)
        return TwinRecord(pipeline=of, whole=self.twin_numbers, block_size=block_size, seen=seen)

    @property
    def block_sizes(self) -> tuple[int, ...]:
        """Those that ran on the twin."""
        return tuple(sorted(runs.block_size for runs in self.twin_runs if runs.block_size))

    def with_runs(self, runs: LockedRuns) -> Lock:
        """These in place of fewer runs of the same plan."""
        wanted = (runs.plan, runs.block_size)
        others = [other for other in self.twin_runs if (other.plan, other.block_size) != wanted]
        return self.model_copy(update={"twin_runs": (*others, runs)})


def load_pipeline(folder: str | Path) -> PipelineFolder:
    """Read a pipeline folder. Raises DpgateError where manifest, sources or whitelist are none."""
    loaded = read_pipeline(folder)
    _check_whitelist(loaded.folder, loaded.manifest)
    return loaded


def read_pipeline(folder: str | Path) -> PipelineFolder:
    """The same before anything is said of its outputs."""
    folder = Path(folder)
    if not (folder / MANIFEST).exists():
        found = f"has no {MANIFEST}" if folder.is_dir() else "is no folder"
        raise DpgateError(f"{folder} {found}; a pipeline needs one: docs/how-to/write-a-pipeline.md shows it")
    return PipelineFolder(folder, load_yaml(folder / MANIFEST), tuple(read_sources(folder)))


def _check_whitelist(folder: Path, manifest: dict[str, Any]) -> None:
    """A folder that has a whitelist declares exactly its files."""
    path = folder / whitelist.FILE
    outputs = manifest.get("outputs")
    if not outputs and path.exists():
        raise DpgateError(
            f"{folder / MANIFEST} declares no outputs: {whitelist.FILE} says which files may leave, and "
            "`outputs` says which numbers they hold and how large they can be. To have that part written "
            f"from a run on the twin: dpgate run {folder} --propose"
        )
    if not isinstance(outputs, list) or not path.exists():
        return  # the manifest's own check has the words for it
    try:
        files = [str(output["file"]) for output in outputs if isinstance(output, dict) and "file" in output]
        whitelist.check_whitelist(read_text(path), files, name=str(path))
    except ValueError as error:
        raise DpgateError(str(error)) from None


def load_yaml(path: Path) -> dict[str, Any]:
    """One YAML mapping. Raises DpgateError with the place of the mistake."""
    return parse_yaml(read_text(path), place=str(path))


def parse_yaml(text: str, *, place: str) -> dict[str, Any]:
    """The same of a text; `place` is what a message calls it."""
    try:
        content = yaml.load(text, Loader=_Strict)  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as error:
        raise DpgateError(f"{place} is not valid YAML: {place_of(error)}") from None
    except RecursionError:
        raise DpgateError(f"{place} is nested too deeply") from None
    if not isinstance(content, dict):
        raise DpgateError(f"{place} must hold `name: value` lines")
    return content


def load_json(path: Path) -> Any:
    """Raises DpgateError when this is not a JSON file."""
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError):
        broken = f"{path} is not valid JSON"
        is_lock = path.name == LOCK
        raise DpgateError(
            f"{broken}; have it written anew: dpgate run {path.parent}" if is_lock else broken
        ) from None


def read_text(path: Path, *, max_bytes: int = MAX_TEXT_BYTES) -> str:
    """A text file of bounded size."""
    if path.exists() and not path.is_file():  # to open a pipe would wait for its writer
        raise DpgateError(f"{path} is not a file")
    try:
        with path.open("rb") as file:
            content = file.read(max_bytes + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise DpgateError(f"there is no {path}; check its path") from None
    if len(content) > max_bytes:
        raise DpgateError(f"{path} is larger than {max_bytes // 1024} KiB")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DpgateError(f"{path} is not UTF-8 text; save it as UTF-8") from None


def save_lock(folder: Path, lock: Lock) -> Path:
    path = folder / LOCK
    content = lock.model_dump(mode="json")
    path.write_text(json.dumps({**content, "seal": digest(content)}, indent=2) + "\n", encoding="utf-8")
    return path


def load_lock(folder: Path, *, pipeline_digest: str) -> Lock:
    """What `dpgate run` wrote. Raises DpgateError when this pipeline has not run on the twin."""
    path = folder / LOCK
    again = f"run the pipeline on the twin first: dpgate run {folder}"
    if not path.exists():
        raise DpgateError(f"{folder} has no {LOCK}; {again}")
    content = load_json(path)
    # the seal stops no forger, but whoever takes the lock for a file of settings
    seal = content.pop("seal", None) if isinstance(content, dict) else None
    try:
        lock = parse(Lock, content, within=LOCK)
    except InvalidRequest:
        if seal == digest(content):
            raise DpgateError(f"{path} is of a newer dpgate; update dpgate here, or {again}") from None
        raise
    if seal != digest(content):
        raise DpgateError(f"{path} was changed since dpgate wrote it, so it no longer says what ran; {again}")
    if lock.pipeline != pipeline_digest:
        raise DpgateError(f"the pipeline has changed since it ran on the twin; {again}")
    return lock


class _Strict(yaml.SafeLoader):
    """Refuses a name that stands twice: the first value would be lost without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for position, key in enumerate(keys):
            if key in keys[:position]:
                raise yaml.constructor.ConstructorError(
                    None, None, f"{key!r} stands twice", node.value[position][0].start_mark
                )
        return super().construct_mapping(node, deep)


def read_sources(folder: Path) -> list[dict[str, str]]:
    """All files of a pipeline but its manifest and its lock, as the API takes them."""
    found: list[dict[str, str]] = []
    left = MAX_SOURCE_BYTES
    for name, path in sorted(_files(folder, within="")):
        content = _content(path, at_most=left)
        left -= len(content)
        found.append({"path": name, "content_base64": base64.b64encode(content).decode()})
    return found


def _files(folder: Path, *, within: str) -> list[tuple[str, Path]]:
    """Name and path of every source; stops looking when there are too many."""
    found: list[tuple[str, Path]] = []
    for name, path in _walk(folder, within):
        found.append((name, path))
        if len(found) > MAX_SOURCES:
            raise DpgateError(
                f"{folder} holds more than {MAX_SOURCES} files; is this the pipeline's own folder? "
                "Put large parts in the image."
            )
    return found


def _walk(folder: Path, within: str) -> Iterator[tuple[str, Path]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            path = folder / entry.name
            if entry.name in LEFT_OUT or entry.name.startswith("."):
                continue
            if entry.is_symlink():
                raise DpgateError(f"{path} is a link; a pipeline's sources are plain files")
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(path, f"{within}{entry.name}/")
            elif entry.is_file(follow_symlinks=False):
                yield within + entry.name, path
            else:
                raise DpgateError(f"{path} is not a plain file; a pipeline's sources are plain files")


def _content(path: Path, *, at_most: int) -> bytes:
    with path.open("rb") as file:
        # the size first: a large file is refused without being read
        if os.fstat(file.fileno()).st_size <= at_most:
            content = file.read(at_most + 1)
            if len(content) <= at_most:
                return content
    raise DpgateError(
        f"{path}: the source files exceed {MAX_SOURCE_BYTES // 1024} KiB together; "
        "put large parts in the image"
    )
