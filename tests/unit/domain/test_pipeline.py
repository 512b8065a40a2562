"""A pipeline is named by what runs: manifest and file contents, not by their order or spelling."""

from __future__ import annotations

import pytest
from factories import (
    make_file_shape,
    make_manifest,
    make_output_file,
    make_pipeline,
    make_shape,
    make_source,
    manifest_fields,
)
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InvalidRequest
from domain.model import parse
from domain.outputs import values_of
from domain.pipeline import MAX_SOURCE_BYTES, MAX_SOURCES, Manifest, Pipeline, Source


@given(st.binary(max_size=100))
def test_a_source_keeps_its_bytes(content):
    assert make_source(content=content).content == content


def test_the_digest_ignores_the_order_of_sources():
    one, two = make_source("a.py", b"1"), make_source("b.py", b"2")
    assert make_pipeline(sources=(one, two)).digest == make_pipeline(sources=(two, one)).digest


@pytest.mark.parametrize(
    "other",
    [
        make_pipeline(sources=(make_source(content=b"other"),)),
        make_pipeline(sources=(make_source(path="other.py"),)),
        make_pipeline(manifest=make_manifest(command=["python3", "/pipeline/main.py", "-v"])),
        make_pipeline(manifest=make_manifest(resources={"wall_seconds": 11})),
        make_pipeline(manifest=make_manifest(levels=["participant", "group"])),
    ],
)
def test_the_digest_changes_with_what_runs(other):
    assert other.digest != make_pipeline().digest


def test_values_are_in_the_order_of_the_manifest():
    outputs = [make_output_file("b", "a", file="1.tsv"), make_output_file("c", file="2.csv")]
    manifest = make_manifest(outputs=[output.model_dump() for output in outputs])
    shape = make_shape(
        make_file_shape(file="1.tsv", rows=[[None, None]]), make_file_shape(file="2.csv", rows=[[None]])
    )
    assert [value.name for value in values_of(manifest, shape)] == ["b", "a", "c"]


def test_at_most_four_hundred_values_over_all_files():
    names = [f"v{number}" for number in range(401)]
    with pytest.raises(InvalidRequest, match="at most 400"):
        make_output_file(*names)
    outputs = [make_output_file(*names[:201], file="1.tsv"), make_output_file(*names[201:], file="2.tsv")]
    with pytest.raises(InvalidRequest, match="at most 400 values: each one shares the loss"):
        make_manifest(outputs=[output.model_dump() for output in outputs])


def test_the_largest_sources_pass_and_one_byte_more_does_not():
    assert make_pipeline(sources=(make_source(content=b"x" * MAX_SOURCE_BYTES),))
    sources = [make_source("a", b"x" * MAX_SOURCE_BYTES), make_source("b", b"x" * 3)]
    with pytest.raises(InvalidRequest, match="exceed 1024 KiB; put large parts in the image"):
        parse(
            Pipeline, {"manifest": manifest_fields(), "sources": [source.model_dump() for source in sources]}
        )


def test_too_many_sources():
    sources = [{"path": f"{number}.py", "content_base64": ""} for number in range(MAX_SOURCES + 1)]
    with pytest.raises(InvalidRequest, match=r"sources: .*at most 256"):
        parse(Pipeline, {"manifest": manifest_fields(), "sources": sources})


@pytest.mark.parametrize("text", ["YQ", "YQ==\n", "Y Q==", "é"])
def test_sloppy_base64_is_refused(text):
    with pytest.raises(InvalidRequest, match="must be base64"):
        parse(Source, {"path": "a", "content_base64": text})


@pytest.mark.parametrize("levels", [["group"], ["participant", "group"]])
def test_the_two_kinds_of_pipeline(levels):
    assert parse(Manifest, manifest_fields(levels=levels)).levels == tuple(levels)
