"""The examples in Python, R and Octave on a platform: from the archive of an image to the release."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from base_images import base_archive
from lent_data import lent
from terminal import EXAMPLES, Platform, Terminal, example_folder
from waiting import wait_until

# so much that the noise is far below what is compared; the examples' own declarations allow little
PLENTY = {"budget_epsilon": 1000, "new_people": True}
EPSILON = 300
POLICY = {
    "data_users": ["ada"],
    "images": ["host-python", "r", "octave"],
    "accepted_channels": ["page_faults"],
    "max_epsilon_per_job": EPSILON,
    "timing": {"mode": "coarse", "step_seconds": 0.2},
}


@pytest.fixture(scope="module")
def platform(one_platform: Platform) -> Platform:
    return one_platform


@pytest.fixture(scope="module")
def r(platform: Platform) -> None:
    bring_in(platform.operator, "r")


@pytest.fixture(scope="module")
def octave(platform: Platform) -> None:
    bring_in(platform.operator, "octave")


def bring_in(operator: Terminal, name: str) -> None:
    """What docs/how-to/images.md tells an operator to do."""
    digest = operator.ok("image", "add", base_archive(name), "--name", name, "--json").json["digest"]
    wait_until(lambda: digest in operator.ok("image", "list").out.replace("\n", ""), said="the new image")
    operator.ok("image", "approve", digest)


def register(platform: Platform, example: str, data: Path, **changes: Any) -> Path:
    """Declare and deliver an example's data; its twin, fetched by the researcher."""
    declared = yaml.safe_load((EXAMPLES / example / "dataset.yaml").read_text()) | PLENTY | changes
    declared["policy"] = declared["policy"] | POLICY
    declaration = platform.folder / f"{example}.yaml"
    declaration.write_text(yaml.safe_dump(declared))
    platform.holder.ok(
        "dataset", "add", data, "-d", declaration, "--deliveries", platform.stack.home.deliveries
    )
    twin = platform.ada.folder / f"twin-{example}"
    platform.ada.ok("twin", example, "-o", twin)
    return twin


def released(platform: Platform, pipeline: str, twin: Path, *, block_size: int) -> dict[str, float]:
    """Try it on the twin, submit it, and read the values that come back."""
    folder = example_folder(platform, pipeline)
    platform.ada.ok("run", folder, "--twin", twin, "--block-size", block_size)
    release = platform.ada.ok("submit", folder, "--epsilon", EPSILON, "--wait", "--json").json
    assert release["guarantee"] == "pure_dp"
    return {value["name"]: value["value"] for value in release["values"]}


@pytest.fixture(scope="module")
def heights(platform: Platform, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve people of the example."""
    data = Path(shutil.copytree(EXAMPLES / "heights/data", tmp_path_factory.mktemp("heights") / "data"))
    table = data / "participants.tsv"
    rows = table.read_bytes().splitlines(keepends=True)
    table.write_bytes(b"".join(rows[:13]))
    for row in rows[13:]:
        shutil.rmtree(data / row.split(b"\t")[0].decode())
    return register(platform, "heights", data, nominal_size=12)


def check_means(platform: Platform, heights: Path, language: str) -> None:
    """Each person's own numbers, then four blocks. One without people counts as the middle of the bounds, and
    three may be without: so far, and 25 scales of the noise more. All four would show in the age.
    """
    found = released(platform, f"bids-means-{language}", heights, block_size=3)
    right = {"mean_age": (21, 6.5), "mean_height": (165, 13), "mean_weight": (61, 22)}
    assert found == {name: pytest.approx(mean, abs=most) for name, (mean, most) in right.items()}


def test_means_in_python(platform: Platform, heights: Path) -> None:
    check_means(platform, heights, "python")


SAME = "all three give the same numbers in integration/images and take the whole route in integration/docker"


ANOTHER = "functional/test_examples_on_twins runs it; from there on the route is that of the means"


@pytest.mark.deep(SAME)
@pytest.mark.usefixtures("r")
def test_means_in_r(platform: Platform, heights: Path) -> None:
    check_means(platform, heights, "r")


@pytest.mark.deep(SAME)
@pytest.mark.usefixtures("octave")
def test_means_in_octave(platform: Platform, heights: Path) -> None:
    check_means(platform, heights, "octave")


@pytest.mark.deep(ANOTHER)
@pytest.mark.usefixtures("r")
def test_a_mixed_model_in_r(platform: Platform, tmp_path: Path) -> None:
    """A hundred invented people, in two blocks."""
    rows = (EXAMPLES / "reading-speed/data/speed.tsv").read_text().splitlines(keepends=True)
    (tmp_path / "speed.tsv").write_text("".join(rows[:101]))
    twin = register(platform, "reading-speed", tmp_path, nominal_size=100)
    found = released(platform, "mixed-effects-r", twin, block_size=50)
    assert found == pytest.approx({"gain": 2, "extra_gain": 1.2}, abs=0.8)


@pytest.mark.deep(ANOTHER)
def test_groups_of_a_clinical_cohort(platform: Platform) -> None:
    """Phenotype tables and each person's own events, of OpenNeuro ds000030 as it was published."""
    twin = register(platform, "phenomics", lent("openneuro_ds000030"))
    found = released(platform, "phenotype-groups", twin, block_size=120)
    assert found == pytest.approx({"severity": 0.478, "response_s": 0.083}, abs=0.03)
