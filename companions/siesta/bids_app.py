"""The pipeline of a run: a folder with dpgate.yaml, or a plain BIDS app with a whitelist and bounds."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from companions.siesta.calibration import BOUNDS_HEADER
from domain import whitelist
from domain.model import parse
from domain.pipeline import HOST_IMAGE, Pipeline
from dpgate.errors import DpgateError
from dpgate.pipeline_folder import MANIFEST, load_pipeline, read_sources, read_text


@dataclass(frozen=True)
class AppOptions:
    """What the command line says of a pipeline that has no dpgate.yaml."""

    command: str | None = None
    image: str | None = None
    whitelist: Path | None = None
    bounds: Path | None = None
    lower: str | None = None
    upper: str | None = None
    wall_seconds: float | None = None
    memory_mib: int | None = None

    @property
    def given(self) -> list[str]:
        return [f"--{name.replace('_', '-')}" for name, value in vars(self).items() if value is not None]


def load_app(folder: Path, options: AppOptions) -> Pipeline:
    """Raises DpgateError or InvalidRequest for a pipeline that says too little, or the same thing twice."""
    if (folder / MANIFEST).exists():
        if options.given:
            raise DpgateError(f"{folder / MANIFEST} says it already; leave out {', '.join(options.given)}")
        return parse(Pipeline, load_pipeline(folder).body, within="pipeline")
    if not folder.is_dir():
        raise DpgateError(f"{folder} is not a folder")
    if options.command is None and options.image in (None, HOST_IMAGE):
        raise DpgateError(
            f"{folder} has no {MANIFEST}: write one, or say --command, or --image with an entry point, with "
            "--whitelist and bounds (--bounds TABLE, or --lower and --upper for all numbers)"
        )
    body = {"manifest": _manifest(folder, options), "sources": list(read_sources(folder))}
    return parse(Pipeline, body, within="pipeline")


def _command(options: AppOptions) -> list[str]:
    if options.command is None:
        return []
    try:
        return shlex.split(options.command)
    except ValueError as error:
        raise DpgateError(f"--command: {error}") from None


def _manifest(folder: Path, options: AppOptions) -> dict[str, Any]:
    resources = {"wall_seconds": options.wall_seconds, "memory_mib": options.memory_mib}
    return {
        "name": re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-") or "app",
        "image": options.image or HOST_IMAGE,
        "command": _command(options),
        "levels": ["participant", "group"],
        "outputs": _outputs(folder, options),
        "resources": {name: value for name, value in resources.items() if value is not None},
    }


def _outputs(folder: Path, options: AppOptions) -> list[dict[str, Any]]:
    path = options.whitelist or folder / whitelist.FILE
    try:
        files = whitelist.read_whitelist(read_text(path), name=str(path))
    except ValueError as error:
        raise DpgateError(str(error)) from None
    names = {file: _name(file, number) for number, file in enumerate(files, start=1)}
    if options.bounds is None:
        return [{"file": file, "bounds": [_everything(names[file], options)]} for file in files]
    if options.lower is not None or options.upper is not None:
        raise DpgateError("--bounds and --lower, --upper say the same thing; keep one of them")
    return _of_table(options.bounds, files, names)


def _everything(name: str, options: AppOptions) -> dict[str, Any]:
    if options.lower is None or options.upper is None:
        raise DpgateError("bounds are missing: say --lower and --upper, or --bounds with a table of them")
    lower, upper = _number(options.lower, "--lower"), _number(options.upper, "--upper")
    return {"select": "*", "name": name, "lower": lower, "upper": upper}


def _of_table(path: Path, files: Sequence[str], names: dict[str, str]) -> list[dict[str, Any]]:
    """A line of file, lower and upper for each number in reading order, as calibratenoise takes it."""
    header, *rows = [tuple(line.split("\t")) for line in read_text(path).splitlines()] or [()]
    if header != BOUNDS_HEADER or any(len(row) != len(BOUNDS_HEADER) for row in rows):
        raise DpgateError(f"{path} must hold lines of {', '.join(BOUNDS_HEADER)}, with tabs between")
    if strange := next((row[0] for row in rows if row[0] not in names), None):
        raise DpgateError(f"{path} names {strange}, which is not in the whitelist")
    outputs = []
    for file in files:
        own = [(lower, upper) for named, lower, upper in rows if named == file]
        if not own:
            raise DpgateError(f"{path} has no line for {file}; add one for each of its numbers")
        values = [
            {"name": f"{names[file]}-{at}", "lower": _number(lower, path), "upper": _number(upper, path)}
            for at, (lower, upper) in enumerate(own, start=1)
        ]
        outputs.append({"file": file, "values": values})
    return outputs


def _number(text: str, place: object) -> float:
    try:
        return float(text)
    except ValueError:
        raise DpgateError(f"{place}: {text!r} is not a number") from None


def _name(file: str, number: int) -> str:
    """What its numbers are called: by the file's own name, and by its place in the whitelist."""
    stem = re.sub(r"[^A-Za-z0-9_-]", "_", file.rsplit("/", 1)[-1].split(".", 1)[0])[:32]
    return f"f{number}-{stem}"
