"""Which ring a case is in, and what real parts it needs: decided here and nowhere else.

    quick   in this process alone: no server, no other process, no sandbox, no browser; the inner loop
    test    what a change must pass; the quick ring and all else that is not deep
    deep    the same questions put to every executor, database and user, true randomness, kills at every step

A case says what it needs by the values that it is run with (a database, a backend), by its fixtures or by
the marker `needs`; it is deep if a row of SECOND says so or if it carries the marker `deep` with a reason.
How many cases there are of each kind is in recorded/cases.json, and `test_rings.py` compares.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
CASES = TESTS / "recorded" / "cases.json"
RINGS = ("quick", "test", "deep")
MARKERS = (
    "needs(database=, backend=, browser=, process=): a real part that the case cannot do without",
    "deep(reason): not asked of every change; `make deep`, before a release, and by path",
)

Need = tuple[str, str]
"""A kind of real part, and which: ("database", "postgresql")."""

# folders whose cases need nothing unless they say so
QUICK = ("unit", "architecture")
# but for these: they stay in the process too, and repeat experiments for longer than anybody waits for
LONG = (
    "unit/develop/test_drafts_are_accepted.py",
    "unit/domain/test_matlab_hostile.py",
    "unit/lab",
    "unit/privacy/test_geometric_digits.py",
    "unit/privacy/test_sampled_losses.py",
    "unit/sandbox/test_output_tree.py",
    "unit/siesta/test_siesta_trees.py",
    "unit/worker/test_profile_bad_input.py",
    "unit/worker/test_recomputed.py",
    "unit/worker/test_scan_neighbours.py",
    "unit/worker/test_scan_people.py",
    "unit/worker/test_scan_values.py",
    "architecture/test_reach.py",
)

# folders whose cases draw noise: from a fixed keystream where every change is tested, at random in deep. The
# same holds for the examples of hypothesis, wherever they are.
DRAWN = ("statistical", "unit/privacy", "unit/lab")

# what a case is run with says what it needs
VALUES: dict[str, Need] = {
    "sqlite": ("database", "sqlite"),
    "sqlite_url": ("database", "sqlite"),
    "postgresql": ("database", "postgresql"),
    "postgresql_url": ("database", "postgresql"),
    "warm": ("backend", "warm"),
    "cold": ("backend", "cold"),
    "docker": ("backend", "docker"),
    "straight": ("docker", "straight"),
    "proxy": ("docker", "proxy"),
}
FIXTURES: dict[str, Need] = {
    "sqlite_url": ("database", "sqlite"),
    "sqlite_template": ("database", "sqlite"),
    "postgresql": ("database", "postgresql"),
    "redis_socket": ("process", "redis"),
    "docker_daemon": ("backend", "docker"),
    "supervised": ("backend", "supervised"),
    "bench": ("backend", "supervised"),
    "browser": ("browser", "chromium"),
    "chromium": ("browser", "chromium"),
    "platform": ("process", "platform"),
    "one_platform": ("process", "platform"),
    "stack": ("process", "platform"),
}


@dataclass(frozen=True)
class Found:
    """What a session has collected, whatever it runs of it."""

    items: tuple[pytest.Item, ...]

    @cached_property
    def cases(self) -> dict[str, dict[str, int]]:
        """How many, by ring and need."""
        return counted(self.items)

    @property
    def files(self) -> frozenset[Path]:
        return frozenset(item.path for item in self.items)

    @property
    def is_all(self) -> bool:
        """Every file of the tree, and not some cases of it."""
        return self.files == frozenset(TESTS.rglob("test_*.py"))


FOUND = pytest.StashKey[Found]()
_RING = pytest.StashKey[str]()


@dataclass(frozen=True)
class Second:
    """Cases below a folder that are run with this say the same as their twins that are run with another: they
    are deep.
    """

    folder: str
    need: Need
    why: str
    both: frozenset[str] = frozenset()
    """Files and tests in which the twins differ in what matters."""
    only: frozenset[str] = frozenset()
    """If not empty: the row is about these files and tests alone."""

    def holds(self, item: pytest.Item) -> bool:
        place = _place(item.path)
        if not _is_inside(place, self.folder):
            return False
        names = {place.name, item.name.partition("[")[0]}
        inside = not self.only or bool(names & self.only)
        return inside and self.need in run_with(item) and not names & self.both


SQLITE, POSTGRESQL, STRAIGHT = ("database", "sqlite"), ("database", "postgresql"), ("docker", "straight")
COLD = ("backend", "cold")
SECOND = (
    Second(
        "functional",
        POSTGRESQL,
        "the store and the worker have it on both; of the commands, the whole route",
        both=frozenset({"test_a_researcher_gets_a_release", "test_from_the_twin_to_a_release"}),
    ),
    Second(
        "integration/gateway",
        POSTGRESQL,
        "what is stored and found again is asked of both in the store; of the routes, each file's whole way",
        both=frozenset(
            {
                "test_at_once.py",
                "test_budget.py",
                "test_ready_or_not.py",
                "test_releases.py",
                "test_submit.py",
                # whoever is second waits: each of the two has its own way of waiting
                "test_a_grant_ends_before_a_submission_or_after_it",
                "test_a_project_stays_below_its_limit_whoever_is_quicker",
                # its driver has its own words for what failed
                "test_a_failing_database_says_nothing_of_its_statements",
                # one of each file
                "test_a_change_is_read_back_with_its_reason_by_its_rights_holder_alone",
                "test_a_group_makes_members_who_leave_when_they_leave_it",
                "test_a_guess_about_one_person_is_confirmed_by_the_old_digest_and_by_nothing_now",
                "test_neighbours_look_the_same_to_a_data_user_in_every_byte",
                "test_a_query_becomes_a_job",
                "test_a_rehearsal_is_asked_for_once_and_read",
                "test_a_webhook_is_added_tested_rotated_and_removed",
                "test_after_the_last_vote_reviewers_read_all_reasons",
                "test_events_are_for_those_whom_they_concern_and_reasons_for_the_rights_holder",
                "test_every_decision_is_in_the_audit_trail_under_the_name_of_its_maker",
                "test_from_a_new_project_to_a_job_that_it_pays",
                "test_it_is_announced_changed_and_ended",
                "test_it_is_what_the_declaration_gives",
                "test_nothing_moves_while_the_runs_do_what_they_do",
                "test_the_catalogue_shows_only_what_one_may_use",
                "test_the_request_that_these_were_made_from_is_taken",
                "test_the_rights_holder_reads_everybodys_and_filters",
                "test_the_sealed_bytes_go_to_who_asked_and_the_delivery_is_theirs",
                "test_the_way_of_an_image",
                "test_the_whole_way",
                "test_those_whom_it_concerns_find_all_of_it",
            }
        ),
    ),
    Second(
        "integration/gateway",
        SQLITE,
        "submissions, releases and budgets are PostgreSQL's in production; here what races runs on both",
        both=frozenset(
            {
                "test_identical_requests_at_once_make_one_job_and_one_reservation",
                "test_the_budget_holds_against_many_at_once",
            }
        ),
        only=frozenset({"test_budget.py", "test_releases.py", "test_submit.py"}),
    ),
    Second(
        "integration/store",
        POSTGRESQL,
        "the same SQL; gateway and worker run all of it on PostgreSQL",
        both=frozenset(
            {
                *("test_constraints.py", "test_ledger.py", "test_ledger_race.py", "test_ledger_mutants.py"),
                *("test_turns.py", "test_stored_audit.py", "test_given_back.py", "test_grant_race.py"),
                *("test_every_row_of_the_table", "test_of_many_that_move_at_once_one_does"),
                "test_the_same_submission_many_times_at_once_reserves_once",
                *(
                    "test_of_many_that_claim_at_once_one_gets_it",
                    "test_a_chunk_is_claimed_once_and_finished_once",
                ),
                "test_outputs_that_come_while_the_job_is_cancelled_do_not_stay",
                *("test_two_last_votes_at_the_same_moment_move_the_job_once", "test_a_thread_has_an_end"),
                "test_the_same_reviewer_twice_at_the_same_moment_is_one_vote",
                "test_two_last_votes_at_the_same_moment_decide_once",
                "test_nothing_that_was_said_can_be_changed",
                "test_no_policy_is_changed_or_removed_afterwards",
                "test_of_changes_at_the_same_moment_one_is_made",
                "test_guesses_at_the_same_moment_are_all_counted",
                "test_the_database_itself_keeps_states_and_bytes_together",
                "test_the_database_keeps_what_the_code_promises",
                "test_the_database_refuses_what_no_rehearsal_is",
                "test_a_draft_comes_back_as_it_was_typed",
                "test_clocks_are_compared_with_the_databases",
                "test_four_fifths_are_counted_in_whole_units",
            }
        ),
    ),
    Second(
        "integration/worker",
        SQLITE,
        "what runs do, see and cost; their rows are written on both by the other tests of the route",
        both=frozenset(
            {
                "test_two_pac_releases_at_the_same_moment_take_turns",
                "test_only_another_plan_starts_again",
                "test_every_message_twice_draws_once",
                "test_the_same_people_in_another_cohort_are_refused",
            }
        ),
        only=frozenset(
            {
                *("test_announced_images.py", "test_dataset_imports.py", "test_imported_images.py"),
                *("test_long_scans.py", "test_mechanisms.py", "test_missing_rows.py", "test_older_plans.py"),
                *("test_other_owners.py", "test_participant_chunks.py", "test_people_tables.py"),
                *("test_policy_changes.py", "test_query_route.py", "test_refused_jobs.py"),
                *("test_told_releases.py", "test_training_route.py", "test_twin_route.py"),
                "test_a_pipeline_that_fails_everywhere_is_released_with_defaults",
            }
        ),
    ),
    Second(
        "security/supervised",
        COLD,
        "the walls are warm's, and the battery asks them of cold; what differs is how a run starts",
        both=frozenset(
            {
                "test_supervised_runs.py",
                "test_supervised_surroundings.py",
                "test_a_killed_worker_leaves_no_process_and_its_scratch_is_reaped",
                "test_cancelled_during_a_run",
                "test_killed_during_a_run",
                "test_sources_are_there_to_read_and_to_execute_but_not_to_change",
                "test_the_whole_output_comes_back_with_what_lay_there_before",
                "test_what_lies_there_looks_like_any_output",
            }
        ),
    ),
    Second(
        "integration/docker",
        STRAIGHT,
        "what a run finds and leaves is looked at behind the proxy; straight it is the same calls",
        both=frozenset({"test_outputs_come_back_and_nothing_else", "test_every_plain_file_comes_back"}),
        only=frozenset(
            {
                "test_docker_leftovers.py",
                "test_docker_runs.py",
                "test_docker_surroundings.py",
                "test_docker_trees.py",
                "test_keeper_words.py",
                "test_views_through_the_proxy",
            }
        ),
    ),
)


def needs_of(item: pytest.Item) -> frozenset[Need]:
    """Every real part that this case needs."""
    return frozenset(_needs(item))


def ring_of(item: pytest.Item) -> str:
    if _RING not in item.stash:
        item.stash[_RING] = _found_ring(item)
    return item.stash[_RING]


def _found_ring(item: pytest.Item) -> str:
    if item.get_closest_marker("deep") or any(row.holds(item) for row in SECOND):
        return "deep"
    place = _place(item.path)
    is_quick = place.parts[0] in QUICK and not any(_is_inside(place, folder) for folder in LONG)
    return "quick" if is_quick and not needs_of(item) else "test"


def run_with(item: pytest.Item) -> Iterator[Need]:
    """What its parameters name."""
    values = (
        item.callspec.params.values()
        if isinstance(item, pytest.Function) and hasattr(item, "callspec")
        else ()
    )
    return (VALUES[value] for value in values if isinstance(value, str) and value in VALUES)


def parted(items: Iterable[pytest.Item], wanted: str) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Those that are run where this ring is asked for, and the others."""
    kept: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        (kept if wanted in _rings_that_run(item) else left).append(item)
    return kept, left


