"""A worker zone on a real database, with the real sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from zones import Bench, open_bench

# Files and tests that look at what runs do, see and cost. Their rows are written on both databases by the
# other tests of the route, of its repairs and races, and by those of the store. SQLite has the long run.
ON_ONE = {
    "test_imported_images.py",
    "test_long_scans.py",
    "test_mechanisms.py",
    "test_older_plans.py",
    "test_participant_chunks.py",
    "test_policy_changes.py",
    "test_refused_jobs.py",
    "test_told_releases.py",
    "test_a_pipeline_that_fails_everywhere_is_released_with_defaults",
}
ON_BOTH = {"test_two_pac_releases_at_the_same_moment_take_turns", "test_only_another_plan_starts_again"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        names = {item.path.name, item.name.partition("[")[0]}
        if "[sqlite" in item.name and names & ON_ONE and not names & ON_BOTH:
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def bench(database_url: str, tmp_path: Path) -> Iterator[Bench]:
    with open_bench(database_url, tmp_path) as it:
        yield it
