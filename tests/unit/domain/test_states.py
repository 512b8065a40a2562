"""Properties of the table of states itself, walked path by path."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mutants import mutant

from domain import states
from domain.errors import Conflict
from domain.states import (
    TES_VIEW,
    TRANSITIONS,
    Actor,
    JobState,
    LedgerAction,
    TesState,
    Transition,
    is_terminal,
    next_states,
    transition,
)

Table = tuple[Transition, ...]
RUNNING_ERRORED = "_row(S.RUNNING, S.ERRORED, A.SWEEP, "
UNCHARGED = "_row(S.PREPARING, S.RUNNING, A.WORKER, "
CHARGED = UNCHARGED + "ledger=L.CHARGE, "
TO_AGGREGATING = "S.RUNNING, S.AGGREGATING, A.WORKER, "
TO_PREPARING = "_row(S.QUEUED, S.PREPARING, A.WORKER, "
MUTANTS = {
    "refund on failure": (RUNNING_ERRORED, RUNNING_ERRORED + "ledger=L.REFUND, "),
    "refund on cancellation while running": (
        'A.WITHDRAWAL,\n        meaning="withdrawn, or its data set was; ',
        'A.WITHDRAWAL,\n        ledger=L.REFUND,\n        meaning="withdrawn, or its data set was; ',
    ),
    "runs are not charged": (CHARGED, UNCHARGED),
    "charged after the runs": (
        f'{CHARGED}meaning="just before the first run sees data"),\n    _row(\n        {TO_AGGREGATING}',
        f'{UNCHARGED}meaning="later"),\n    _row(\n        {TO_AGGREGATING}ledger=L.CHARGE, ',
    ),
    "a short cut past the charge": (
        TO_PREPARING,
        f'_row(S.QUEUED, S.RUNNING, A.WORKER, meaning="short cut"),\n    {TO_PREPARING}',
    ),
    "a charge for an answered question": (
        "        A.POLICY,\n        meaning=",
        "        A.POLICY,\n        ledger=L.CHARGE,\n        meaning=",
    ),
}
TERMINAL = {
    JobState.RELEASED,
    JobState.WITHHELD,
    JobState.REJECTED,
    JobState.CANCELLED,
    JobState.ERRORED,
}


def paths_to_an_end(table: Table) -> Iterator[Table]:
    """Every way from new to a terminal state that takes no row twice (so the retry loop is walked once)."""
    unfinished: list[Table] = [(row,) for row in table if row.before is None]
    while unfinished:
        path = unfinished.pop()
        onward = [row for row in table if row.before == path[-1].after]
        if not onward:
            yield path
        unfinished += [(*path, row) for row in onward if row not in path]


def ledger_faults(table: Table) -> list[str]:
    """What is wrong with the ledger column, path by path. Also run on mutated tables."""
    faults = []
    for path in paths_to_an_end(table):
        actions = [row.ledger for row in path if row.ledger]
        way = " -> ".join(["new", *(row.after for row in path)])
        if path[0].ledger != LedgerAction.RESERVE:
            if actions or len(path) != 1:
                faults.append(f"{way}: an answered job touches the ledger or goes on")
            continue
        if actions.count(LedgerAction.RESERVE) != 1:
            faults.append(f"{way}: reserves {actions.count(LedgerAction.RESERVE)} times")
        if len(actions) != 2:
            faults.append(f"{way}: settles {len(actions) - 1} times")
        faults += [f"{way}: {fault}" for fault in _faults_once_running(path)]
    return faults


def _faults_once_running(path: Table) -> Iterator[str]:
    touching = [row.after in (JobState.RUNNING, JobState.AGGREGATING) for row in path]
    if True not in touching:
        return
    start = touching.index(True)
    if LedgerAction.CHARGE not in [row.ledger for row in path[: start + 1]]:
        yield "runs without a charge"
    if LedgerAction.REFUND in [row.ledger for row in path[start:]]:
        yield "refunds after data was touched"


def reached_from(table: Table, start: JobState | None) -> set[JobState]:
    reached: set[JobState] = set()
    edge = {start}
    while edge:
        after = {row.after for row in table if row.before in edge}
        edge = set(after - reached)
        reached |= after
    return reached


def test_ledger_on_every_path():
    assert ledger_faults(TRANSITIONS) == []


def test_ledger_on_every_path_fails_for_a_mutant(subtests):
    for name in MUTANTS:
        with subtests.test(name=name):
            assert ledger_faults(mutant(states, *MUTANTS[name], mistake=name).TRANSITIONS)


def test_no_move_is_listed_twice():
    moves = [(row.before, row.after) for row in TRANSITIONS]
    assert len(set(moves)) == len(moves)


def test_every_state_is_reached_from_new():
    assert reached_from(TRANSITIONS, None) == set(JobState)


def test_exactly_the_terminal_states_have_no_way_on():
    assert {state for state in JobState if is_terminal(state)} == TERMINAL


def test_every_other_state_has_a_way_to_an_end(subtests):
    for state in sorted(set(JobState) - TERMINAL):
        with subtests.test(state=state):
            assert reached_from(TRANSITIONS, state) & TERMINAL


def test_every_row_has_an_actor_and_a_meaning():
    assert all(row.actors and row.meaning for row in TRANSITIONS)


def test_every_state_has_a_tes_view():
    assert set(TES_VIEW) == set(JobState)


def test_tes_view_is_final_exactly_for_terminal_states():
    final = {TesState.COMPLETE, TesState.SYSTEM_ERROR, TesState.CANCELED}
    assert {state for state in JobState if TES_VIEW[state] in final} == TERMINAL


@pytest.mark.parametrize("after", [JobState.RUNNING, JobState.AGGREGATING, JobState.IN_REVIEW])
def test_no_person_moves_a_job_into_a_state_that_touches_data(after):
    actors = {actor for row in TRANSITIONS if row.after is after for actor in row.actors}
    assert actors == {Actor.WORKER}


def test_no_data_user_or_operator_releases():
    actors = {actor for row in TRANSITIONS if row.after is JobState.RELEASED for actor in row.actors}
    assert actors == {Actor.RIGHTS_HOLDER, Actor.POLICY}


@given(st.sampled_from([None, *JobState]), st.sampled_from(JobState), st.sampled_from(Actor))
def test_transition_agrees_with_the_table(before, after, actor):
    rows = [row for row in TRANSITIONS if (row.before, row.after) == (before, after) and actor in row.actors]
    if rows:
        assert [transition(before, after, actor)] == rows
    else:
        with pytest.raises(Conflict, match="cannot"):
            transition(before, after, actor)


@given(st.sampled_from(JobState), st.sampled_from(Actor))
def test_next_states_agrees_with_transition(before, actor):
    offered = next_states(before, actor)
    for after in JobState:
        if after in offered:
            assert transition(before, after, actor).after is after
        else:
            with pytest.raises(Conflict):
                transition(before, after, actor)
