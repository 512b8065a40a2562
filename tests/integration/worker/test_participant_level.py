"""The participant level on the route: once for each person, and in every group run that person is in."""

from __future__ import annotations

from statistics import fmean
from typing import Any

import pytest
from factories import given_user
from heights import LOWER, PEOPLE, UPPER
from levels import PARTICIPANT, TWO_LEVELS, NotingSandbox, noting, two_level_fields
from zones import Bench, check_books, given_heights, submit

from domain.permissions import Role
from domain.states import JobState
from privacy.partition import assign_blocks, derive_key

MANY = {f"sub-{number:02d}": 140 + number for number in range(1, 25)}
MIDDLE = (LOWER + UPPER) / 2
NEAR = 1.0  # as in test_route: the noise has a scale of 0.03
POLICY = {
    "guarantees": ["pure_dp", "approx_dp", "pac", "empirical"],
    "reviewed_pipelines": ["sha256:" + "0" * 64],
}


@pytest.fixture
def bench(sqlite_bench: Bench) -> Bench:
    """On one database: no row is of importance here."""
    return sqlite_bench


def released(bench: Bench, source: str = TWO_LEVELS, *, wall_s: float = 30, **overrides: Any) -> str:
    """The id of a job that has its release."""
    job_id = submit(bench, **two_level_fields(source, wall_s=wall_s), **overrides)
    bench.drive()
    assert bench.job(job_id).state is JobState.RELEASED
    check_books(bench)
    return job_id


def check_value(bench: Bench, job_id: str, *, without: str | None = None) -> None:
    """The mean of the four blocks' means, by plain Python over the same partition."""
    key = derive_key(bench.zone.keys.partition, dataset_id=bench.job(job_id).dataset_id, job_id=job_id)
    blocks: dict[int, list[float]] = {number: [] for number in range(4)}
    for name, block in zip(PEOPLE, assign_blocks(PEOPLE, key=key, blocks=4, people=12), strict=True):
        if name != without:
            assert block is not None
            blocks[block].append(PEOPLE[name])
    expected = fmean(fmean(heights) if heights else MIDDLE for heights in blocks.values())
    assert bench.release(job_id).values[0].value == pytest.approx(expected, abs=NEAR)


def people_of_runs(sandbox: NotingSandbox) -> list[str]:
    """Each participant run saw one person, whole and alone."""
    found = []
    for run in sandbox.take("participant"):
        (person,) = run.people
        assert not run.before
        found.append(person)
    return sorted(found)


def test_once_for_each_person_whatever_mechanism_and_however_many_jobs(bench: Bench) -> None:
    bench, sandbox = noting(bench)
    given_heights(bench, MANY, nominal_size=24, policy=POLICY, budget_nats="0.5", budget_releases=1)
    released(bench, mechanism={"name": "sample_aggregate", "epsilon": "900", "block_size": 6, "repeats": 2})
    assert people_of_runs(sandbox) == sorted(MANY)
    assert len(sandbox.take("group")) == 8
    released(bench, mechanism={"name": "pac", "nats": "0.25"})
    assert not sandbox.take("participant")
    assert len(sandbox.take("group")) == 64
    # its runs may be made anywhere, so what they wrote is no other class's, nor theirs this one's
    released(bench, mechanism={"name": "stability_calibrated", "noise_multiplier": 1})
    assert people_of_runs(sandbox) == sorted(MANY)
    assert len(sandbox.take("group")) == 25


def test_only_what_changed_runs_again(bench: Bench) -> None:
    bench, sandbox = noting(bench)
    given_heights(bench)
    released(bench, epsilon="100")
    assert people_of_runs(sandbox) == sorted(PEOPLE)
    given_heights(bench, {**PEOPLE, "sub-3": 199})
    released(bench, epsilon="100")
    assert people_of_runs(sandbox) == ["sub-3"]
    given_heights(bench, {name: height for name, height in PEOPLE.items() if name != "sub-5"})
    released(bench, epsilon="100")
    assert people_of_runs(sandbox) == []
    released(bench, TWO_LEVELS + "# another pipeline\n", epsilon="100")
    assert people_of_runs(sandbox) == sorted(set(PEOPLE) - {"sub-5"})


def test_what_is_kept_of_one_rights_holders_people_is_kept_of_nobody_elses(bench: Bench) -> None:
    """Otherwise a rival's release would be as early, and say, as it is where `holder` has the same people."""
    bench, sandbox = noting(bench)
    given_heights(bench)
    released(bench, epsilon="100")
    sandbox.take("participant")
    with bench.database.transaction() as connection:
        given_user(connection, "rival", Role.RIGHTS_HOLDER)
    given_heights(bench, owner="rival", name="asked")
    released(bench, dataset="asked", epsilon="100")
    assert people_of_runs(sandbox) == sorted(PEOPLE)


