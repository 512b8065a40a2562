"""A limit of a run that nobody named follows from the twin, and from nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from factories import make_pipeline, make_shape, make_source, manifest_fields

from domain.errors import InvalidRequest
from domain.model import digest, parse
from domain.pipeline import Manifest, Pipeline
from dpgate.asking import build_request
from dpgate.errors import DpgateError
from dpgate.pipeline_folder import Lock, load_pipeline, save_lock
from dpgate.wall import as_submitted, chosen_wall, wall_words, when_words


def lock_of(pipeline: Pipeline, **changed: Any) -> Lock:
    fields = {
        "dataset": "heights", "pipeline": pipeline.digest, "block_size": 5, "nominal_size": 1000,
        "max_micro_epsilon": 10_000_000, "padded": True, "longest_s": 0.2, "shape": make_shape(),
        "twin_numbers": (41.0,), "twin_runs": (), **changed,
    }  # fmt: skip
    return Lock(**fields)


@pytest.mark.parametrize(
    ("longest_s", "changed", "resources", "wall"),
    [
        (0.2, {}, {}, 3),
        (0.6, {}, {}, 3),
        (0.61, {}, {"memory_mib": 256}, 5),
        (1.01, {}, {}, None),  # ten seconds are hardly more
        (0.2, {}, {"wall_seconds": 10}, None),
        (0.2, {"padded": False}, {}, None),
        (None, {}, {}, None),
    ],
)
def test_it_is_five_times_the_longest_run_or_more(
    longest_s: float | None, changed: dict[str, Any], resources: dict[str, Any], wall: int | None
) -> None:
    manifest = parse(Manifest, manifest_fields(resources=resources))
    lock = lock_of(make_pipeline(manifest=manifest), longest_s=longest_s, **changed)
    assert chosen_wall(manifest, lock) == wall
    assert as_submitted(manifest, lock).resources.wall_seconds == (wall or 10)
    assert bool(wall_words(manifest, lock)) is (wall is not None)


def test_when_the_release_comes_is_said_with_it() -> None:
    pipeline = make_pipeline()
    said = when_words(pipeline.manifest, lock_of(pipeline), 5)
    assert said == (
        "With blocks of 5 the release comes about 12 minutes after its runs begin: 200 runs take a turn of "
        "3.5 s each."
    )
    assert "about 35 minutes" in when_words(pipeline.manifest, lock_of(pipeline, longest_s=None), 5)
    assert when_words(pipeline.manifest, lock_of(pipeline, padded=False), 5) == ""


def test_submit_takes_it_unless_the_manifest_says_another(tmp_path: Path) -> None:
    for name, resources, wall in (("own", {"wall_seconds": 8}, 8), ("none", {}, 3)):
        folder = tmp_path / name
        folder.mkdir()
        written = manifest_fields(resources=resources)
        (folder / "dpgate.yaml").write_text(yaml.safe_dump(written), encoding="utf-8")
        (folder / "main.py").write_bytes(make_source().content)
        pipeline = parse(Pipeline, load_pipeline(folder).body)
        save_lock(folder, lock_of(pipeline))
        request = build_request(folder, epsilon="1")
        assert request["pipeline"]["manifest"]["resources"]["wall_seconds"] == wall
        assert request["on_twin"]["pipeline"] == parse(Pipeline, request["pipeline"]).digest
        # what reviewers have read by its digest stays as it is
        reviewed = build_request(folder, mechanism="stability_calibrated", noise_multiplier=2, anyway=True)
        assert parse(Pipeline, reviewed["pipeline"]).digest == pipeline.digest


def test_a_lock_of_a_newer_dpgate_says_which_side_to_update(tmp_path: Path) -> None:
    """The seal tells it from one that somebody edited."""
    (tmp_path / "dpgate.yaml").write_text(yaml.safe_dump(manifest_fields()), encoding="utf-8")
    (tmp_path / "main.py").write_bytes(make_source().content)
    path = save_lock(tmp_path, lock_of(parse(Pipeline, load_pipeline(tmp_path).body)))
    content = json.loads(path.read_text(encoding="utf-8"))
    del content["seal"]
    newer = content | {"medians": [41.0]}
    path.write_text(json.dumps(newer | {"seal": digest(newer)}), encoding="utf-8")
    with pytest.raises(DpgateError, match=r"is of a newer dpgate; update dpgate here, or run the pipeline"):
        build_request(tmp_path, epsilon="1")
    path.write_text(json.dumps(newer | {"seal": digest(content)}), encoding="utf-8")
    with pytest.raises(InvalidRequest, match="medians: is not a known field"):
        build_request(tmp_path, epsilon="1")
