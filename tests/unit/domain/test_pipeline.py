"""A pipeline is named by what runs: manifest and file contents, not by their order or spelling."""

from __future__ import annotations

import re

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
from sandbox_images.supervisor.order import command_line


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


def test_sloppy_base64_is_refused(subtests: pytest.Subtests) -> None:
    for text in ("YQ", "YQ==\n", "Y Q==", "é"):
        with subtests.test(text=text), pytest.raises(InvalidRequest, match="must be base64"):
            parse(Source, {"path": "a", "content_base64": text})


BOTH, FIRST, SECOND = ["participant", "group"], ["/in", "/out", "participant"], ["/in", "/out", "group"]
WHAT_RUNS = (
    (["run"], BOTH, ["run", *SECOND]),
    (["run", "{level}", "{in}", "{out}"], BOTH, ["run", "group", "/in", "/out"]),
    (["octave", "f('{in}','{out}','{level}')"], BOTH, ["octave", "f('/in','/out','group')"]),
    (["run", "--bids={in}", "{out}"], ["group"], ["run", "--bids=/in", "/out"]),
    (["sh", "-c", "in=$0; ls ${in} {on}"], BOTH, ["sh", "-c", "in=$0; ls ${in} {on}", *SECOND]),
    (["run", "{in}", "{out}"], BOTH, "leaves out {level}"),
    (["run", "{in}"], ["group"], "leaves out {out}"),
    (["{in}/run", "{out}", "{level}"], BOTH, "name a program first"),
)


def test_a_command_says_where_its_places_go_or_they_come_behind_it(subtests: pytest.Subtests) -> None:
    for command, levels, expected in WHAT_RUNS:
        with subtests.test(command=command):
            if isinstance(expected, str):
                with pytest.raises(InvalidRequest, match=re.escape(expected)):
                    parse(Manifest, manifest_fields(command=command, levels=levels))
                continue
            manifest = parse(Manifest, manifest_fields(command=command, levels=levels))
            assert manifest.levels == tuple(levels)
            assert command_line(manifest.command, "group") == expected
    assert command_line(("run",), "participant") == ["run", *FIRST]
