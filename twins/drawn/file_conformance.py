"""One file of a person, in an original and in its twin: grids, channels, names and technical values.

Only headers of volumes and recordings are read. A finding names what the specification names, and numbers;
never a text of the original.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import BinaryIO, Literal

from domain import placing
from domain.dataset.files import VOLUMES
from domain.dataset.twin_content import RECORDINGS
from domain.errors import PipelineError
from formats import nifti
from twins.drawn import files_sidecars
from twins.drawn.files_headers import RecordingHead
from twins.drawn.recording_heads import Open, read_recording

When = Literal["mend", "most", "purpose"]
"""To mend; to mend where most people have it, since one declaration stands for all; on purpose."""

Finding = tuple[str, When]

STEP_SECONDS = 10
_MOST_BYTES = 16 * 2**20


def compare_file(path: str, theirs: str, ours: str, original: Open, twin: Open) -> Iterator[Finding]:
    """`path` as it is declared, and where the file lies in each."""
    try:
        if path.endswith(VOLUMES):
            yield from _volumes(_grid(path, theirs, original), _grid(path, ours, twin))
        elif path.endswith(".json"):
            yield from _objects(path, _text(theirs, original), _text(ours, twin))
        elif path.endswith(RECORDINGS):
            yield from _recordings(read_recording(theirs, original), read_recording(ours, twin))
        elif path.endswith(".tsv"):
            yield from _lines(path, _text(theirs, original), _text(ours, twin))
    except (PipelineError, ValueError) as error:
        # only our own sentences are without a word of the file
        said = error if isinstance(error, PipelineError) or type(error) is ValueError else "it is damaged"
        yield f"it cannot be compared: {said}.", "mend"


def _grid(path: str, place: str, opened: Open) -> nifti.Grid:
    with opened(place) as file:
        return nifti.read_grid(path, file.read(nifti.HEAD_BYTES))


def _volumes(theirs: nifti.Grid, ours: nifti.Grid) -> Iterator[Finding]:
    pairs = {
        "shape": (theirs.dims, ours.dims),
        "dtype": (theirs.kind, ours.kind),
        "zooms": tuple(tuple(round(zoom, 3) for zoom in grid.zooms) for grid in (theirs, ours)),
        "time between volumes": tuple(grid.seconds and round(grid.seconds, 3) for grid in (theirs, ours)),
    }
    for what, (one, other) in pairs.items():
        if one != other:
            yield f"{what} is {one} in the original and {other} in the twin.", "mend"
    if theirs.axes and ours.axes and theirs.axes != ours.axes:
        yield (
            f"orientation is {theirs.axes} in the original and {ours.axes} in the twin: declare orientation.",
            "mend",
        )
    yield from _places(theirs, ours)


def _places(theirs: nifti.Grid, ours: nifti.Grid) -> Iterator[Finding]:
    """Where both lead the same way; a twin without a declared affine stands at the origin, on purpose."""
    if theirs.axes is None:
        yield (
            "its header does not say where its axes lead, or says it twice and otherwise: set its sform.",
            "mend",
        )
    if theirs.affine is None or ours.affine is None or theirs.axes != ours.axes:
        return
    if not placing.lies_alike(theirs.affine, ours.affine, ours.dims):
        if placing.is_placeless(ours.affine):
            yield "its origin and tilt are not declared: the twin stands upright at the origin.", "purpose"
        else:
            yield "its affine is not the declared one: resample it, or declare orientation instead.", "mend"


def _recordings(theirs: RecordingHead, ours: RecordingHead) -> Iterator[Finding]:
    names, made = [each.name for each in theirs.channels], [each.name for each in ours.channels]
    if lacking := len(set(names) - set(made)):
        yield f"the twin lacks {lacking} channels.", "mend"
    if more := len(set(made) - set(names)):
        yield f"the twin has {more} channels that the original lacks.", "mend"
    if not lacking and not more and names != made:
        yield "the channels are in another order.", "mend"
    known = {each.name: each for each in ours.channels}
    both = [(each, known[each.name]) for each in theirs.channels if each.name in known]
    for what in ("type", "units"):
        if others := sum(getattr(one, what) != getattr(other, what) for one, other in both):
            yield f"{others} channels are of another {what}.", "mend"
    if unnamed := sum(not each.is_known for each in theirs.channels):
        yield f"{unnamed} channels have names of their own, which are not compared.", "purpose"
    if not math.isclose(theirs.rate, ours.rate, rel_tol=1e-3):
        yield f"its rate is {theirs.rate:g} a second in the original and {ours.rate:g} in the twin.", "mend"
    if theirs.beside is not ours.beside:
        yield "the samples of the one are in a .fdt and those of the other are not: declare fdt.", "mend"
    if theirs.seconds and ours.seconds and _steps(theirs.seconds) != _steps(ours.seconds):
        yield f"its length, rounded up to {STEP_SECONDS} s, is another than in the twin.", "purpose"


def _steps(seconds: float) -> int:
    return math.ceil(round(seconds / STEP_SECONDS, 6))


def _objects(path: str, theirs: bytes, ours: bytes) -> Iterator[Finding]:
    names, made = _object(theirs), _object(ours)
    kept, known = (files_sidecars.technical(path, text).content for text in (theirs, ours))
    if lacking := sorted(set(kept) - set(made)):
        yield f"the twin lacks {_some(lacking)}.", "mend"
    if others := len(set(names) - set(made) - set(kept)):
        yield f"the twin lacks {others} names of the object that are not technical.", "purpose"
    if more := sorted(set(made) - set(names)):
        yield f"the twin has {len(more)} names that the original lacks: {_some(more)}.", "mend"
    both = sorted(name for name in set(names) & set(made) if names[name] == "n/a" or made[name] != "n/a")
    if unsaid := len(set(names) & set(made)) - len(both):
        yield f"{unsaid} names say n/a in the twin.", "purpose"
    if strange := sum(_kind(names[name]) != _kind(made[name]) for name in both):
        yield f"{strange} names have a value of another type.", "mend"
    for key in both:
        if key in kept and kept[key] != known.get(key) and _kind(names[key]) == _kind(made[key]):
            yield f"{key} has another value in the original.", "most"


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")


def _object(content: bytes) -> dict[str, object]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):  # its message would quote the text
        raise ValueError("it is no JSON") from None
    return found if isinstance(found, dict) else {}


def _kind(value: object) -> str:
    """As a program sees it: 2 and 2.5 are both numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return type(value).__name__
    return "number"


def _lines(path: str, theirs: bytes, ours: bytes) -> Iterator[Finding]:
    """Tables whose text is declared: names of columns, and as many lines where these are channels."""
    (header, count), (made, lines) = _header(theirs), _header(ours)
    if lacking := len(set(header) - set(made)):
        yield f"the twin lacks {lacking} columns.", "purpose"
    if more := len(set(made) - set(header)):
        yield f"the twin has {more} columns that the original lacks.", "mend"
    if count != lines and path.endswith(("_channels.tsv", "_electrodes.tsv")):
        yield "it has more or fewer lines than in the twin.", "most"


def _header(content: bytes) -> tuple[list[str], int]:
    first, *rest = content.decode("utf-8-sig", "replace").rstrip("\r\n").split("\n")
    return first.rstrip("\r").split("\t"), len(rest)


def _text(place: str, opened: Open) -> bytes:
    with opened(place) as file:
        return _bounded(file)


def _bounded(file: BinaryIO) -> bytes:
    content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise ValueError(f"it has more than {_MOST_BYTES >> 20} MiB")
    return content
