"""Every example, in every way of running it, gives the same bytes: no noise is drawn here."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from base_images import ROOT

from domain.model import parse
from domain.pipeline import Pipeline
from dpgate.pipeline_folder import load_pipeline
from worker.order import order_for
from worker.sandbox.core.images import StoredImage
from worker.sandbox.protocol import Audience, Sandbox

EXAMPLES = ROOT / "examples"
COMPILE = "gcc -std=c11 -D_DEFAULT_SOURCE -O2 -static -s -o app app.c"
# the Python example's manifest names the host's image: here it runs in the base image, as on a platform
IMAGES = {
    "mean-height": "python",
    "mean-height-r": "r",
    "mean-height-awk": "minimal",
    "mean-height-c": "minimal",
}


def pipeline_of(name: str, room: Path) -> Pipeline:
    folder = EXAMPLES / name
    if name == "mean-height-c":
        shutil.copytree(folder, room / name)
        folder = room / name
        subprocess.run(COMPILE.split(), cwd=folder, check=True)
        (folder / "app.c").unlink()
    return parse(Pipeline, load_pipeline(folder).body, within="pipeline")


def ways(name: str) -> list[str]:
    """Warm takes Python scripts."""
    if name == "mean-height":
        return ["cold", "warm", "docker"]
    return ["cold", "docker"]


IN_R = pytest.mark.deep("to load one more image; tests/functional has R in the default sandbox")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[IN_R] if image == "r" else []) for name, image in IMAGES.items()]
)
def test_the_same_bytes_everywhere(
    name: str, sandboxes: Mapping[str, Sandbox], stored: Callable[[str], StoredImage], tmp_path: Path
) -> None:
    pipeline = pipeline_of(name, tmp_path)
    data = EXAMPLES / "heights" / "data"
    whole = {
        path.relative_to(data).as_posix(): path.read_bytes() for path in data.rglob("*") if path.is_file()
    }
    few = {**whole, "participants.tsv": b"".join(whole["participants.tsv"].splitlines(keepends=True)[:5])}
    found = {}
    for way in ways(name):
        order = order_for(pipeline, image=stored(IMAGES[name]), audience=Audience.TWIN, warm=way == "warm")
        assert (order.warm is not None) == (way == "warm")
        with sandboxes[way].open_slot(order, slot=0) as slot:
            results = [slot.run(block) for block in (whole, few)]
        assert all(result.outputs for result in results), (way, [result.detail for result in results])
        found[way] = [result.outputs for result in results]
    assert found["cold"][0] != found["cold"][1]
    assert all(outputs == found["cold"] for outputs in found.values()), found
