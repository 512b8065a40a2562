"""From a draft to a request: what is there, what is still missing, and bounds that nobody has typed yet."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from domain.job import JobRequest
from domain.job_draft import DraftContent
from domain.model import parse
from domain.outputs import values_of
from domain.pipeline import Manifest, Pipeline
from domain.rehearsal import Rehearsal, RehearsalState, TwinRuns, code_digest, record_of

UNTYPED = (-1e9, 1e9)
"""Stand for bounds that are still to be typed: wide enough for a rehearsal, never submitted."""

KINDS = ("values", "bounds", "volume")


@dataclass(frozen=True)
class BoundsEntry:
    """One place of a manifest where bounds are declared, and what the blocks of the twin gave there.

    `place` names it in a form: output number, kind, number within.
    """

    place: str
    name: str
    file: str
    lower: float | None
    upper: float | None
    numbers: tuple[float, ...]
    whole: tuple[float, ...]


def with_untyped_bounds(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest with UNTYPED wherever a value has neither bound."""
    return {**manifest, "outputs": _filled(manifest.get("outputs"))}


def _filled(outputs: Any) -> Any:
    if not isinstance(outputs, list | tuple):
        return outputs
    return [_filled_output(output) if isinstance(output, Mapping) else output for output in outputs]


def _filled_output(output: Mapping[str, Any]) -> dict[str, Any]:
    filled = dict(output)
    for kind in KINDS:
        entries = filled.get(kind)
        if isinstance(entries, list | tuple):
            filled[kind] = [_bounded(entry) for entry in entries]
        elif isinstance(entries, Mapping):
            filled[kind] = _bounded(entries)
    return filled


def _bounded(entry: Any) -> Any:
    if not isinstance(entry, Mapping) or entry.get("lower") is not None or entry.get("upper") is not None:
        return entry
    return {**entry, "lower": UNTYPED[0], "upper": UNTYPED[1]}


def pipeline_of(content: DraftContent) -> Pipeline:
    """Raises InvalidRequest naming each wrong field."""
    return parse(Pipeline, content.pipeline, within="pipeline")


def is_rehearsed(content: DraftContent, rehearsal: Rehearsal | None, *, dataset_id: str) -> bool:
    """Whether there are runs of this code on the twin of this version of the data set; bounds and names may
    have changed since, and the forecast may still be on its way. On a later version, where columns differ,
    runs could fail unseen and be paid for."""
    if rehearsal is None or rehearsal.runs is None or rehearsal.state is RehearsalState.FAILED:
        return False
    return rehearsal.dataset_id == dataset_id and code_digest(rehearsal.request.pipeline) == code_digest(
        pipeline_of(content)
    )


def has_untyped_bounds(manifest: Manifest) -> bool:
    return any(entry.lower is None for entry in bounds_entries(manifest, None))


def bounds_entries(manifest: Manifest, runs: TwinRuns | None) -> list[BoundsEntry]:
    """Every place with bounds, in order; without runs, no number stands beside them."""
    named = _numbers_by_name(manifest, runs) if runs else {}
    found = []
    for number, output in enumerate(manifest.outputs):
        for kind in KINDS:
            declared = getattr(output, kind)
            entries = [declared] if kind == "volume" and declared else list(declared or ())
            for position, entry in enumerate(entries):
                pooled = _of(entry.name, named, is_group=kind != "values")
                is_typed = (entry.lower, entry.upper) != UNTYPED
                found.append(
                    BoundsEntry(
                        place=f"{number}-{kind}-{position}",
                        name=entry.name,
                        file=output.file,
                        lower=entry.lower if is_typed else None,
                        upper=entry.upper if is_typed else None,
                        numbers=tuple(each for numbers, _ in pooled for each in numbers),
                        whole=tuple(whole for _, whole in pooled),
                    )
                )
    return found


def with_bounds(manifest: Manifest, typed: Mapping[str, tuple[float, float]]) -> dict[str, Any]:
    """The manifest as a request has it, with these bounds by place."""
    fields = manifest.model_dump(mode="json")
    for place, (lower, upper) in typed.items():
        number, kind, position = place.split("-")
        declared = fields["outputs"][int(number)][kind]
        entry = declared if kind == "volume" else declared[int(position)]
        entry["lower"], entry["upper"] = lower, upper
    return fields


def job_request(content: DraftContent, rehearsal: Rehearsal, *, version: int) -> JobRequest:
    """What the draft would submit, rehearsed on this version of its data set. Raises InvalidRequest."""
    assert rehearsal.runs is not None
    body = {
        "dataset": content.dataset,
        "pipeline": content.pipeline,
        "shape": rehearsal.runs.shape.model_dump(mode="json"),
        "mechanism": _mechanism(content),
        "dataset_version": version,
    }
    asked = parse(JobRequest, body | ({"project": content.project} if content.project else {}))
    return asked.model_copy(update={"on_twin": record_of(asked.pipeline, rehearsal)})


def _mechanism(content: DraftContent) -> Any:
    """Drafts from before there was a choice of noise for several values mean Laplace noise."""
    kept = content.mechanism
    is_old = kept.get("name") == "sample_aggregate" and "noise" not in kept
    return {**kept, "noise": "laplace"} if is_old else kept


def _numbers_by_name(manifest: Manifest, runs: TwinRuns) -> dict[str, tuple[tuple[float, ...], float]]:
    values = values_of(manifest, runs.shape)
    return {value.name: (runs.of_output(index), runs.numbers[index]) for index, value in enumerate(values)}


def _of(
    name: str, named: Mapping[str, tuple[tuple[float, ...], float]], *, is_group: bool
) -> Sequence[tuple[tuple[float, ...], float]]:
    """Of a group, all that its name stands for: `name` itself, or name-1, name-2 ..."""
    if not is_group:
        return [named[name]] if name in named else []
    of_group = re.compile(rf"{re.escape(name)}(-[0-9]+)?")
    return [found for value, found in named.items() if of_group.fullmatch(value)]
