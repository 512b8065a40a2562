"""Runs on the twin that failed: how and where, how many in the same way, and what to do about it.

For runs on a twin alone: what a run on original data says or writes is shown to nobody.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath

from domain.errors import PipelineError
from domain.formats import suffixes
from domain.image import HOST_IMAGE
from domain.pipeline import Pipeline
from domain.remedies import Place, lacking, remedy
from domain.shape import Shape, check_run
from domain.shape.constants import read_results
from domain.shape.text import TextShape, find_number, split_cells
from formats.delimited import delimiter_of
from worker.rehearsal.texts import clean
from worker.sandbox.protocol import Cause, RunDetail, RunResult
from worker.stage import People

_SHOWN = 120
_LINES = 3
_COMMA = re.compile(r"[+-]?\d{1,15},\d{1,15}", re.ASCII)
_ABSENT = {"NA", "NaN", "nan", "None", "null", "NULL", "Inf", "-Inf", "inf"}
_ONLY_DECLARED = (
    "Write the numbers that dpgate.yaml declares and no others: a row for each person cannot leave. Numbers "
    "in labels count, too."
)
_FILLED = "Write the numbers that dpgate.yaml declares into it, on every input."
_AS_PRINTED = "Write the number itself, not how it is printed (in R as.numeric, in Python a float)."
_PRINTED = re.compile(r"(?:^|[\s,;])[<>]=?\s?[+-]?[\d.]", re.ASCII)
_UNIT = re.compile(
    r"(?<![\w.])([+-]?\d{1,15}(?:\.\d{1,15})?) ?(?:%|[A-Za-z°µ][\w/²³]{0,9})(?![^\t\n,;])", re.ASCII
)
_OWN_LINE = re.compile(r'File "/pipeline/([^"\n]{1,100})", line (\d+)')
# what R says last, whatever went wrong
_NO_REASON = re.compile(r"Execution halted|Calls: .*")
_NUMBERS = re.compile(r"\d+(?:\.\d+)?")
_NO_SUCH_LEVEL = "If it has no participant level, say so in dpgate.yaml: levels: [group]."
_SILENT = (
    "It ended without a word: let its commands say why (curl -s does not). A run has no network, and can "
    "write below its second argument and in /tmp alone."
)
_EVERY_LEVEL = "Write a row for each declared category, with n/a where a block has nobody of it."


@dataclass(frozen=True)
class Failure:
    """Blocks of the twin that failed alike, or gave no number for a cell: the reason of the first of them."""

    reason: str
    blocks: int
    fix: str

    def __str__(self) -> str:
        return f"{self.blocks} × {self.reason} {self.fix}".strip()


def place_of(
    pipeline: Pipeline, people: People, images_with: Callable[[str], Sequence[str]] = lambda _name: ()
) -> Place:
    """Where the runs take place: their image, and the columns of the tables that they are given."""
    return Place(pipeline.manifest.image, dict(_columns(people)), images_with)


def _columns(people: People) -> Iterator[tuple[str, tuple[str, ...]]]:
    for table in people.tables:
        separator = delimiter_of(table.path)
        head = table.only(()).decode("utf-8", errors="replace").lstrip("\ufeff").splitlines()
        yield table.path, tuple(cell.strip('"') for cell in head[0].split(separator)) if head else ()


def why(detail: RunDetail | None, pipeline: Pipeline | None = None, place: Place | None = None) -> str:
    """How a run on the twin ended, in one line, below it what it said, and at the end what to do, if that is
    known: for the latter the pipeline, and where it ran."""
    if detail is None:
        return "the run failed"
    words = [detail.cause.value]
    if detail.level is not None:
        words.append(f"level {detail.level}")
    if detail.exit_code is not None:
        words.append(f"exit code {detail.exit_code}")
    lines = [f"{', '.join(words)} after {detail.duration_s:.1f} s"]
    if detail.tail.strip():
        lines.append(detail.tail.strip())
    if pipeline is not None and place is not None and (fix := _fix(detail, pipeline, place)):
        lines.append(f"What to do: {fix}")
    return "\n".join(lines)


def _fix(detail: RunDetail, pipeline: Pipeline, place: Place) -> str:
    limits = pipeline.manifest.resources
    match detail.cause:
        case Cause.WALL:
            limit = f"resources.wall_seconds in dpgate.yaml above {limits.wall_seconds:g}"
            # what waits for a network takes all the time there is
            return lacking(detail.tail, place) or f"Raise {limit}, or make it quicker."
        case Cause.MEMORY:
            return (
                f"Raise resources.memory_mib in dpgate.yaml above {limits.memory_mib}, or read less at once."
            )
        case Cause.OUTPUT:
            # it said that it had succeeded, which need not be so
            is_tree = detail.level != pipeline.manifest.levels[-1]
            about = _about_tree(pipeline) if is_tree else _about_output(pipeline)
            return f"{about} {remedy(detail.tail, place)}".strip()
        case Cause.START:
            # a shell script that ends with a command that is not there ends as if it were itself that one
            return lacking(detail.tail, place) or _about_command(pipeline.manifest.command, place)
        case _:
            carries_on = pipeline.manifest.carries_on and detail.level == "participant"
            unknown = (_NO_SUCH_LEVEL if carries_on else "", "" if detail.tail.strip() else _SILENT)
            return remedy(detail.tail, place) or " ".join(filter(None, unknown))


def _about_command(command: Sequence[str], place: Place) -> str:
    """A path of the author's own machine is the usual mistake."""
    check = f"Check the command: {(' '.join(command) or 'the entry point of the image')[:_SHOWN]}"
    if command and command[0].startswith("/") and not command[0].startswith("/pipeline/"):
        own = "; for an environment that is given with --python-env, call python3"
        return f"{check}. A run sees its image and /pipeline{own if place.image == HOST_IMAGE else ''}."
    return check


