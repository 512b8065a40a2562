"""A proposal for a manifest's `outputs`, from what the pipeline wrote on the twin. The bounds stay open."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, TypeVar

from domain import whitelist
from domain.errors import PipelineError
from domain.model import parse
from domain.pipeline import OutputFile, Pipeline
from domain.shape import LOCKS, FileShape, NiftiShape, TextShape
from domain.shape.table import rows_of
from domain.shape.text import find_number
from dpgate.errors import DpgateError
from dpgate.pipeline_folder import PipelineFolder, read_text
from dpgate.preview_two_means import NumberColumn, correlated
from dpgate.proposal_limits import of_many, of_names
from privacy.mechanism import MAX_OUTPUTS

_OPEN = "lower: , upper: "
_LONGEST_NAME = 40
_ROW_FOR_EACH = (
    "    # has a row for each person, and cannot leave as it is; of a column the mean over people can,",
    "    # or the share of people above a number (above: NUMBER in place of the bounds): keep those you need",
)
_T = TypeVar("_T")


def provisional(loaded: PipelineFolder) -> Pipeline:
    """The pipeline with the files of its whitelist, or of its manifest, as outputs of any numbers.

    Raises DpgateError when neither names a file, InvalidRequest for anything else that is wrong.
    """
    outputs = [
        {"file": file, "bounds": [{"select": "*", "name": f"any{position}", "lower": 0, "upper": 1}]}
        for position, file in enumerate(_files(loaded), start=1)
    ]
    return parse(Pipeline, {**loaded.body, "manifest": {**loaded.manifest, "outputs": outputs}})


def propose(
    pipeline: Pipeline,
    written: Mapping[str, bytes],
    halves: Sequence[Mapping[str, bytes]] = (),
    columns: Sequence[NumberColumn] = (),
) -> str:
    """The YAML of `outputs` for these files of the twin's run; `lower` and `upper` are left to be typed.

    `columns` are those of the twin's tables: of a number that is the correlation of two it is said.
    `halves` are the files of runs on parts of the twin's people: a number that is the same in all of them
    is proposed as a constant, and a file that has another shape there is remarked on.
    """
    lines, names = ["outputs:"], set[str]()
    for output in pipeline.manifest.outputs:
        lines.append(f"  - file: {_quoted(output.file)}")
        parts = [half.get(output.file, b"") for half in halves]
        if own := _columns_of_people(output, written[output.file], parts):
            lines += [*_ROW_FOR_EACH, *_summaries(own, names)]
            continue
        lines += of_names(output, written[output.file])
        try:
            shape: FileShape = LOCKS[output.format](output, written[output.file], pipeline.contents)
            numbers = shape.read(written[output.file])
        except PipelineError as error:
            lines.append(f"    # {error}")
            continue
        if not shape.numbers:
            lines.append(
                "    # holds no number: of a text nothing can leave; write the numbers that it tells of"
            )
            continue
        found = _Found(output, shape, numbers, _constant(shape, written[output.file], parts))
        lines += [*_remarks(shape, parts), *_constants(found), *_values(found, names, columns)]
    return "\n".join(lines) + "\n"


def _files(loaded: PipelineFolder) -> Sequence[str]:
    path = loaded.folder / whitelist.FILE
    if path.exists():
        try:
            return whitelist.read_whitelist(read_text(path), name=str(path))
        except ValueError as error:
            raise DpgateError(str(error)) from None
    outputs: Any = loaded.manifest.get("outputs")
    files = [str(output["file"]) for output in outputs or [] if isinstance(output, dict) and "file" in output]
    if not files:
        raise DpgateError(
            f"{loaded.folder} names no file that may leave; list them in {whitelist.FILE}, "
            "one path below /out on each line"
        )
    return files


def _columns_of_people(output: OutputFile, whole: bytes, parts: Sequence[bytes]) -> list[str]:
    """The columns of numbers of a table that has a row for each person: the rows of both halves make those of
    the whole, under the same headings. None of another file."""
    if output.format != "text" or len(parts) < 2:
        return []
    tables = [rows_of(output.file, content) for content in (whole, *parts)]
    found = [table for table in tables if table is not None and table[1]]
    headings, rows = found[0] if found else ([], [])
    are_alike = len(found) == len(tables) and all(table[0] == headings for table in found)
    if not are_alike or len(rows) != sum(len(table[1]) for table in found[1:]):
        return []
    columns = {name: [row[place] for row in rows] for place, name in enumerate(headings)}
    return [name for name, cells in columns.items() if _are_numbers(cells)]


def _are_numbers(cells: Sequence[str]) -> bool:
    numbers = [find_number(cell) is not None for cell in cells]
    return any(numbers) and all(
        number or not cell.strip() or cell == "n/a" for number, cell in zip(numbers, cells, strict=True)
    )


def _summaries(columns: Sequence[str], names: set[str]) -> list[str]:
    lines = [
        f"      - {{column: {_quoted(column)}, name: {_name(f'mean {column}', names)}, {_OPEN}}}"
        for column in columns
    ]
    return ["    columns:", *lines]


@dataclass(frozen=True)
class _Found:
    """The numbers of one file on the twin, and which of them do not depend on who is in it."""

    output: OutputFile
    shape: FileShape
    numbers: Sequence[float | None]
    constant: Sequence[bool]

    def results(self, of: Sequence[_T]) -> list[_T]:
        """What belongs to results, of one entry for each number."""
        return [each for each, constant in zip(of, self.constant, strict=True) if not constant]


def _constant(shape: FileShape, whole: bytes, parts: Sequence[bytes]) -> list[bool]:
    """Which numbers are the same whoever is in the data. None of them where too little is known, or where
    nothing would be left."""
    nothing = [False] * shape.numbers
    if len(parts) < 2 or isinstance(shape, NiftiShape):
        return nothing
    try:
        runs = [shape.read(content) for content in (whole, *parts)]
    except PipelineError:
        return nothing
    found = [len(set(numbers)) == 1 and None not in numbers for numbers in zip(*runs, strict=True)]
    return nothing if all(found) else found


def _remarks(shape: FileShape, parts: Sequence[bytes]) -> list[str]:
    for content in parts:
        try:
            numbers = shape.read(content)
        except PipelineError:
            return [
                "    # on half of the people it has another shape; a release needs the same for any people"
            ]
        if None in numbers:
            return ["    # on half of the people some of its numbers are missing"]
    return []


def _constants(found: _Found) -> list[str]:
    """Whole columns where they are constant, else place by place."""
    if not any(found.constant):
        return []
    shape = found.shape
    columns = shape.columns if isinstance(shape, TextShape) else (None,) * shape.numbers
    results = set(found.results(columns))
    places = dict.fromkeys(
        f"column:{column}" if column is not None and column not in results else address
        for column, address, constant in zip(columns, shape.addresses, found.constant, strict=True)
        if constant
    )
    chosen = ", ".join(_quoted(place) for place in places)
    return [f"    constants: [{chosen}]  # the same on each half: no results"]


def _values(found: _Found, names: set[str], columns: Sequence[NumberColumn]) -> list[str]:
    """Value by value where there are few, else by place."""
    hints = found.results(_hints(found))
    if len(hints) <= MAX_OUTPUTS:
        rows = zip(hints, found.results(found.shape.addresses), found.results(found.numbers), strict=True)
        return [
            "    values:",
            *(_value(hint, names, address, number, columns) for hint, address, number in rows),
        ]
    lines = [
        f"      - {{select: {_quoted(place)}, name: {_name(hint, names)}, {_OPEN}}}  # {count} numbers"
        for place, hint, count in _places(found)
    ]
    return [
        *of_many(found.shape, found.constant),
        "    bounds:",
        *lines,
    ]


def _value(
    hint: str, names: set[str], address: str, number: float | None, columns: Sequence[NumberColumn]
) -> str:
    where = _printable(address) or "the top"
    shown = "none" if number is None else f"{number:g}"
    line = f"      - {{name: {_name(hint, names)}, {_OPEN}}}  # {where}, on the twin {shown}"
    pair = None if number is None else correlated(number, columns)
    if pair is None:
        return line
    x, y = (_printable(column.name) for column in pair)
    return f"{line}, the correlation of {x} and {y}: dpgate preview says what two means over people would do"


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text)


def _hints(found: _Found) -> list[str]:
    """Words for the name of each number: its headings and its row's constants where there are any, else where
    it stands."""
    output, shape = found.output, found.shape
    if not isinstance(shape, TextShape):
        return [f"{_stem(output)} {address}" for address in shape.addresses]
    lines = [int(address[1:].partition("c")[0]) - 1 for address in shape.addresses]
    keys: dict[int, list[str]] = {}
    for line, number, is_constant in zip(lines, found.numbers, found.constant, strict=True):
        if is_constant:
            keys.setdefault(line, []).append(f"{number:g}")
    hints = []
    for address, line, column in zip(shape.addresses, lines, shape.columns, strict=True):
        label = next((cell for cell in shape.rows[line] if cell), None)
        words = [word for word in (label, *keys.get(line, ()), column) if word]
        hints.append(" ".join(words) or f"{_stem(output)} {address}")
    return hints


def _places(found: _Found) -> list[tuple[str, str, int]]:
    """Columns, first keys or variables: what `select` may say, words for a name, how many numbers."""
    shape = found.shape
    if isinstance(shape, TextShape):
        keys = [f"column:{column}" if column else "*" for column in shape.columns]
    else:
        starts = [re.match(r"/[^/]*|[A-Za-z_][A-Za-z0-9_]*", address) for address in shape.addresses]
        keys = [start[0] if start else "*" for start in starts]
    keys = [key if key.isprintable() else "*" for key in found.results(keys)]  # a line of YAML
    counts = {
        key: keys.count(key) for key in sorted(set(keys), key=lambda key: (key == "*", keys.index(key)))
    }
    return [
        (key, f"{_stem(found.output)} {key.removeprefix('column:')}", count) for key, count in counts.items()
    ]


def _stem(output: OutputFile) -> str:
    return PurePosixPath(output.file).name.partition(".")[0]


def _name(hint: str, names: set[str]) -> str:
    """A name that no other value has; names are letters, digits and underscores."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", hint).strip("_")[:_LONGEST_NAME] or "value"
    base = plain if plain[0].isalpha() else f"v_{plain}"
    name, number = base, 2
    while name in names:
        name, number = f"{base}_{number}", number + 1
    names.add(name)
    return name


def _quoted(text: str) -> str:
    """As YAML reads it back; plain where that is the same."""
    if re.fullmatch(r"[A-Za-z0-9_/][A-Za-z0-9_./-]*", text):
        return text
    return "'" + text.replace("'", "''") + "'"
