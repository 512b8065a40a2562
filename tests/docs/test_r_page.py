"""The page for people who write R alone: its commands run, and R reads what it says that R reads."""

from __future__ import annotations

import subprocess
from pathlib import Path

import yaml
from base_images import base_archive, base_tree
from fenced import ROOT, commands, fences, find_missing, stated_lines
from page_platform import Rewound
from page_shell import shell
from waiting import wait_until

from dpgate.cli.declaration import load_declaration
from dpgate.cli.registration import add_dataset

PAGE = "how-to/work-in-r.md"
# blocks of each size start R anew: one size, of few blocks
SIZES = "--want mean_height=5"
# a busy host starts R in more than the second that the page allows
WALL = "wall_seconds: 1,"
DATA = ROOT / "examples" / "heights" / "data"


def test_r_page(running: Rewound, tmp_path: Path) -> None:
    stack = running.rewind()
    declared = yaml.safe_load((DATA.parent / "dataset.yaml").read_text(encoding="utf-8"))
    # the page is about R, and not about waiting for the time of a release
    declared["policy"] |= {"images": ["r"], "timing": {"mode": "coarse", "step_seconds": 0.2}}
    (tmp_path / "dataset.yaml").write_text(yaml.safe_dump(declared), encoding="utf-8")
    with stack.client() as operator:
        holder = operator.add_user("holder", "rights_holder")["token"]
        token = operator.add_user("researcher", "data_user")["token"]
    with stack.client(holder) as client:
        declaration = load_declaration(tmp_path / "dataset.yaml", DATA)
        found = add_dataset(client, DATA, declaration, deliveries=stack.home.deliveries)
    assert found.state == "READY"
    places = {"HOME": str(tmp_path), "DPGATE_HOME": str(stack.home.root), "DPGATE_URL": stack.url}
    bring_in(tmp_path, places | {"DPGATE_TOKEN": stack.operator_token})

    work = tmp_path / "work"
    work.mkdir()
    script = "\n".join(fence.text for fence in commands(PAGE))
    for said, instead in ((SIZES, f"{SIZES} --block-sizes 2"), (WALL, "wall_seconds: 20,")):
        assert script.count(said) == 1
        script = script.replace(said, instead)
    done = shell(script, work, **places, DPGATE_TOKEN=token)
    assert done.returncode == 0, done.stdout + done.stderr
    assert find_missing(stated_lines(PAGE), done.stdout) == [], done.stdout

    (reads,) = [fence.text for fence in fences(PAGE) if fence.title == "read"]
    read = in_r(base_tree("r", tmp_path), work, reads).splitlines()
    assert [line.split()[1] for line in read[1:]] == ["mean_height", "mean_bmi"]
    assert 140 < float(read[1].split()[2]) < 200


def bring_in(folder: Path, operator: dict[str, str]) -> None:
    """What the page on images tells an operator to do."""
    done = shell(f"dpgate image add {base_archive('r')} --name r --json", folder, **operator)
    assert done.returncode == 0, done.stderr
    digest = yaml.safe_load(done.stdout)["digest"]
    approve = f"dpgate image approve {digest}"
    wait_until(lambda: shell(approve, folder, **operator).returncode == 0, said="the image r")


def in_r(tree: Path, folder: Path, code: str) -> str:
    """What R prints, in a folder."""
    apart = ["bwrap", "--unshare-all", "--ro-bind", str(tree), "/", "--dev", "/dev", "--tmpfs", "/tmp"]
    done = subprocess.run(
        [*apart, "--ro-bind", str(folder), "/tmp/work", "--chdir", "/tmp/work", "--", "Rscript", "-e", code],
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