def _rings_that_run(item: pytest.Item) -> set[str]:
    ring = ring_of(item)
    rings = {"quick", "test"} if ring == "quick" else {ring}
    place = _place(item.path)
    is_drawn = item.get_closest_marker("hypothesis") or any(_is_inside(place, folder) for folder in DRAWN)
    return rings | {"deep"} if is_drawn else rings


@cache
def _is_inside(place: Path, folder: str | Path) -> bool:
    return place.is_relative_to(folder)


@cache
def _place(path: Path) -> Path:
    return path.relative_to(TESTS)


def counted(items: Iterable[pytest.Item]) -> dict[str, dict[str, int]]:
    """How many cases each ring has, in all and by need."""
    found = {ring: Counter[str]() for ring in RINGS}
    for item in items:
        kinds = {f"{kind}={which}" for kind, which in needs_of(item)}
        found[ring_of(item)].update({"cases", *kinds})
    return {ring: dict(sorted(numbers.items())) for ring, numbers in found.items()}


def runs_all_below(folder: Path, session: pytest.Session) -> bool:
    """Whether this session, or one that this process is a part of, runs all that is not deep there."""
    options = session.config.option
    runs = {item.path for item in session.items}
    chosen = options.keyword or options.markexpr or options.deselect or getattr(options, "lf", False)
    return options.ring == "test" and not chosen and runs >= set(folder.rglob("test_*.py"))


def record_cases(items: Iterable[pytest.Item], file: Path) -> None:
    file.write_text(json.dumps(counted(items), indent=1) + "\n", "utf-8")


def recorded() -> dict[str, dict[str, int]]:
    known: dict[str, dict[str, int]] = json.loads(CASES.read_text("utf-8"))
    return known


def lost(before: dict[str, dict[str, int]], now: dict[str, dict[str, int]]) -> dict[str, str]:
    """Of which kinds there are fewer now, in words."""
    return {
        f"{ring}, {kind}": f"{count} on record, {now[ring].get(kind, 0)} found"
        for ring, kinds in before.items()
        for kind, count in kinds.items()
        if now[ring].get(kind, 0) < count
    }


def _needs(item: pytest.Item) -> Iterator[Need]:
    for marker in item.iter_markers("needs"):
        yield from ((kind, str(which)) for kind, which in marker.kwargs.items())
    yield from run_with(item)
    yield from (FIXTURES[name] for name in getattr(item, "fixturenames", ()) if name in FIXTURES)