def test_a_group_run_has_the_outputs_of_its_own_people_and_no_others(bench: Bench) -> None:
    bench, sandbox = noting(bench)
    given_heights(bench)
    check_value(bench, released(bench))
    seen: list[str] = []
    for run in sandbox.take("group"):
        assert set(run.before) == {"dataset_description.json", *(f"{name}/height.txt" for name in run.people)}
        assert all(run.before[f"{name}/height.txt"] == b"%r" % float(PEOPLE[name]) for name in run.people)
        seen += run.people
    assert sorted(seen) == sorted(PEOPLE)


FAILURES = {
    "exits": "if rows[0][0] == 'sub-7': sys.exit(3)",
    "hangs": "if rows[0][0] == 'sub-7': __import__('time').sleep(60)",
    "gives a file two names": "if rows[0][0] == 'sub-7': open('/out/x', 'w'); os.link('/out/x', '/out/y')",
    "writes too much": "if rows[0][0] == 'sub-7': open('/out/x', 'wb').write(bytes(17 << 20))",
}


@pytest.mark.parametrize("failure", FAILURES)
def test_who_fails_is_left_out_everywhere(bench: Bench, failure: str) -> None:
    bench, sandbox = noting(bench)
    given_heights(bench)
    first, rest = TWO_LEVELS.split("if sys", 1)
    job_id = released(
        bench,
        f"{first}if sys.argv[3] == 'participant':\n    {FAILURES[failure]}\nif sys{rest}",
        wall_s=3 if failure == "hangs" else 30,
    )
    assert [run.people for run in sandbox.take("participant") if run.failed] == [["sub-7"]]
    groups = sandbox.take("group")
    assert sorted(name for run in groups for name in run.people) == sorted(set(PEOPLE) - {"sub-7"})
    for run in groups:
        everything = [*run.before, *run.before.values(), *run.block.values()]
        assert not [part for part in everything if "sub-7" in str(part)]
    check_value(bench, job_id, without="sub-7")


def test_a_failure_is_tried_again_by_the_next_job_and_by_no_other_run(bench: Bench) -> None:
    bench, sandbox = noting(bench)
    given_heights(bench)
    source = PARTICIPANT + "'sub-7' in open('/in/participants.tsv').read() and sys.exit(3)\n" + TWO_LEVELS
    for epsilon in ("100", "200"):
        released(bench, source, epsilon=epsilon)
        (failed,) = [run.people for run in sandbox.take("participant") if run.failed]
        assert failed == ["sub-7"]


def test_where_everybody_fails_all_blocks_are_empty(bench: Bench) -> None:
    bench, sandbox = noting(bench)
    given_heights(bench)
    job_id = released(bench, "raise SystemExit(1)")
    assert bench.release(job_id).values[0].value == pytest.approx(MIDDLE, abs=NEAR)
    assert [run.people for run in sandbox.take("group")] == [[]] * 4


STRAY = """\
import os, sys
if sys.argv[3] == "participant":
    person = open("/in/participants.tsv").read().splitlines()[1].split("\\t")[0]
    for folder in {"sub-3", "derivatives/x/" + person, "log"} - {person}:
        os.makedirs("/out/" + folder)
        open("/out/%s/of-%s" % (folder, person), "w").write("x")
    open("/out/dataset_description.json", "w").write("x")
"""


def test_files_that_are_no_persons_own_are_dropped(bench: Bench) -> None:
    bench, sandbox = noting(bench)
    given_heights(bench)
    check_value(bench, released(bench, STRAY + TWO_LEVELS))
    for run in sandbox.take("group"):
        own = {f"{name}/height.txt" for name in run.people}
        own |= {f"derivatives/x/{name}/of-{name}" for name in run.people}
        assert set(run.before) == {"dataset_description.json", *own}
        assert b'"DatasetType": "derivative"' in run.before["dataset_description.json"]


def test_more_than_the_output_folder_holds_is_a_failed_run(bench: Bench) -> None:
    bench, sandbox = noting(bench)
    given_heights(bench)
    large = TWO_LEVELS.replace(
        "else:", "    open('/out/%s/x' % person, 'wb').write(bytes(6 << 20))\nelse:", 1
    )
    released(bench, large)
    groups = sandbox.take("group")
    # the keyed division may leave a block without anybody: it has no mean
    assert [run.failed for run in groups] == [len(run.people) not in (1, 2) for run in groups]
    # a block of six people or more has failed before it starts: then nobody is run in its place
    assert len(groups) == 4
    assert any(run.failed for run in groups)
