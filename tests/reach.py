"""The unit tests of privacy/ reach each of its lines and branches: measured while they run.

Only their cases are measured, but for those that repeat others, in whichever processes they run. A session
that runs all of them fails if together they leave out a line or a branch; one that runs some of them says
nothing about it.
"""

from __future__ import annotations

import importlib
import io
import pkgutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from coverage import Coverage, CoverageData

import privacy

TESTS = Path(__file__).parent / "unit" / "privacy"
REPEATED = frozenset(
    {
        "test_discrete_laplace.py::test_product_of_digits_is_the_stated_probability",
        "test_discrete_laplace.py::test_quantile_is_the_smallest_that_is_enough",
        "test_median.py::test_no_neighbours_at_all_differ_by_more_than_epsilon",
        "test_moment_bounds.py::test_coefficients_are_inside_their_intervals_together",
        "test_moment_bounds.py::test_covariances_are_inside_their_intervals",
        "test_pac.py::test_information_of_a_release_is_at_most_beta",
        "test_pac.py::test_release_is_centred_on_the_secret_world",
        "test_people.py::test_failed_runs_leave_a_quantile_where_it_is",
        "test_perturbation.py::test_snapping_to_bounds_that_are_no_floats",
        "test_perturbation_laws.py::test_the_digits_of_a_gaussian_have_its_variance_together",
        "test_releases_follow_their_keystream.py::test_the_same_keystream_gives_the_same_release_and_another_another",
        "test_releases_follow_their_keystream.py::test_without_a_keystream_releases_are_new",
        "test_trusted_matrices.py::test_regression_against_the_design_table",
        "test_twin_gaussian.py::test_draws_have_their_variance",
    }
)
"""They do again and again what shorter cases do once: measured, they take more than twice as long."""
OUTPUT = "reach of the unit tests of privacy"
"""Under this name a process of a session hands on what it has measured."""


def is_measured(item: pytest.Item) -> bool:
    """Whether what this case reaches counts."""
    name = getattr(item, "originalname", item.name)
    return item.path.is_relative_to(TESTS) and f"{item.path.name}::{name}" not in REPEATED


class Reach:
    """What one process has reached."""

    def __init__(self) -> None:
        self._coverage = _coverage()
        with self.measured():
            _define_again()

    @contextmanager
    def measured(self) -> Iterator[None]:
        self._coverage.start()
        try:
            yield
        finally:
            self._coverage.stop()

    def dumped(self) -> bytes:
        return self._coverage.get_data().dumps()


def left_out(dumps: list[bytes]) -> str:
    """The lines and branches that nobody has reached, or `""`."""
    together = _coverage()
    for dump in dumps:
        data = CoverageData(no_disk=True)
        data.loads(dump)
        together.get_data().update(data)
    table = io.StringIO()
    reached = together.report(show_missing=True, skip_covered=True, precision=2, file=table)
    return "" if reached == 100 else table.getvalue()


def _coverage() -> Coverage:
    return Coverage(
        data_file=None, config_file=False, branch=True, source=[str(Path(privacy.__file__).parent)]
    )


def _define_again() -> None:
    """What runs when a module is imported is reached too; ours were imported before. Others keep theirs."""
    real = {name: sys.modules.pop(name) for name in list(sys.modules) if _is_ours(name)}
    try:
        for module in pkgutil.walk_packages(privacy.__path__, f"{privacy.__name__}."):
            importlib.import_module(module.name)
    finally:
        for name in filter(_is_ours, list(sys.modules)):
            del sys.modules[name]
        sys.modules.update(real)


def _is_ours(name: str) -> bool:
    return name.partition(".")[0] == privacy.__name__
