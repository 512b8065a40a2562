"""The readers of hostile files, and what must hold whatever they are given: they read, or refuse in words."""

from __future__ import annotations

import io
import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from factories import column_fields, table_fields
from pydantic import TypeAdapter

from domain.dataset import Table
from domain.errors import PipelineError
from domain.model import parse
from domain.pipeline import OutputFile
from domain.shape import FileShape, lock
from domain.whitelist import read_whitelist
from formats.delimited import joined, read_rows
from worker.intake.parquet_table import ParquetTable
from worker.intake.refusal import ImportRefused
from worker.intake.text_table import TextTable

CORPUS = Path(__file__).with_name("corpus")
LONGEST_SENTENCE = 1000
_SHAPES: TypeAdapter[FileShape] = TypeAdapter(FileShape)
_COLUMNS = [
    {"name": "person", "kind": "person"},
    column_fields(),
    {"name": "sex", "kind": "categorical", "categories": ["f", "m", "d"]},
]

_DAYS = [
    {"name": "day", "kind": "date", "lower": "1900-01-01", "upper": "2099-12-31"},
    {"name": "at", "kind": "date", "lower": "1900-01-01", "upper": "2099-12-31", "with_time": True},
]
_GERMAN = {
    "delimiter": ";", "encoding": "windows-1252", "decimal": ",", "thousands": ".", "dates": "DD.MM.YYYY",
}  # fmt: skip


class Broken(AssertionError):
    """A promise of a reader that does not hold."""


@dataclass(frozen=True)
class Reader:
    """`read` returns the sentence of a refusal, or None; everything that it raises is a finding.

    `words` are put into mutants. `is_native`: a mistake in it can end the whole process.
    """

    name: str
    read: Callable[[bytes], str | None]
    words: Sequence[bytes] = (b"\0\0\0\0", b"\xff\xff\xff\xff")
    is_native: bool = False


def kept_files(reader: str, corpus: Path = CORPUS) -> dict[str, bytes]:
    """By name."""
    return {path.name: path.read_bytes() for path in sorted((corpus / reader).iterdir())}


def output_reader(file: str) -> Callable[[bytes], str | None]:
    """Of one format. A private run is read with the shape of the first file that could be locked, too."""
    bounds = [{"select": "*", "name": "number", "lower": 0, "upper": 1}]
    output = parse(OutputFile, {"file": file, "bounds": bounds})
    twin: list[FileShape] = []

    def read(content: bytes) -> str | None:
        if twin:
            _read_privately(twin[0], content)
        try:
            shape = lock(output, content, {})
        except PipelineError as error:
            return _checked(str(error))
        twin.append(shape) if not twin else None
        _read_privately(shape, content, must=True)
        released = shape.write(["0.5"] * shape.numbers)
        if lock(output, released, {}).addresses != shape.addresses:
            raise Broken("what is released has another shape than what was locked")
        if shape.read(released) != [0.5] * shape.numbers:
            raise Broken("what is released does not hold the numbers that were put into it")
        if _SHAPES.validate_json(_SHAPES.dump_json(shape)) != shape:
            raise Broken("a shape does not survive being sent")
        return None

    return read


def _read_privately(shape: FileShape, content: bytes, *, must: bool = False) -> None:
    """What a run on original data goes through: numbers, or PipelineError, which nobody sees."""
    try:
        numbers = shape.read(content)
    except PipelineError:
        if must:
            raise Broken("a file is not read with its own shape") from None
        return
    if len(numbers) != shape.numbers or not all(
        number is None or math.isfinite(number) for number in numbers
    ):
        raise Broken("other numbers than the shape has places")


def _whitelist(content: bytes) -> str | None:
    text = content.decode(errors="replace")
    try:
        paths = read_whitelist(text)
    except ValueError as error:
        return _checked(str(error))
    for path in paths:
        if path.startswith("/") or {"", ".", ".."} & set(path.split("/")) or "\\" in path:
            raise Broken("a path that leads outside")
    return None


def _rows(name: str, content: bytes) -> str | None:
    """As the SIESTA tools and the stage read a table: every byte comes back."""
    try:
        table = read_rows(name, content)
    except ValueError as error:
        return _checked(str(error))
    if table.bom + joined([table.header, *table.rows]) != content:
        raise Broken("not every byte of a table came back")
    return None