def _about_tree(pipeline: Pipeline) -> str:
    return (
        f"A participant run leaves plain files and folders, {pipeline.manifest.resources.output_mib} MiB and "
        "some thousands of them at most, that it can read itself: remove what it no longer needs, raise "
        "resources.output_mib in dpgate.yaml, and copy where it gives a file a second name (ln without -s)."
    )


def _about_output(pipeline: Pipeline) -> str:
    """A file of nearly the declared name stands in the sources, and the declared one does not."""
    declared = {PurePosixPath(output.file).name for output in pipeline.manifest.outputs}
    endings = "|".join(map(re.escape, sorted(suffixes(), key=len, reverse=True)))
    written = re.compile(rf"[\w.-]+(?:{endings})\b".encode())
    for path, content in pipeline.contents.items():
        named = {found.decode("ascii", errors="replace") for found in written.findall(content)}
        for name in sorted(declared - named):
            # without endings, which alone make any two look alike
            others = {other.split(".")[0]: other for other in sorted(named - declared)}
            if near := difflib.get_close_matches(name.split(".")[0], list(others), n=1):
                return f"{path} names {others[near[0]]}, dpgate.yaml declares {name}: make them the same."
    files = ", ".join(output.file for output in pipeline.manifest.outputs)
    return f"It has to write {files} below its second argument, as a plain file, on every input."


def unlocked(pipeline: Pipeline, outputs: Mapping[str, bytes], error: ValueError | PipelineError) -> str:
    """Why what was written has no shape, with the first lines of the file that it is about."""
    named = (output for output in pipeline.manifest.outputs if output.file in str(error))
    output = next(named, None)
    if output is None or output.format not in ("text", "json"):
        return str(error)
    text = outputs.get(output.file, b"").decode("utf-8", errors="replace")
    first = [line[:_SHOWN] for line in clean(text[: 10 * _SHOWN], 10 * _SHOWN).splitlines()[:_LINES]]
    begins = "\n".join(f"  {line}" for line in first)
    told = f"{error}\nIt begins:\n{begins}" if first else f"{error}\nIt is empty."
    counts = re.search(r"holds (\d+) numbers, the manifest declares (\d+)", str(error))
    is_more = counts is not None and int(counts[1]) > int(counts[2])
    fix = _ONLY_DECLARED if is_more else _as_numbers(text[: 10 * _SHOWN])
    return f"{told}\nWhat to do: {fix}"


def _as_numbers(text: str) -> str:
    """What to write in place of cells that look like numbers and are none."""
    cells = re.split(r"[\s;]+", text)
    if comma := next((cell for cell in cells if _COMMA.fullmatch(cell)), None):
        return f"Write decimals with a point: {comma.replace(',', '.')}, not {comma}."
    if absent := next((cell for cell in re.split(r"[\s;,]+", text) if cell in _ABSENT), None):
        return (
            f"{absent} is no number: write n/a where there is none. If there should be one, look at the "
            "names of columns: R has NULL for one that is not there, and reads n/a as a word without "
            'na.strings = "n/a".'
        )
    if _PRINTED.search(text):
        return _AS_PRINTED
    if unit := _UNIT.search(text):
        return f"Write the number alone into its cell: {unit[1]}, not {unit[0].strip()}."
    return _FILLED


