"""The whole journey of each role, once with scripts in a wide window and once without them on a telephone.

All in one module: platform and browser are shared, and end before another module begins.
"""

from __future__ import annotations

from pathlib import Path

from given_people import Town
from holder_journey import walk_as_rights_holder
from operator_journey import walk_as_operator
from researcher_journey import walk_as_researcher
from walker import Mode, Walks


def test_a_researcher_gets_to_a_release_and_is_refused(walks: Walks, town: Town, mode: Mode, tmp_path: Path):
    walk_as_researcher(walks, town, mode, tmp_path)


def test_a_rights_holder_registers_and_decides(walks: Walks, town: Town, mode: Mode, tmp_path: Path):
    walk_as_rights_holder(walks, town, mode, tmp_path)


def test_an_operator_looks_drains_and_mends(walks: Walks, town: Town, mode: Mode):
    walk_as_operator(walks, town, mode)
