"""One example in one image, brought as a Docker archive, as an OCI layout and as SIF: the same numbers."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from base_images import ROOT, base_archive
from made_images import sif, sif_part

from domain.model import parse
from domain.pipeline import Pipeline
from dpgate.cli.app import run
from dpgate.cli.catalogue import DECLARATION
from dpgate.cli.declaration import load_declaration
from dpgate.cli.exit_codes import ExitCode
from dpgate.errors import DpgateError
from dpgate.local import run_on_twin
from dpgate.pipeline_folder import load_pipeline
from worker.images.store import ImageStore

TreeOf = Callable[[str], Path]
EXAMPLES = ROOT / "examples"
PARTITION = 0x4004


def docker_archive(_tree_of: TreeOf, _folder: Path) -> Path:
    return base_archive("minimal")


def oci_layout(_tree_of: TreeOf, folder: Path) -> Path:
    made = folder / "layout.tar"
    places = (f"docker-archive:{base_archive('minimal')}", f"oci-archive:{made}")
    subprocess.run(["skopeo", "copy", "--insecure-policy", *places], check=True, capture_output=True)
    return made


def sif_file(tree_of: TreeOf, folder: Path) -> Path:
    made = folder / "squashfs"
    command = ["mksquashfs", tree_of("minimal"), made, "-no-progress", "-all-root"]
    subprocess.run(command, check=True, capture_output=True)
    (folder / "image.sif").write_bytes(sif(sif_part(PARTITION, made.read_bytes())))
    return folder / "image.sif"


@pytest.mark.parametrize("form", [docker_archive, oci_layout, sif_file], ids=lambda form: form.__name__)
def test_an_example_runs_from_every_form(
    form: Callable[[TreeOf, Path], Path], tree_of: TreeOf, open_folder: Path, tmp_path: Path
) -> None:
    image = ImageStore(open_folder / "images").add(form(tree_of, tmp_path), name="minimal")
    assert image.digest.startswith("sha256:")
    pipeline = parse(Pipeline, load_pipeline(EXAMPLES / "mean-height-awk").body, within="pipeline")
    data = EXAMPLES / "heights/data"
    found = run_on_twin(
        pipeline,
        declaration=load_declaration(EXAMPLES / "heights/dataset.yaml", data),
        twin=data,
        block_size=20,
        images=open_folder / "images",
    )
    assert found.numbers == pytest.approx((20.0166666667, 163.425, 61.624137931), rel=1e-9)
    assert len(found.block_outputs) == 3
    assert all(output is not None for output in found.block_outputs)


def test_a_start_that_is_asked_to_be_warm_is_refused_where_the_image_has_nothing_to_warm_up(
    tree_of: TreeOf, open_folder: Path, tmp_path: Path
) -> None:
    ImageStore(open_folder / "images").add(docker_archive(tree_of, tmp_path), name="minimal")
    data = EXAMPLES / "heights/data"
    with pytest.raises(DpgateError, match=r"minimal has no Python 3\.11, which --warm needs"):
        run_on_twin(
            parse(Pipeline, load_pipeline(EXAMPLES / "mean-height-awk").body, within="pipeline"),
            declaration=load_declaration(EXAMPLES / "heights/dataset.yaml", data),
            twin=data,
            block_size=20,
            images=open_folder / "images",
            warm=True,
        )


def test_the_command_starts_warm_where_it_is_told_to(
    tree_of: TreeOf,
    open_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The option reaches the sandbox: an image without Python runs without it, and is refused with it."""
    ImageStore(open_folder / "images").add(docker_archive(tree_of, tmp_path), name="minimal")
    monkeypatch.setenv("DPGATE_IMAGES_FOLDER", str(open_folder / "images"))
    twin = shutil.copytree(EXAMPLES / "heights/data", open_folder / "twin")
    declaration = load_declaration(EXAMPLES / "heights/dataset.yaml", twin).model_dump(mode="json")
    (twin / DECLARATION).parent.mkdir()
    (twin / DECLARATION).write_text(json.dumps(declaration))
    pipeline = shutil.copytree(EXAMPLES / "mean-height-awk", open_folder / "pipeline")
    typed = ["run", str(pipeline), "--twin", str(twin), "--block-size", "20"]
    assert run(typed) == ExitCode.OK, capsys.readouterr().err
    assert run([*typed, "--warm"]) == ExitCode.USAGE
    assert "minimal has no Python 3.11, which --warm needs" in " ".join(capsys.readouterr().err.split())