def failures(
    results: Sequence[RunResult], shape: Shape, pipeline: Pipeline, place: Place
) -> tuple[Failure, ...]:
    """Blocks grouped by what went wrong, the most frequent first, whatever numbers are in a reason."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for result in results:
        for reason, fix in _reasons(result, shape, pipeline, place):
            groups.setdefault(_NUMBERS.sub("#", reason), []).append((reason, fix))
    found = [Failure(alike[0][0], len(alike), alike[0][1]) for alike in groups.values()]
    return tuple(sorted(found, key=lambda failure: -failure.blocks))


def _reasons(result: RunResult, shape: Shape, pipeline: Pipeline, place: Place) -> Iterator[tuple[str, str]]:
    if result.outputs is None:
        yield _ended(result.detail), _fix(result.detail, pipeline, place) if result.detail else ""
        return
    for file in shape.files:
        content = result.outputs.get(file.file, b"")
        try:
            check_run(file, content)
            numbers = read_results(file, content)
        except PipelineError as error:
            yield _unlike(file, content, str(error))
            continue
        if None in numbers:
            place_of_first = file.addresses[numbers.index(None)] if not any(file.constants) else "a place"
            yield _no_number(file, content, place_of_first)


def _ended(detail: RunDetail | None) -> str:
    if detail is None:
        return "the run failed."
    lines = [line.strip() for line in clean(detail.tail, 2000).splitlines() if line.strip()]
    said = [line for line in lines if not _NO_REASON.fullmatch(line)] or lines
    if detail.cause in (Cause.EXIT, Cause.SIGNAL) and said:
        own = _OWN_LINE.findall(detail.tail)
        where = f" in {clean(own[-1][0], 60)}, line {own[-1][1]}" if own else ""
        return f"it ended with {_code(detail)}{where}: {said[-1][:_SHOWN]}."
    return f"{detail.cause.value}."


def _code(detail: RunDetail) -> str:
    return f"exit code {detail.exit_code}" if detail.exit_code is not None else "an error"


def _unlike(file: object, content: bytes, error: str) -> tuple[str, str]:
    """Where a text file first differs from the whole twin's; of other formats what its reader says."""
    if isinstance(file, TextShape):
        with suppress(PipelineError):
            rows = split_cells(file.file, content)
            if len(rows) != len(file.rows):
                counts = f"{file.file} has {len(rows)} lines, and {len(file.rows)} on the whole twin."
                return counts, _EVERY_LEVEL
            for number, (row, known) in enumerate(zip(rows, file.rows, strict=True), start=1):
                if len(row) != len(known):
                    cells = f"line {number} of {file.file} has {len(row)} cells, and {len(known)} on"
                    return f"{cells} the whole twin.", "Write the same columns on every input."
    return f"{error}.", ""


def _no_number(file: object, content: bytes, address: str) -> tuple[str, str]:
    """The first cell that holds none, with its text."""
    name = getattr(file, "file", "a file")
    if isinstance(file, TextShape) and (found := re.fullmatch(r"r(\d+)c(\d+)", address)):
        line, cell = int(found[1]) - 1, int(found[2]) - 1
        labels = [label for label in file.rows[line] if label is not None]
        with suppress(PipelineError):
            rows = split_cells(file.file, content)
            # rows that labels tell apart may stand in another order
            near = rows if labels else rows[line : line + 1]
            own = [row for row in near if len(row) > cell and _labels(row, file.rows[line]) == labels]
            if not own:
                return f"{name} has no row {clean(' '.join(labels), 60)}.", _EVERY_LEVEL
            if (row := own[0]) and find_number(row[cell]) is None:
                shown = clean(row[cell], 40) or "nothing"
                at = f"line {rows.index(row) + 1}, cell {cell + 1} of {name}"
                return f"{at} holds {shown}, which is no number.", _as_number(row[cell])
    return f"{name} holds no number at {address}.", ""


def _labels(row: Sequence[str], known: Sequence[str | None]) -> list[str]:
    """What a row holds where the twin's has its labels."""
    return [cell for cell, label in zip(row, known, strict=False) if label is not None]


def _as_number(text: str) -> str:
    if text.strip().startswith(("<", ">")):
        return _AS_PRINTED
    if text.strip().casefold() in ("n/a", "na", "nan", ""):
        return "It counts as the middle of the bounds."
    return "Write a number, or n/a where there is none."
