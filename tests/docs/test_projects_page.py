"""The page on projects: its commands run in order, by the people whom it speaks of."""

from __future__ import annotations

from pathlib import Path

from fenced import ROOT, commands
from page_shell import shell

from dpgate.cli.declaration import load_declaration
from dpgate.cli.registration import add_dataset
from dpgate.embedded.stack import Stack

PAGE = "how-to/policy.md#projects-and-grants"
DATA = ROOT / "examples" / "heights" / "data"


def test_from_a_project_to_its_end(tmp_path: Path, stack: Stack) -> None:
    with stack.client() as operator:
        holder = operator.add_user("holder", "rights_holder")["token"]
        lead = operator.add_user("maria", "data_user")["token"]
        operator.add_user("jonas", "data_user")
    with stack.client(holder) as client:
        declared = load_declaration(DATA.parent / "dataset.yaml", DATA)
        add_dataset(client, DATA, declared, deliveries=stack.home.deliveries)
    logins = "".join(
        f"DPGATE_URL={stack.url} DPGATE_TOKEN={token} dpgate login --profile {name} > /dev/null\n"
        for name, token in (("holder", holder), ("default", lead))
    )
    script = logins + "\n".join(fence.text for fence in commands(PAGE))
    done = shell(script, tmp_path, HOME=str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    for shown in (
        "sleep: jonas, maria",
        "maria grant.ask heights: The ages and heights, for the comparison by age.",
        "epsilon 2 of 2 left",
        "epsilon 3 of 3 left",
        "ENDED",
        "sleep Sleep and memory: CLOSED, led by maria, until 2030-12-31",
    ):
        assert shown in " ".join(done.stdout.split()), done.stdout
