"""Every numeric cell gets exactly one declared pair of bounds and one name, or the pipeline is refused."""

from __future__ import annotations

from typing import Any

import pytest
from factories import make_file_shape, make_job_request, make_manifest, make_pipeline, make_shape, make_source

from domain.errors import InvalidRequest, PipelineError
from domain.job import JobRequest
from domain.model import digest, parse
from domain.outputs import values_of
from domain.pipeline import Manifest, OutputFile, Pipeline
from domain.shape import Shape, lock
from domain.shape.selection import fits, name_values

TABLE = b"name\tmean\tsd\nage\t41\t2\nheight\t1.7\t0.1\n"


def entry(select: str, name: str, lower: float = 0, upper: float = 1) -> dict[str, Any]:
    return {"select": select, "name": name, "lower": lower, "upper": upper}


def output(*bounds: dict[str, Any], file: str = "r.tsv") -> OutputFile:
    return parse(OutputFile, {"file": file, "bounds": list(bounds)})


def named(declared: OutputFile, content: bytes) -> list[tuple[str, float]]:
    return [(value.name, value.upper) for value in name_values(declared, lock(declared, content, {}))]


def test_columns_of_a_text_file() -> None:
    declared = output(entry("column:sd", "spread", upper=9), entry("column:mean", "mean", upper=200))
    expected = [("mean-1", 200), ("spread-1", 9), ("mean-2", 200), ("spread-2", 9)]
    assert named(declared, TABLE) == expected


def test_the_first_entry_that_fits_decides_and_a_single_number_keeps_its_name() -> None:
    declared = output(entry("r2c2", "age", upper=120), entry("*", "rest"))
    assert named(declared, TABLE) == [("age", 120), ("rest-1", 1), ("rest-2", 1), ("rest-3", 1)]


@pytest.mark.parametrize("file", ["r.json", "r.npy"])
def test_parts_of_other_formats(file: str) -> None:
    if file == "r.json":
        content = b'{"model": {"beta": [1, 2], "se": 3}, "modelled": 4}'
        declared = output(entry("/model/beta", "b"), entry("/model", "m"), entry("/modelled", "n"), file=file)
        assert [name for name, _ in named(declared, content)] == ["b-1", "b-2", "m", "n"]
    else:
        content = (
            b"\x93NUMPY\x01\x00\x3a\x00{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2)}\n" + bytes(4)
        )
        declared = output(entry("[1]", "second"), entry("[0,1]", "corner"), entry("*", "rest"), file=file)
        assert [name for name, _ in named(declared, content)] == ["rest", "corner", "second-1", "second-2"]


WHAT_AN_ENTRY_TAKES = (
    ("*", "", None, True),
    ("/a", "/a", None, True),
    ("/a", "/a/0", None, True),
    ("/a", "/ab", None, False),
    ("/a/1", "/a/10", None, False),
    ("stats", "stats.beta[1,2]", None, True),
    ("stats.beta", "stats.beta[1,2]", None, True),
    ("stats.b", "stats.beta[1,2]", None, False),
    ("stats.beta[1,2]", "stats.beta[1,2]", None, True),
    ("stats.beta[1]", "stats.beta[1,2]", None, True),
    ("stats.beta[1]", "stats.beta[10,2]", None, False),
    ("people[1,2]", "people[1,2].age[1,1]", None, True),
    ("[1]", "[1,2]", None, True),
    ("[1]", "[11,2]", None, False),
    ("column:mean", "r2c2", "mean", True),
    ("column:mean", "r2c2", "means", False),
    ("column:mean", "r2c2", None, False),
    ("mean", "r2c2", "mean", False),
    ("r2c2", "r2c22", None, False),
)


def test_what_an_entry_takes(subtests: pytest.Subtests) -> None:
    for select, address, column, expected in WHAT_AN_ENTRY_TAKES:
        with subtests.test(select=select, address=address, column=column, expected=expected):
            assert fits(select, address, column) is expected


