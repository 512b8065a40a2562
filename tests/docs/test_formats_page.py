"""The page on output formats: its program runs on a twin, with the proposal and the bounds that are shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from fenced import ROOT, commands, fences, find_missing, stated_lines
from page_shell import shell

from domain.dataset import Declaration
from domain.formats import suffixes
from domain.model import parse
from domain.outputs import values_of
from domain.pipeline import OutputFile, Pipeline
from dpgate.cli.declaration import load_declaration
from dpgate.pipeline_folder import LOCK, load_lock, load_pipeline
from twins.drawn import make_twin

PAGE = "how-to/output-formats.md"
MANIFEST = {
    "name": "weight-by-height",
    "image": "host-python",
    "command": ["python3", "/pipeline/main.py"],
    "resources": {"wall_seconds": 5},
}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A twin of the example data set, and the page's program with a whitelist and no outputs."""
    heights = ROOT / "examples" / "heights"
    declaration = load_declaration(heights / "dataset.yaml", heights / "data")
    for name, content in (make_twin(declaration) | kept(declaration)).items():
        path = tmp_path / "twin" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    folder = tmp_path / "my-pipeline"
    folder.mkdir()
    program = next(fence.text for fence in fences(PAGE) if "json.dump" in fence.text)
    (folder / "main.py").write_text(program, encoding="utf-8")
    (folder / "whitelist.txt").write_text("model.json\n")
    (folder / "dpgate.yaml").write_text(yaml.safe_dump(MANIFEST))
    return tmp_path


def kept(declaration: Declaration) -> dict[str, bytes]:
    return {".dpgate/dataset.json": json.dumps(declaration.model_dump(mode="json")).encode()}


def declared(file: str) -> list[dict[str, Any]]:
    """The `outputs` of the page that speak of a file."""
    found = [yaml.safe_load(fence.text)["outputs"] for fence in fences(PAGE) if fence.language == "yaml"]
    return next(outputs for outputs in found if outputs[0]["file"] == file)


def test_the_proposal_is_as_the_page_shows_it(work: Path) -> None:
    done = shell("\n".join(fence.text for fence in commands(PAGE)), work, HOME=str(work))
    assert done.returncode == 0, done.stdout + done.stderr
    assert find_missing(stated_lines(PAGE), done.stdout) == [], done.stdout
    (proposed,) = yaml.safe_load(done.stdout)["outputs"]
    assert proposed["file"] == "model.json"
    assert [(value["lower"], value["upper"]) for value in proposed["values"]] == [(None, None)] * 3
    assert not (work / "my-pipeline" / LOCK).exists()


def test_without_outputs_the_refusal_says_how_to_get_them(work: Path) -> None:
    done = shell("dpgate run my-pipeline", work, HOME=str(work))
    assert done.returncode != 0
    assert "dpgate run my-pipeline --propose" in " ".join(done.stderr.split())


def test_the_pages_bounds_fit_what_its_program_writes(work: Path) -> None:
    folder = work / "my-pipeline"
    (folder / "dpgate.yaml").write_text(yaml.safe_dump(MANIFEST | {"outputs": declared("model.json")}))
    done = shell("dpgate run my-pipeline --block-size 10", work, HOME=str(work))
    assert done.returncode == 0, done.stdout + done.stderr
    pipeline = parse(Pipeline, load_pipeline(folder).body)
    lock = load_lock(folder, pipeline_digest=pipeline.digest)
    names = [value.name for value in values_of(pipeline.manifest, lock.shape)]
    assert names == ["coefficient-1", "coefficient-2", "people"]
    (blocks,) = lock.twin_runs
    assert None not in blocks.outputs
    (shape,) = lock.shape.files
    assert json.loads(shape.write(["1", "2", "3"])) == {
        "model": "weight by height",
        "coefficients": [1, 2],
        "people": 3,
    }


def test_every_yaml_of_the_page_is_a_list_of_outputs() -> None:
    found = [yaml.safe_load(fence.text) for fence in fences(PAGE) if fence.language == "yaml"]
    assert len(found) >= 2
    for outputs in found:
        for output in outputs["outputs"]:
            parse(OutputFile, output)


def test_every_format_is_on_the_page() -> None:
    text = (ROOT / "docs" / PAGE).read_text(encoding="utf-8")
    assert [suffix for suffix in suffixes() if f"`{suffix}`" not in text] == []
