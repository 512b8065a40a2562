"""The check of what the unit tests of privacy/ reach can fall. `tests/reach.py` is what each session asks."""

from __future__ import annotations

import sys

import reach

import privacy.grid


def test_what_is_not_measured_is_there() -> None:
    for file, name in (case.split("::") for case in reach.REPEATED):
        assert f"def {name}(" in (reach.TESTS / file).read_text("utf-8"), name


def test_what_nobody_reaches_is_told_with_its_lines() -> None:
    here = reach.Reach()
    said = reach.left_out([here.dumped()])
    assert "grid.py" in said
    with here.measured():
        pass
    assert reach.left_out([here.dumped(), here.dumped()]) == said


def test_two_processes_reach_together_what_neither_does_alone() -> None:
    def lines_left_by(*reached: reach.Reach) -> int:
        said = reach.left_out([each.dumped() for each in reached])
        row = next(line.split() for line in said.splitlines() if line.split()[0].endswith("/grid.py"))
        return int(row[2])

    one, other = reach.Reach(), reach.Reach()
    none = lines_left_by(one)
    with one.measured():
        grid = privacy.grid.OutputGrid.build(0, 1)
    with other.measured():
        grid.snap(0.5)
    assert none > lines_left_by(one) > lines_left_by(one, other) < lines_left_by(other)


def test_measuring_leaves_the_modules_as_they_were() -> None:
    before = {name: module for name, module in sys.modules.items() if name.startswith("privacy")}
    reach.Reach()
    after = {name: module for name, module in sys.modules.items() if name.startswith("privacy")}
    assert after == before
