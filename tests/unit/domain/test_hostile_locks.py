"""Locks and bodies that no `dpgate run` made: what the gateway spends on reading one."""

from __future__ import annotations

import base64
import time
import tracemalloc
import zlib

import pytest
from factories import job_request_fields
from pydantic import ValidationError

from domain.errors import InvalidRequest, PipelineError
from domain.job import JobRequest
from domain.model import MOST_PROBLEMS, parse
from domain.pipeline import MAX_VALUES, OutputFile
from domain.shape import Shape, lock
from domain.shape.files import MOST_VOLUMES
from formats import nifti

LARGE = (256, 256, 128)  # as many voxels as a release may hold


def volume_fields(name: str, dims: tuple[int, int, int] = LARGE) -> dict[str, object]:
    """Of 20 KiB, and a map a thousand times as large."""
    header = nifti.new_header(dims, kind="f8", zooms=(1, 1, 1))[:348]
    regions = zlib.compress(b"\1\0" + bytes(2 * dims[0] * dims[1] * dims[2] - 2), 9)
    return {
        "format": "nifti",
        "file": f"{name}.nii",
        "header": base64.b64encode(header).decode(),
        "regions": base64.b64encode(regions).decode(),
        "addresses": ["one"],
    }


def test_a_map_is_checked_in_pieces():
    fields = volume_fields("a")
    tracemalloc.start()
    try:
        assert Shape.model_validate({"files": [fields]}).files[0].numbers == 1
        assert tracemalloc.get_traced_memory()[1] < 8_000_000  # the map has 16 MiB
    finally:
        tracemalloc.stop()


def test_all_volumes_together_are_no_larger_than_one_may_be():
    halves = [volume_fields(name, (256, 256, 64)) for name in "ab"]
    Shape.model_validate({"files": halves})
    with pytest.raises(ValidationError, match="voxels in all its volumes"):
        Shape.model_validate({"files": [*halves, volume_fields("c", (1, 1, 1))]})


def test_many_volumes_are_refused_unread():
    fields = volume_fields("a")
    started = time.thread_time()
    with pytest.raises(ValidationError, match="more than 16 volumes"):
        Shape.model_validate({"files": [fields] * (MOST_VOLUMES + 1)})
    assert time.thread_time() - started < 0.5


def test_more_files_than_numbers_are_refused():
    files = [{"format": "npy", "file": f"{number}.npy", "dims": [1]} for number in range(MAX_VALUES + 1)]
    Shape.model_validate({"files": files[:-1]})
    with pytest.raises(ValidationError, match="at most 400 items"):
        Shape.model_validate({"files": files})


def test_a_volume_that_no_release_holds_has_no_lock():
    output = OutputFile.model_validate(
        {"file": "a.nii", "volume": {"name": "v", "lower": 0, "upper": 1, "average": 64}}
    )
    dims = (256, 256, 129)
    content = nifti.new_header(dims, kind="u1", zooms=(1, 1, 1)) + bytes(256 * 256 * 129)
    with pytest.raises(PipelineError, match="at most 8388608 are released"):
        lock(output, content, {})


def test_a_body_with_very_many_mistakes_is_answered_at_once():
    """Each of these is compared with all others, to tell what is only another's echo."""
    node = {"kind": "cell", "dims": [1, 1], "elements": [{"kind": "numbers", "dims": []}] * 20_000}
    file = {"format": "mat", "file": "a.mat", "version": "5", "variables": [{"name": "x", "value": node}]}
    started = time.thread_time()
    with pytest.raises(InvalidRequest) as refusal:
        parse(JobRequest, job_request_fields(shape={"files": [file]}))
    assert time.thread_time() - started < 5
    assert len(refusal.value.problems) <= MOST_PROBLEMS
