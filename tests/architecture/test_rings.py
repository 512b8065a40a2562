"""No case is lost: there are as many as are on record, and whoever runs a part of the tree gets its cases."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import deep
import pytest
import rings
from small_tree import run_small

TESTS = Path(__file__).parents[1]


@pytest.mark.needs(process=True)
def test_no_case_is_lost(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Of a ring, and in it of a database, a backend, a browser. Where fewer are meant, say so on record."""
    fewer = rings.lost(rings.recorded(), all_cases(request.config, tmp_path))
    assert not fewer, "if that is meant, run `.venv/bin/python -m pytest --record-cases`"


def all_cases(config: pytest.Config, folder: Path) -> dict[str, dict[str, int]]:
    """Of the whole tree, also where a session was asked for a part of it."""
    found = config.stash[rings.FOUND]
    if found.is_all and not (config.getoption("keyword") or config.getoption("markexpr")):
        return found.cases
    record = folder / "cases.json"
    collect = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command = [*collect, f"--record-cases={record}"]
    ended = subprocess.run(
        command, cwd=TESTS.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert record.is_file(), ended.stdout[-2000:]
    cases: dict[str, dict[str, int]] = json.loads(record.read_text("utf-8"))
    return cases


def test_each_kind_of_case_is_on_record() -> None:
    """Or else nobody would miss them."""
    kinds = {kind for counts in rings.recorded().values() for kind in counts}
    assert kinds >= {"cases", "database=sqlite", "database=postgresql", "browser=chromium", "process=redis"}
    assert kinds >= {f"backend={name}" for name in ("warm", "cold", "bubblewrap", "docker", "supervised")}
    assert rings.recorded()["quick"].keys() == {"cases"}, "a quick case needs nothing"


def test_what_a_row_of_second_excepts_is_there(subtests: pytest.Subtests) -> None:
    for row in rings.SECOND:
        files = list((TESTS / row.folder).rglob("test_*.py"))
        there = {path.name for path in files} | {name for path in files for name in functions_of(path)}
        with subtests.test(row.why):
            assert files
            assert row.both | row.only <= there


def functions_of(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return (node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def marks(name: str) -> Iterator[tuple[Path, ast.AST]]:
    """Each `pytest.mark.NAME`, with its arguments if it has any."""
    for path in sorted(TESTS.rglob("*.py")):
        text = path.read_text("utf-8")
        if f"mark.{name}" not in text:
            continue
        tree = ast.parse(text)
        called = {node.func: node for node in ast.walk(tree) if isinstance(node, ast.Call)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and ast.unparse(node) == f"pytest.mark.{name}":
                yield path, called.get(node, node)


def test_whatever_is_deep_has_a_reason() -> None:
    without = [
        f"{path.relative_to(TESTS)}:{mark.lineno}"
        for path, mark in marks("deep")
        if not (isinstance(mark, ast.Call) and mark.args)
    ]
    assert not without


def test_nobody_skips() -> None:
    """A part that is not there is set up, or the case fails: a skipped case is one that nobody misses."""
    for name in ("skip", "skipif", "xfail"):
        assert not list(marks(name))


def test_one_place_decides() -> None:
    deciding = [
        str(path.relative_to(TESTS))
        for path in TESTS.rglob("conftest.py")
        if "pytest_collection_modifyitems" in path.read_text("utf-8")
    ]
    assert deciding == ["conftest.py"]


def test_each_part_of_deep_guards_files_and_asks_cases(subtests: pytest.Subtests) -> None:
    for name, part in deep.PARTS.items():
        with subtests.test(name):
            for pattern in part.guards:
                assert [path for path in deep.ROOT.glob(pattern) if path.is_file()], pattern
            for place in part.asks:
                assert (deep.ROOT / place).exists(), place


def test_no_two_parts_ask_the_same() -> None:
    """What one leaves to another lies whole inside what the other asks, and no two have a place in common."""
    asked = [place for part in deep.PARTS.values() for place in part.asks]
    assert len(set(asked)) == len(asked)
    assert deep.left_to_others("battery") == []
    assert set(deep.left_to_others("sandboxes")) == {
        place
        for name in ("battery", "gate", "senders", "novel", "beside", "walls", "relays")
        for place in deep.PARTS[name].asks
    }


def test_whatever_is_deep_is_asked_by_a_part() -> None:
    asked = [deep.ROOT / place for part in deep.PARTS.values() for place in part.asks]
    places = {path for path, _ in marks("deep")} | {TESTS / row.folder for row in rings.SECOND}
    places |= {TESTS / folder for folder in rings.DRAWN}
    own = Path(__file__)
    assert not [path for path in places - {own} if not any(path.is_relative_to(place) for place in asked)]


STORE = """
import pytest


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request):
    return request.param


def test_writes(database):
    pass


@pytest.mark.deep("it takes an hour")
def test_writes_for_an_hour():
    pass
"""
FUNCTIONAL = """
import pytest


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_command(database):
    pass
"""
UNIT = """
import pytest


def test_pure():
    pass


@pytest.mark.needs(process=True)
def test_with_a_child():
    pass
"""
TREE = {
    "elsewhere/test_store.py": STORE,
    "functional/test_commands.py": FUNCTIONAL,
    "unit/test_unit.py": UNIT,
}


@pytest.mark.needs(process=True)
def test_rings_and_needs_are_the_same_wherever_one_begins(tmp_path: Path) -> None:
    """A rule in one folder once took cases of others along, where both were collected."""
    whole = recorded_of(tmp_path / "whole", TREE)
    assert whole["quick"] == {"cases": 1}
    assert whole["test"] == {"cases": 4, "database=postgresql": 1, "database=sqlite": 2, "process=True": 1}
    assert whole["deep"] == {"cases": 2, "database=postgresql": 1}
    commands = recorded_of(tmp_path / "alone", {"functional/test_commands.py": FUNCTIONAL})
    assert (commands["test"], commands["deep"]) == (
        {"cases": 1, "database=sqlite": 1},
        {"cases": 1, "database=postgresql": 1},
    )
    without = TREE | {"elsewhere/test_store.py": STORE.replace(', "postgresql"', "")}
    fewer = rings.lost(whole, recorded_of(tmp_path / "fewer", without))
    assert fewer == {
        "test, cases": "4 on record, 3 found",
        "test, database=postgresql": "1 on record, 0 found",
    }


def recorded_of(place: Path, files: dict[str, str]) -> dict[str, dict[str, int]]:
    place.mkdir()
    ended = run_small(place, files, "--record-cases")
    record = place / "recorded" / "cases.json"
    assert record.is_file(), ended.said
    cases: dict[str, dict[str, int]] = json.loads(record.read_text("utf-8"))
    return cases
