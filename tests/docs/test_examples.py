"""The commands of the pages run, in order, in a real shell against a real platform."""

from __future__ import annotations

import shutil
import sys
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from fenced import ROOT, commands, fences, find_missing, stated_lines
from image_archives import save_small_image
from page_platform import Rewound
from page_shell import free_port, shell, warm_commands

from domain.dataset import Declaration
from domain.pipeline import Manifest
from dpgate.cli.declaration import load_declaration
from dpgate.cli.registration import add_dataset

PORT = "8750"
UP = "dpgate up --detach"
SLOTS = 4  # padded runs wait nearly all of their time: more of them at once


@pytest.mark.timeout(1800)  # its runs have to last a minute and a half; a busy host adds all the rest
def test_tutorial(tmp_path: Path) -> None:
    """Every block, from an empty folder to the clean end, and what the page says that one sees."""
    page = "tutorial/first-release.md"
    work = checkout(tmp_path)
    script = "\n".join(fence.text for fence in commands(page)).replace(PORT, str(free_port()))
    assert script.count(UP) == 1
    script = script.replace(UP, f"{UP} --slots {SLOTS}")
    try:
        done = shell(script, work, HOME=str(tmp_path / "home"))
    finally:
        with suppress(FileNotFoundError, ProcessLookupError):
            end_what_was_left(work / ".dpgate" / "tutorial")
    assert done.returncode == 0, done.stdout + done.stderr
    stated = [line.replace(PORT, "0") for line in stated_lines(page)]
    assert find_missing(stated, done.stdout) == [], done.stdout
    assert sorted(path.name for path in work.iterdir()) == [".dpgate", ".venv", "examples"]


