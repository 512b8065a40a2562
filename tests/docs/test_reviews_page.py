"""The page on reviews: its commands run in order, by the two reviewers and the author of whom it speaks."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from fenced import ROOT, commands, find_missing, stated_lines
from page_shell import shell

from dpgate.cli.declaration import load_declaration
from dpgate.cli.registration import add_dataset
from dpgate.embedded.stack import Stack

PAGE = "how-to/reviews.md"
DATA = ROOT / "examples" / "heights" / "data"
QUERY = "dpgate query submit '{kind: count}' --dataset heights --epsilon 0.1"
ASKED = f"{QUERY} --job-id count-of-people > /dev/null\n"
DRAWN = "until dpgate status count-of-people | grep -q IN_REVIEW; do sleep 0.2; done\n"


@pytest.mark.deep("each command is asked in tests/functional, in the order of the page here")
def test_from_what_waits_to_what_was_decided(tmp_path: Path, stack: Stack) -> None:
    with stack.client() as operator:
        tokens = {
            profile: operator.add_user(name, role)["token"]
            for profile, name, role in (
                ("holder", "holder", "rights_holder"),
                ("rosa", "rosa", "rights_holder"),
                ("default", "maria", "data_user"),
            )
        }
    with stack.client(tokens["holder"]) as client:
        declared = load_declaration(declaration(tmp_path), DATA)
        add_dataset(client, DATA, declared, deliveries=stack.home.deliveries)
    script = "".join(
        f"DPGATE_URL={stack.url} DPGATE_TOKEN={token} dpgate login --profile {profile} > /dev/null\n"
        for profile, token in tokens.items()
    )
    looked, read, decided, released, twin = (fence.text + "\n" for fence in commands(PAGE))
    script += ASKED + looked + read + decided + DRAWN + released + twin
    done = shell(script, tmp_path, HOME=str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert find_missing(stated_lines(PAGE), done.stdout) == [], done.stdout
    shown = " ".join(done.stdout.split())
    for expected in (
        "count-of-people may it run? count by maria on heights (0 of 2 votes)",
        "What is the count for?",
        "holder: withhold: It should wait for the paper.",
        "The twin of heights, version 1: waiting 1 of 2",
        "The twin of heights, version 1: approved",
    ):
        assert expected in shown, done.stdout


def declaration(folder: Path) -> Path:
    """The example's, with two reviewers for everything."""
    fields = yaml.safe_load((DATA.parent / "dataset.yaml").read_text(encoding="utf-8"))
    rules = {
        "approve_jobs": True,
        "review_releases": True,
        "review_twin": True,
        "data_users": ["maria"],
        "reviewers": ["rosa"],
        "votes": 2,
    }
    path = folder / "dataset.yaml"
    path.write_text(yaml.safe_dump({**fields, "policy": fields["policy"] | rules}), encoding="utf-8")
    return path
