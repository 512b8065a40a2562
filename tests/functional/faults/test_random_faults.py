"""Faults at random, as `tests/random_faults.py` makes them: a hundred, and a thousand by hand."""

from __future__ import annotations

import pytest
from random_faults import main
from waiting import PATIENCE_S


@pytest.mark.deep("three minutes; integration/worker has the faults of one process")
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_hundred_faults_at_random_lose_nothing(database: str) -> None:
    assert main(["100", "--database", database, "--within", f"{PATIENCE_S}"]) == 0
