"""Drafts that were begun on what has changed since: nothing of the old is brought back or paid for unseen."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from factories import given_dataset, make_policy, make_user
from serving import Console, Visitor, words
from told_job_drafts import JOB_DRAFT
from wizard import Wizard, spent

from domain.dataset import Declaration
from domain.permissions import Role
from store import datasets, policies

HOLDER = make_user("holder", Role.RIGHTS_HOLDER)
DELIVERY = "7f1b0f0e-0000-4000-8000-00000000beef"


def test_a_rehearsal_on_an_older_version_submits_nothing(console: Console) -> None:
    """Its shape was locked on other columns: runs would fail, unseen, and be paid for."""
    with console.visit("ada") as visitor:
        draft = Wizard(visitor, f"/jobs/new/{JOB_DRAFT}")
        assert draft.look("check").status_code == 200
        another_version(console)
        before = spent(console)
        for answer in (draft.look("check"), draft.send("check")):
            assert (answer.status_code, answer.headers["location"]) == (303, f"{draft.place}/rehearsal")
        assert spent(console) == before
        assert "or the data set has a newer version" in words(draft.look("rehearsal"))


def test_a_draft_does_not_bring_an_older_policy_back(console: Console) -> None:
    with console.visit("holder") as holder:
        stale = begun(holder, "heights")
        tighter = tighten(console)
        refused = holder.send(f"{stale}/registration", delivery=DELIVERY)
        assert refused.status_code == 409
        assert f"number {tighter} is in effect" in words(refused)
        assert in_effect(console) == tighter
        # nothing stands in the way of one that was begun afterwards
        taken = holder.send(f"{begun(holder, 'heights')}/registration", delivery=DELIVERY)
        assert taken.headers["location"] == "/datasets/heights"
        assert in_effect(console) == tighter


def begun(holder: Visitor, name: str) -> str:
    answer = holder.send("/datasets/new", **{"from": "version", "name": name})
    found = re.fullmatch(r"(/datasets/new/[0-9a-f-]{36})/check", answer.headers["location"])
    assert found
    return found[1]


def another_version(console: Console) -> None:
    with console.database.transaction() as connection:
        declaration: Declaration = datasets.newest(connection, "heights", HOLDER).declaration
        given_dataset(connection, **declaration.model_dump(mode="json"))


def tighten(console: Console) -> int:
    """Blocks are larger from now on; the policy's number."""
    with console.database.transaction() as connection:
        dataset = datasets.newest(connection, "heights", HOLDER)
        policy = dataset.declaration.policy
        fields = {**policy.model_dump(mode="json"), "min_block_size": policy.min_block_size + 1}
        return policies.change(
            connection, dataset=dataset, policy=make_policy(**fields), expected=dataset.policy_number,
            by="holder", reason="after a complaint", now=datetime.now(UTC),
        ).number  # fmt: skip


def in_effect(console: Console) -> int:
    with console.database.reading() as connection:
        edition = policies.in_effect(connection, "heights")
    assert edition is not None
    return edition.number
