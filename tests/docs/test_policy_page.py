"""The page on policies: what it tells a rights holder to type."""

from __future__ import annotations

from pathlib import Path

from fenced import ROOT, commands, find_missing, stated_lines
from page_shell import shell

from dpgate.cli.declaration import load_declaration
from dpgate.cli.registration import add_dataset
from dpgate.embedded.stack import Stack

PAGE = "how-to/policy.md#..budget"


def test_every_command_of_the_page(tmp_path: Path, stack: Stack) -> None:
    data = ROOT / "examples" / "heights" / "data"
    with stack.client() as operator:
        token = operator.add_user("holder", "rights_holder")["token"]
    with stack.client(token) as client:
        declared = load_declaration(data.parent / "dataset.yaml", data)
        add_dataset(client, data, declared, deliveries=stack.home.deliveries)
    script = "\n".join(fence.text for fence in commands(PAGE))
    done = shell(script, tmp_path, HOME=str(tmp_path), DPGATE_URL=stack.url, DPGATE_TOKEN=token)
    assert done.returncode == 0, done.stdout + done.stderr
    assert find_missing(stated_lines(PAGE), done.stdout) == [], done.stdout
