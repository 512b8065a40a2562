"""The page on the end of a data set: what it has a rights holder type when one person withdraws consent."""

from __future__ import annotations

from pathlib import Path

from fenced import ROOT, commands, find_missing, stated_lines
from page_shell import shell
from waiting import PATIENCE_S

from dpgate.cli.declaration import load_declaration
from dpgate.cli.registration import add_dataset
from dpgate.embedded.stack import Stack

PAGE = "how-to/end-a-data-set.md#take-one-person-out"
COUNT = {"dataset": "heights", "query": {"kind": "count", "by": ["sex"]}, "epsilon": "0.5"}


def test_a_version_without_a_person_takes_jobs_from_what_is_left(tmp_path: Path, stack: Stack) -> None:
    """The same question is asked of the new version, and costs again."""
    data = ROOT / "examples" / "heights" / "data"
    with stack.client() as operator:
        holder = operator.add_user("holder", "rights_holder")["token"]
        researcher = operator.add_user("researcher", "data_user")["token"]
    declared = load_declaration(data.parent / "dataset.yaml", data)
    with stack.client(holder) as client:
        add_dataset(client, data, declared, deliveries=stack.home.deliveries)
    with stack.client(researcher) as client:
        released = client.submit(COUNT).wait(timeout_s=PATIENCE_S)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    deliveries = str(stack.home.deliveries)
    settings = {"DPGATE_URL": stack.url, "DPGATE_TOKEN": holder, "DPGATE_DELIVERIES": deliveries}
    script = "\n".join(fence.text for fence in commands(PAGE))
    done = shell(script, tmp_path, HOME=str(tmp_path), **settings)
    assert done.returncode == 0, done.stdout + done.stderr
    assert find_missing(stated_lines(PAGE), done.stdout) == [], done.stdout
    with stack.client(researcher) as client:
        again = client.submit(COUNT)
        assert (released.state, released.raw["dataset_version"]) == ("RELEASED", 1)
        assert (again.answered_by, again.raw["dataset_version"]) == (None, 2)
        (account,) = client.budget("heights").accounts
    assert float(account.spent) + float(account.reserved) == 1
    assert float(account.left) == 4
