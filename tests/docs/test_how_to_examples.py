"""Pages on choosing a mechanism and on signals: what they tell people to type and to declare."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml
from fenced import ROOT, commands, fences, find_missing, stated_lines
from page_shell import shell

from domain.model import parse
from domain.pipeline import Pipeline
from dpgate.cli.declaration import load_declaration
from dpgate.cli.registration import add_dataset
from dpgate.embedded.stack import Stack
from dpgate.pipeline_folder import LOCK, load_pipeline
from privacy.loss import GuaranteeClass

MECHANISMS = "how-to/choose-epsilon.md#choose-a-mechanism"
SIGNALS = "how-to/reviewed-scramble.md#perturb-signals"
DATA = ROOT / "examples" / "heights" / "data"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    shutil.copytree(ROOT / "examples" / "mean-height", folder / "my-pipeline")
    return folder


@pytest.fixture
def platform(tmp_path: Path, work: Path, stack: Stack) -> dict[str, str]:
    """A platform whose rights holder declared what the page says and has read the pipeline."""
    declaration = declare(tmp_path, reviewed=digest_of(work / "my-pipeline"))
    with stack.client() as operator:
        holder = operator.add_user("holder", "rights_holder")["token"]
        token = operator.add_user("researcher", "data_user")["token"]
    with stack.client(holder) as client:
        declared = load_declaration(declaration, DATA)
        found = add_dataset(client, DATA, declared, deliveries=stack.home.deliveries)
    assert found.state == "READY"
    return {"HOME": str(tmp_path), "DPGATE_URL": stack.url, "DPGATE_TOKEN": token}


def test_every_mechanism_is_admitted_by_what_the_page_declares(platform: dict[str, str], work: Path) -> None:
    """Jobs wait for approval there, so that each is admitted and priced, and none has to run."""
    script = "dpgate twin heights --output twin\n" + "\n".join(fence.text for fence in commands(MECHANISMS))
    done = shell(script, work, **platform)
    assert done.returncode == 0, done.stdout + done.stderr
    assert find_missing(stated_lines(MECHANISMS), done.stdout) == [], done.stdout
    # the digest that a rights holder is told to look up, and the one that the policy compares
    locked = json.loads((work / "my-pipeline" / LOCK).read_text(encoding="utf-8"))
    assert locked["pipeline"] == digest_of(work / "my-pipeline")


def test_the_declaration_on_the_page_allows_every_class(tmp_path: Path) -> None:
    found = load_declaration(declare(tmp_path, reviewed=None), DATA)
    assert set(found.policy.guarantees) == set(GuaranteeClass)
    assert len(found.caps) == len(GuaranteeClass)


def test_perturb_page(tmp_path: Path) -> None:
    done = shell("\n".join(fence.text for fence in commands(SIGNALS)), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert find_missing(stated_lines(SIGNALS), done.stdout) == [], done.stdout
    assert "A person as a whole is not protected" in done.stderr


def declare(folder: Path, *, reviewed: str | None) -> Path:
    """The example's declaration with what the page adds; `reviewed` takes the place of the page's digest."""
    fields = yaml.safe_load((DATA.parent / "dataset.yaml").read_text(encoding="utf-8"))
    added = yaml.safe_load(next(f.text for f in fences(MECHANISMS) if f.language == "yaml"))
    if reviewed is not None:
        added["policy"]["reviewed_pipelines"] = [reviewed]
    path = folder / "dataset.yaml"
    path.write_text(yaml.safe_dump({**fields, **added, "policy": fields["policy"] | added["policy"]}))
    return path


def digest_of(pipeline: Path) -> str:
    return parse(Pipeline, load_pipeline(pipeline).body, within="pipeline").digest