def test_headings_name_columns_only_where_each_stands_once_in_a_first_row_of_labels() -> None:
    for content in (b"1\t2\n3\t4\n", b"a\ta\n3\t4\n", b"a\t1\n3\t4\n"):
        with pytest.raises(PipelineError, match="no bounds for the number at r"):
            lock(output(entry("column:a", "x")), content, {})
    ragged = lock(output(entry("column:a", "x"), entry("*", "y")), b"a\n1\t2\n", {})
    assert ragged.columns == ("a", None)


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        (
            [entry("column:mean", "m")],
            r"no bounds for the number at r2c3 \(column sd\); declare them, or end",
        ),
        (
            [entry("*", "m"), entry("column:sd", "s")],
            "bounds of 'column:sd' fit no number; there are r2c2, r2c3",
        ),
        ([entry("column:height", "m"), entry("*", "s")], "bounds of 'column:height' fit no number"),
    ],
)
def test_numbers_without_bounds_and_bounds_without_numbers_are_refused(
    bounds: list[dict[str, Any]], words: str
) -> None:
    with pytest.raises(PipelineError, match=words):
        lock(output(*bounds), TABLE, {})


def test_more_numbers_than_can_be_released() -> None:
    content = b"\n".join([b"1\t2"] * 201)
    with pytest.raises(PipelineError, match="holds 402 numbers; at most 400 can be released, since each one"):
        lock(output(entry("*", "x")), content, {})


def test_names_are_distinct_over_all_files() -> None:
    bounds = [{"file": "a.tsv", "bounds": [entry("*", "x")]}]
    values = [{"file": "b.tsv", "values": [{"name": "x-2", "lower": 0, "upper": 1}]}]
    manifest = make_manifest(outputs=bounds + values)
    rows = [[None, None]], [[None]]
    shape = make_shape(
        *(make_file_shape(file=f, rows=r) for f, r in zip(("a.tsv", "b.tsv"), rows, strict=True))
    )
    with pytest.raises(ValueError, match="two values get the name x-2"):
        values_of(manifest, shape)
    with pytest.raises(InvalidRequest, match="two outputs have the same name"):
        make_manifest(outputs=[*bounds, {"file": "b.tsv", "bounds": [entry("*", "x")]}])


def test_at_most_four_hundred_over_all_files() -> None:
    files = ("a.tsv", "b.tsv")
    manifest = make_manifest(outputs=[{"file": f, "bounds": [entry("*", f[0])]} for f in files])
    shape = make_shape(*(make_file_shape(file=f, rows=[[None] * 201]) for f in files))
    with pytest.raises(ValueError, match="at most 400 values: each one shares the loss; there are 402"):
        values_of(manifest, shape)


OUTPUTS_THAT_SAY_TOO_LITTLE_OR_TOO_MUCH = (
    ({}, "says nothing of its numbers; add values, or bounds"),
    ({"values": [], "bounds": []}, "says nothing of its numbers"),
    (
        {"values": [{"name": "a", "lower": 0, "upper": 1}], "bounds": [entry("*", "b")]},
        "has values and bounds; keep one of them",
    ),
    ({"volume": {"name": "v", "lower": 0, "upper": 1}}, "volume is for .nii and .nii.gz files"),
    ({"bounds": [entry("*", "a", 1, 1)]}, "a: lower must be less than upper"),
    ({"bounds": [entry("", "a")]}, "bounds.0.select"),
    ({"bounds": [entry("a\nb", "a")]}, "bounds.0.select"),
    ({"bounds": [entry("*", "x" * 49)]}, "bounds.0.name"),
    ({"bounds": [{**entry("*", "a"), "more": 1}]}, "more: is not a known field"),
)


def test_outputs_that_say_too_little_or_too_much(subtests: pytest.Subtests) -> None:
    for fields, words in OUTPUTS_THAT_SAY_TOO_LITTLE_OR_TOO_MUCH:
        with subtests.test(fields=fields, words=words), pytest.raises(InvalidRequest, match=words):
            parse(OutputFile, {"file": "r.tsv", **fields})


@pytest.mark.parametrize("mask", ["mask.txt", "../mask.nii", "/mask.nii", ""])
def test_a_mask_is_a_volume_of_the_folder(mask: str) -> None:
    volume = {"name": "v", "lower": 0, "upper": 1, "mask": mask}
    with pytest.raises(InvalidRequest, match=r"volume\.mask"):
        parse(OutputFile, {"file": "r.nii.gz", "volume": volume})


def test_a_mask_lies_among_the_sources() -> None:
    volume = {"name": "v", "lower": 0, "upper": 1, "mask": "masks/roi.nii"}
    manifest = make_manifest(outputs=[{"file": "r.nii", "volume": volume}])
    with pytest.raises(InvalidRequest, match=r"the mask masks/roi.nii is not among the source files"):
        parse(Pipeline, {"manifest": manifest.model_dump(), "sources": []})
    assert make_pipeline(manifest=manifest, sources=(make_source("masks/roi.nii", b"x"),)).digest