@pytest.fixture(scope="module")
def researcher(running: Rewound, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A platform with a data set; the environment of a researcher who has logged in."""
    stack = running.rewind()
    with stack.client() as operator:
        holder = operator.add_user("holder", "rights_holder")["token"]
        added = operator.add_user("researcher", "data_user")
    data = ROOT / "examples" / "heights" / "data"
    fields = yaml.safe_load((data.parent / "dataset.yaml").read_text(encoding="utf-8"))
    # the pages are not about a time grid. Without one, runs have the time that the pages give them: cut
    # short to keep turns short, one of hundreds was too late on a busy host
    fields["policy"]["timing"] = {"mode": "coarse", "step_seconds": 0.2}
    declaration = tmp_path_factory.mktemp("declared") / "dataset.yaml"
    declaration.write_text(yaml.safe_dump(fields), encoding="utf-8")
    with stack.client(holder) as client:
        declared = load_declaration(declaration, data)
        found = add_dataset(client, data, declared, deliveries=stack.home.deliveries)
    assert found.state == "READY"
    first = {
        "NAME": "researcher",
        "FIRST_PASSWORD": added["initial_password"],
        "PASSWORD": "of-the-page-on-curl",
    }
    home = str(tmp_path_factory.mktemp("docs"))
    return {"HOME": home, "DPGATE_URL": stack.url, "DPGATE_TOKEN": added["token"], **first}


def test_sdk_page(researcher: dict[str, str], tmp_path: Path) -> None:
    """One interpreter for the Python blocks; the shell blocks come in between, as on the page."""
    page = "tutorial/notebook.md#the-python-sdk"
    shutil.copytree(ROOT / "examples" / "mean-height", tmp_path / "my-pipeline")
    parts = [
        f"import subprocess; subprocess.run({fence.text!r}, shell=True, check=True)"
        if fence.language == "bash"
        else fence.text
        for fence in commands(page)
    ]
    (tmp_path / "page.py").write_text("\n".join(parts), encoding="utf-8")
    done = shell(f"{sys.executable} page.py", tmp_path, **researcher)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pure_dp {'epsilon': '1'} participant add or remove one privacy unit" in done.stdout
    assert "epsilon" in done.stdout.splitlines()[-1]


def test_notebook_page(researcher: dict[str, str], tmp_path: Path) -> None:
    """Each block is a cell: its last line is shown as a notebook shows it, and as it prints."""
    cells = [
        f"exec({before!r}, cells); found = eval({last!r}, cells)\n"
        "print(found if found is not None else '', getattr(found, '_repr_html_', str)())"
        for before, _, last in (
            fence.text.strip().rpartition("\n") for fence in commands("tutorial/notebook.md#..the-python-sdk")
        )
    ]
    (tmp_path / "page.py").write_text("\n".join(["cells = {}", *cells]), encoding="utf-8")
    done = shell(f"{sys.executable} page.py", tmp_path, **researcher)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count('class="dpgate-view"') == 4
    for stable in ("pure_dp", "epsilon 0.5", "95 % noise interval", "RELEASED", "True"):
        assert stable in done.stdout


def test_api_page(researcher: dict[str, str], tmp_path: Path) -> None:
    page = "how-to/use-the-api.md#..from-a-bids-app-to-a-call-back"
    script = "\n".join(fence.text for fence in commands(page))
    done = shell(script, tmp_path, **researcher)
    assert done.returncode == 0, done.stdout + done.stderr
    for stable in (
        '"status":"ok"',
        '"role":"data_user"',
        "pure_dp {'epsilon': '1'}",
        "Signature Verified Successfully",
        "The certificate fits",
        "InvalidRequest",
    ):
        assert stable in done.stdout


def test_trusted_queries_page(researcher: dict[str, str], tmp_path: Path) -> None:
    page = "how-to/trusted-queries.md"
    found = commands(page)
    script = "\n".join(fence.text for fence in found if fence.language == "bash")
    done = shell(script, tmp_path, **researcher)
    assert done.returncode == 0, done.stdout + done.stderr
    assert find_missing(stated_lines(page), done.stdout) == [], done.stdout
    (program,) = [fence.text for fence in found if fence.language == "python"]
    (tmp_path / "page.py").write_text(program, encoding="utf-8")
    done = shell(f"{sys.executable} page.py", tmp_path, **researcher)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [["f:", "count"], ["m:", "count"]]


def test_images_page(running: Rewound, tmp_path: Path) -> None:
    page, stack = "how-to/images.md", running.stack
    save_small_image(tmp_path / "python.tar")
    operator = {"DPGATE_URL": stack.url, "DPGATE_TOKEN": stack.operator_token}
    login = "dpgate login --profile operator > /dev/null\n"
    script = login + "\n".join(fence.text for fence in commands(page))
    places = {"HOME": str(tmp_path), "DPGATE_HOME": str(stack.home.root)}
    done = shell(script, tmp_path, **places, **operator)
    assert done.returncode == 0, done.stdout + done.stderr
    assert find_missing(stated_lines(page), done.stdout) == [], done.stdout


@pytest.mark.deep("one command, which tests/functional/on_platform asks for its whole report")
def test_sandbox_page(tmp_path: Path) -> None:
    page = "how-to/deploy.md#choose-a-sandbox"
    script = "\n".join(fence.text for fence in commands(page))
    done = shell(script, tmp_path, DPGATE_HOME=str(tmp_path / "home"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert find_missing(stated_lines(page), done.stdout) == [], done.stdout


def test_manifests_and_declarations_on_the_pages_are_valid() -> None:
    for page, model in (("write-a-pipeline", Manifest), ("register-a-dataset", Declaration)):
        text = next(f.text for f in fences(f"how-to/{page}.md") if f.language == "yaml")
        model.model_validate(yaml.safe_load(text))


def checkout(folder: Path) -> Path:
    """What the tutorial's commands need of a checkout."""
    work = folder / "checkout"
    shutil.copytree(ROOT / "examples", work / "examples")
    (work / ".venv" / "bin").mkdir(parents=True)
    for program in (warm_commands() / "dpgate", Path(sys.executable).parent / "python3"):
        # not links: a virtual environment's interpreter finds itself by the path it was started with
        command = work / ".venv" / "bin" / program.name
        command.write_text(f'#!/bin/sh\nexec "{program}" "$@"\n')
        command.chmod(0o755)
    return work


def end_what_was_left(home: Path) -> None:
    """A page that failed half way leaves its platform running."""
    if home.exists():
        shell(f'dpgate down --home "{home}"', home)