def _table(name: str, content: bytes) -> str | None:
    """As the import reads it: what enters a snapshot has the declared columns alone, and the same people."""
    table = parse(Table, table_fields(path=name, columns=_COLUMNS))
    try:
        found = TextTable(table, lambda: io.BytesIO(content))
        people = [person for _, person in found.people()]
        list(found.mentions())
        with found.open_declared() as file:
            declared = file.read()
    except ImportRefused as error:
        return _checked(str(error))
    again = TextTable(table, lambda: io.BytesIO(declared))
    if [person for _, person in again.people()] != people:
        raise Broken("other people in the snapshot than in the delivery")
    return None


def _dialect(content: bytes) -> str | None:
    """The same of a table in another dialect: what enters a snapshot reads as a table of the one form."""
    usual = table_fields(path="t.csv", columns=[*_COLUMNS, *_DAYS])
    try:
        found = TextTable(parse(Table, {**usual, "dialect": _GERMAN}), lambda: io.BytesIO(content))
        people = [person for _, person in found.people()]
        with found.open_declared() as file:
            declared = file.read()
    except ImportRefused as error:
        return _checked(str(error))
    again = parse(Table, {**usual, "dialect": {}})
    with TextTable(again, lambda: io.BytesIO(declared)).open_declared() as file:
        if file.read() != declared:
            raise Broken("what was written anew is written in another way again")
    table = TextTable(again, lambda: io.BytesIO(declared))
    if [person for _, person in table.people()] != people:
        raise Broken("other people in the snapshot than in the delivery")
    return None


def _parquet(content: bytes) -> str | None:
    table = parse(Table, table_fields(path="people.parquet", columns=_COLUMNS))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        path.write_bytes(content)
        try:
            found = ParquetTable(table, path, partial(open, path, "rb"))
            people = list(found.people())
            found.open_declared().close()
        except ImportRefused as error:
            return _checked(str(error))
        if any(not person for _, person in people):
            raise Broken("a row of nobody")
    return None


def _checked(sentence: str) -> str:
    """A refusal is a sentence that a person can read on a page, however hostile the file."""
    if not sentence.strip() or len(sentence) > LONGEST_SENTENCE:
        raise Broken(f"no sentence but {len(sentence)} characters")
    return sentence


def _readers() -> Mapping[str, Reader]:
    mat = (b"\x0e\0\0\0", b"\x0f\0\0\0", b"double", b"char", b"\1\0\0\0", b"\6\0\0\0", b"\x09\0\0\0")
    hdf5 = (
        *(b"TREE", b"SNOD", b"HEAP", b"OHDR", b"OCHK", b"FRHP", b"\x89HDF\r\n\x1a\n", b"\xff" * 8),
        *(b"MATLAB_class", b"MATLAB_empty", b"MATLAB_int_decode", b"double", b"cell", b"struct", b"logical"),
    )
    table = (b"\t", b",", b'"', b'""', b"\r\n", b"\n", b"\r", b"\0", b"\xef\xbb\xbf", b"sub-01", b"person")
    json = (b"{", b"}", b"[", b"]", b'"', b"\\u0000", b"\\ud800", b"null", b"NaN", b"1e5", b"-0", b":", b",")
    npy = (b"'descr'", b"'<f8'", b"'>i2'", b"'|O'", b"fortran_order", b"True", b"(2, 3)", b"()", b"\x93NUMPY")
    paths = (b"..", b"/", b"./", b"#", b".tsv", b".nii.gz", b"\r\n", b"\n", b"\\", b" ", b"\xe2\x80\xa8")
    nifti = (b"n+1\0", b"n+2\0\r\n\x1a\n", b"\x5c\1\0\0", b"\x1c\2\0\0", b"\0\0\xc0\x7f", b"\0\0\x80\x7f")
    outputs = {"tsv": table, "csv": table, "txt": table, "json": json, "npy": npy, "nii": nifti}
    found = [Reader(suffix, output_reader(f"r.{suffix}"), words) for suffix, words in outputs.items()]
    found += [
        Reader("nii.gz", output_reader("r.nii.gz"), nifti),
        *(Reader(name, output_reader("r.mat"), mat) for name in ("mat4", "mat5")),
        Reader("mat73", output_reader("r.mat"), hdf5),
        Reader("whitelist", _whitelist, paths),
        *(Reader(f"rows.{end}", partial(_rows, f"t.{end}"), table) for end in ("tsv", "csv")),
        *(Reader(f"table.{end}", partial(_table, f"t.{end}"), table) for end in ("tsv", "csv")),
        Reader(
            "table.dialect", _dialect, (*table, b";", b"1.234,5", b"1.3.2024", b"14:05", b"\x81", b"\xe4")
        ),
        Reader("parquet", _parquet, (b"PAR1", b"\x15\x0c", b"person"), is_native=True),
    ]
    return {reader.name: reader for reader in found}


READERS = _readers()