A_FILE_OF_ANOTHER_KIND_IS_REFUSED = ("r.exe", "r", "r.nii.bz2", "r.gz", "r.tsv.gz", "r.nii.", "r.tsv\n")


def test_a_file_of_another_kind_is_refused(subtests: pytest.Subtests) -> None:
    for file in A_FILE_OF_ANOTHER_KIND_IS_REFUSED:
        with subtests.test(file=file), pytest.raises(InvalidRequest, match="file"):
            parse(OutputFile, {"file": file, "bounds": [entry("*", "a")]})


def test_the_largest_file_of_a_manifest_decides_what_is_read() -> None:
    outputs = [{"file": f"r.{end}", "bounds": [entry("*", end.replace(".", "_"))]} for end in ("tsv", "npy")]
    assert make_manifest(outputs=outputs[:1]).max_output_bytes == 64 * 1024
    assert make_manifest(outputs=outputs).max_output_bytes == 4 * 1024 * 1024


def test_pipelines_and_questions_of_text_keep_their_digests() -> None:
    """As the code of before there were other formats computed them."""
    request = make_job_request()
    manifest = request.pipeline.manifest.model_dump(mode="json")
    assert set(manifest) == {"name", "image", "command", "levels", "outputs", "resources", "environment"}
    assert manifest["outputs"] == [
        {"file": "result.tsv", "values": [{"name": "mean_age", "lower": 0.0, "upper": 120.0}]}
    ]
    assert set(manifest["resources"]) == {"wall_seconds", "memory_mib", "processes", "scratch_mib"}
    assert request.shape.model_dump(mode="json") == {
        "files": [{"file": "result.tsv", "rows": [["mean_age"], [None]]}]
    }
    assert request.pipeline.digest == OLD_PIPELINE
    assert request.question(dataset_id="d-1", image_digest="sha256:1") == OLD_QUESTION


OLD_PIPELINE = "sha256:78dea3c2a6a5b61be4393a45494aaf9147c8b55dc2fddec397f5f14067903d5e"
OLD_QUESTION = "sha256:e63266ad638a29ca1254ff21c6d711a5b14083d511be9be0d39c8548912b39f6"


def test_more_output_is_another_pipeline() -> None:
    more = make_pipeline(manifest=make_manifest(resources={"output_mib": 17}))
    same = make_pipeline(manifest=make_manifest(resources={"output_mib": 16}))
    assert more.digest != same.digest == make_pipeline().digest


def test_a_request_with_bounds_survives_its_record() -> None:
    manifest = {"outputs": [{"file": "r.json", "bounds": [entry("/a", "a"), entry("*", "b")]}]}
    shape = {"files": [{"format": "json", "file": "r.json", "parts": ['{"a": [', ", ", '], "b": ', "}"]}]}
    fields = make_job_request().model_dump(mode="json")
    fields["pipeline"]["manifest"] |= manifest
    request = parse(JobRequest, {**fields, "shape": shape})
    assert [value.name for value in request.values] == ["a-1", "a-2", "b"]
    again = JobRequest.model_validate(request.model_dump(mode="json"))
    assert again == request
    assert digest(again.model_dump(mode="json")) == digest(request.model_dump(mode="json"))


@pytest.mark.parametrize("tag", ["exe", "", None, 3, ["text"]])
def test_a_shape_of_no_known_format_is_refused(tag: Any) -> None:
    with pytest.raises(InvalidRequest, match="files"):
        parse(Shape, {"files": [{"format": tag, "file": "r.tsv", "rows": [[None]]}]})


def test_a_shape_that_lies_about_its_format_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="file"):
        parse(Shape, {"files": [{"format": "npy", "file": "r.tsv", "dims": [1]}]})


def test_a_shape_fits_only_where_the_bounds_take_its_numbers() -> None:
    manifest = parse(
        Manifest,
        make_manifest().model_dump() | {"outputs": [{"file": "r.tsv", "bounds": [entry("r1c1", "a")]}]},
    )
    make_shape(make_file_shape(file="r.tsv", rows=[[None]])).check_fits(manifest)
    with pytest.raises(
        ValueError, match=r"does not fit the manifest's outputs.*no bounds for the number at r1c2"
    ):
        make_shape(make_file_shape(file="r.tsv", rows=[[None, None]])).check_fits(manifest)
