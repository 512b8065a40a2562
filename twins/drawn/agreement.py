"""Whether the declared files of a person agree with each other: a recording with its sidecar and its table of
channels, a volume with its sidecar. Readers of BIDS trees compare them, and stop or warn.

From the declaration alone, so that it may be told to anybody who sees the declaration.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from domain.dataset import Declaration, PersonFile
from domain.dataset.twin_content import RECORDINGS

_CLOSE = 1e-3


def disagreements(declaration: Declaration) -> Iterator[tuple[str, str]]:
    """The path of the sidecar or table, and a sentence."""
    files = {file.path: file for file in declaration.person_files}
    for file in declaration.person_files:
        stem = _stem(file.path)
        if stem is None:
            continue
        if (beside := files.get(f"{stem}.json")) and (content := _object(beside.twin_text)):
            for sentence in _of_sidecar(file, content):
                yield beside.path, sentence
        prefix = stem.rpartition("_")[0]
        events, seconds = files.get(f"{prefix}_events.tsv"), seconds_of(file)
        if events is not None and seconds is not None:
            rate = None if file.twin_recording is None else file.twin_recording.rate
            for sentence in _of_events(events, seconds, rate):
                yield events.path, sentence
        channels = files.get(f"{prefix}_channels.tsv")
        if file.twin_recording is not None and channels is not None:
            for sentence in _of_channels(file, channels):
                yield channels.path, sentence


def seconds_of(file: PersonFile) -> float | None:
    """How long its recording is, or its volumes take."""
    if file.twin_recording is not None:
        return file.twin_recording.seconds
    volume = file.twin_volume
    if volume is None or volume.repetition_time is None:
        return None
    return volume.shape[3] * volume.repetition_time


def _of_events(events: PersonFile, seconds: float, rate: float | None) -> Iterator[str]:
    for column in events.twin_table.columns if events.twin_table else ():
        if column.name == "onset" and column.kind in ("number", "integer") and column.bounds[1] > seconds:
            yield (
                f"onsets go up to {column.bounds[1]:g} s, and the recording ends after {seconds:g} s: "
                "readers leave out what is later; declare a smaller upper, or more seconds."
            )
        if column.name == "sample" and column.kind in ("number", "integer") and rate is not None:
            most = round(rate * seconds)
            if column.bounds[1] < most - 1:
                yield (
                    f"samples go up to {column.bounds[1]:g}, and the recording has {most}: a later onset "
                    f"would stand at another sample; declare upper {most - 1}."
                )


def _stem(path: str) -> str | None:
    for ending in (*RECORDINGS, ".nii.gz", ".nii"):
        if path.endswith(ending):
            return path.removesuffix(ending)
    return None


def _object(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _of_sidecar(file: PersonFile, content: Mapping[str, Any]) -> Iterator[str]:
    recording, volume = file.twin_recording, file.twin_volume
    held: dict[str, float | None] = {}
    if recording is not None:
        held = {"SamplingFrequency": recording.rate, "RecordingDuration": recording.seconds}
    if volume is not None:
        held = {"RepetitionTime": volume.repetition_time}
        timing = content.get("SliceTiming")
        if isinstance(timing, list) and len(timing) not in volume.shape[:3]:
            yield f"SliceTiming has {len(timing)} times, and no axis of the twin's volume as many slices."
    for key, value in held.items():
        said = content.get(key)
        if value is None or isinstance(said, bool) or not isinstance(said, int | float):
            continue
        if not math.isclose(said, value, rel_tol=_CLOSE):
            yield f"{key} is {said:g} and the file in the twin has {value:g}: declare one of them for both."


def _of_channels(file: PersonFile, table: PersonFile) -> Iterator[str]:
    header, *rows = (line.split("\t") for line in table.twin_text.rstrip("\n").split("\n"))
    if "name" not in header or file.twin_recording is None:
        return
    names = [row[header.index("name")] for row in rows if len(row) == len(header)]
    if names != [channel.name for channel in file.twin_recording.channels]:
        yield "its names are not those of the channels of the recording in their order: declare the same."
