"""Where the database of a home is: what the home keeps of it, refuses to keep, and says."""

from __future__ import annotations

import pytest

from domain.errors import NotReady
from store.database import Database


def test_no_part_of_a_password_is_in_what_is_said_of_an_address(subtests: pytest.Subtests) -> None:
    """One that holds an @ is cut there; what is behind it was taken for a host or a port, and named."""
    for url in ("postgresql+psycopg://u:s@ecret@db/x", "postgresql+psycopg://u:s@a:ecret@db/x"):
        with subtests.test(url), pytest.raises(NotReady, match="the database URL") as told:
            Database(url)
        assert "ecret" not in str(told.value)
