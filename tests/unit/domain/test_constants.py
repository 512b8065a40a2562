"""Numbers that are no results: locked from the twin and never noised; where a run disagrees, none is told."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from factories import make_manifest

from domain.errors import InvalidRequest, PipelineError
from domain.model import parse
from domain.outputs import values_of
from domain.pipeline import OutputFile
from domain.shape import FileShape, Shape, lock

BOUNDS = [{"select": "*", "name": "mean", "lower": 0, "upper": 100}]
BY_YEAR = b"year\tsex\tmean\n2019\tF\t40\n2019\tM\t41\n2020\tF\t42\n2020\tM\t43\n"
CURVE = b'{"time": [0, 0.5, 1.0], "curve": [4, 5, 6]}'


def output_of(file: str, *constants: str, **more: Any) -> OutputFile:
    return parse(OutputFile, {"file": file, "bounds": BOUNDS, "constants": list(constants), **more})


def locked(file: str, content: bytes, *constants: str) -> Shape:
    return Shape(files=(lock(output_of(file, *constants), content, {}),))


def read(shape: Shape, content: bytes) -> list[float | None]:
    return shape.read({file.file: content for file in shape.files})


def names_of(output: OutputFile, content: bytes) -> list[str]:
    shape = Shape(files=(lock(output, content, {}),))
    manifest = make_manifest(outputs=[output.model_dump(mode="json")])
    shape.check_fits(manifest)
    return [value.name for value in values_of(manifest, shape)]


def npy(*numbers: float) -> bytes:
    file = io.BytesIO()
    np.save(file, np.array(numbers, np.float64).reshape(2, -1))
    return file.getvalue()


def test_constants_are_the_twins_and_only_results_are_values() -> None:
    shape = locked("t.tsv", BY_YEAR, "column:year")
    assert names_of(output_of("t.tsv", "column:year"), BY_YEAR) == ["mean-1", "mean-2", "mean-3", "mean-4"]
    assert read(shape, BY_YEAR) == [40, 41, 42, 43]
    assert shape.write(["1", "2", "3", "4"]) == {
        "t.tsv": b"year\tsex\tmean\n2019\tF\t1\n2019\tM\t2\n2020\tF\t3\n2020\tM\t4\n"
    }


def test_listed_values_are_the_results_alone() -> None:
    values = [{"name": name, "lower": 0, "upper": 100} for name in ("f", "m", "later_f", "later_m")]
    output = parse(OutputFile, {"file": "t.tsv", "values": values, "constants": ["column:year"]})
    assert names_of(output, BY_YEAR) == ["f", "m", "later_f", "later_m"]


EACH_FORMAT = (
    ("curve.json", CURVE, "/time", b'{"time": [0, 0.5, 1.0], "curve": [7, 8, 9]}', [7, 8, 9]),
    ("curve.npy", npy(0, 0.5, 1, 4, 5, 6), "[0]", npy(0, 0.5, 1, 7, 8, 9), [7, 8, 9]),
    ("curve.csv", b"0,4\n0.5,5\n1.0,6\n", "r1c1", b"0,7\n1,8\n2,9\n", [7, 1, 8, 2, 9]),
)


def test_each_format_has_constants(subtests: pytest.Subtests) -> None:
    for file, twin, constant, run, results in EACH_FORMAT:
        with subtests.test(file=file):
            shape = locked(file, twin, constant)
            assert read(shape, run) == results
            written = shape.write([str(number) for number in results])[file]
            assert read(shape, written) == results
            assert shape.files[0].read(written)[0] == 0


ROWS_ARE_MATCHED_BY_CONSTANTS_TOO = (
    (b"year\tsex\tmean\n2020\tM\t3\n2019\tF\t1\n", [1, None, None, 3]),
    (b"year\tsex\tmean\n2020.0\tM\t3\n2019.0\tF\t1\n", [1, None, None, 3]),
    (b"year\tsex\tmean\n2021\tM\t3\n2019\tF\t1\n", [1, None, None, None]),
    (b"year\tsex\tmean\n1\tF\t1\n1\tM\t2\n2\tF\t3\n2\tM\t4\n", [None] * 4),
)


def test_rows_are_matched_by_constants_too(subtests: pytest.Subtests) -> None:
    shape = locked("t.tsv", BY_YEAR, "column:year")
    for content, results in ROWS_ARE_MATCHED_BY_CONSTANTS_TOO:
        with subtests.test(content=content):
            assert read(shape, content) == results


def test_another_constant_leaves_the_files_results_out_and_no_other_files() -> None:
    number = [{**BOUNDS[0], "name": "n"}]
    both = [output_of("curve.json", "/time"), output_of("n.json", bounds=number)]
    shape = Shape(files=(lock(both[0], CURVE, {}), lock(both[1], b"7", {})))
    assert shape.read({"curve.json": CURVE.replace(b"0.5", b"0.4"), "n.json": b"8"}) == [None, None, None, 8]
    assert shape.read({"curve.json": CURVE.replace(b"0.5", b"0.50000000001"), "n.json": b"8"})[0] == 4


REFUSED = (
    ({"constants": ["*"]}, "name a column or a place"),
    ({"constants": [""]}, "constants"),
    ({"constants": ["column:year"] * 401}, "constants"),
)


def test_what_leaves_no_result_is_refused(subtests: pytest.Subtests) -> None:
    for body, words in REFUSED:
        with subtests.test(words=words), pytest.raises(InvalidRequest, match=words):
            parse(OutputFile, {"file": "t.tsv", "bounds": BOUNDS, **body})
    volume = {"name": "tissue", "lower": 0, "upper": 4}
    with pytest.raises(InvalidRequest, match="a volume, columns or a curve have no constants"):
        parse(OutputFile, {"file": "m.nii", "volume": volume, "constants": ["label 1"]})


def test_places_without_a_number_and_files_without_a_result_are_refused() -> None:
    with pytest.raises(PipelineError, match="the constants 'column:month' fit no number; there are r2c1"):
        locked("t.tsv", BY_YEAR, "column:month")
    with pytest.raises(PipelineError, match="all numbers are constants"):
        locked("t.tsv", BY_YEAR, "column:year", "column:mean")


FORGED: tuple[dict[str, Any], ...] = (
    {"constants": ["2019", None, "2019", None, "2020", None, "2020"]},
    {"constants": [None, "40", None, "41", None, "42", None, "43"]},
    {"constants": [None] * 8},
    {"constants": ["1"] * 8},
    {"constants": ["1e999", None, "2019", None, "2020", None, "2020", None]},
    {"constants": ["20\t19", None, "2019", None, "2020", None, "2020", None]},
    {"constants": ["nan", None, "2019", None, "2020", None, "2020", None]},
)


def test_forged_locks_are_refused(subtests: pytest.Subtests) -> None:
    output = output_of("t.tsv", "column:year")
    manifest = make_manifest(outputs=[output.model_dump(mode="json")])
    body = locked("t.tsv", BY_YEAR, "column:year").model_dump(mode="json")
    parse(Shape, body).check_fits(manifest)
    for forged in FORGED:
        with subtests.test(forged=forged), pytest.raises((InvalidRequest, ValueError)):
            parse(Shape, {"files": [{**body["files"][0], **forged}]}).check_fits(manifest)


def test_a_lock_without_constants_is_written_as_before() -> None:
    shape: FileShape = lock(output_of("t.tsv"), BY_YEAR, {})
    assert "constants" not in shape.model_dump(mode="json")
    assert "constants" not in output_of("t.tsv").model_dump(mode="json")
