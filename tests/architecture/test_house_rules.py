"""Rules of the house that a reader relies on."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from dulwich.repo import Repo
from source import ROOT, modules

LONGEST_FILE = 300
LONGEST_FUNCTION = 60
NO_SUCH_NAMES = {"utils", "util", "common", "helpers", "helper", "manager", "managers", "misc"}


def test_files_hold_one_noun() -> None:
    # flat tables may be long, and so may what is handed out as one file
    longer = {
        "sandbox_images/seccomp/syscalls.py",
        "dpgate/verification.py",
    }
    long = {
        module.place: lines
        for module in (*modules(), *modules("docs"))
        if (lines := len(module.path.read_text().splitlines())) > LONGEST_FILE and module.place not in longer
    }
    assert not long


def test_functions_read_as_steps() -> None:
    long = [
        f"{module.place}:{node.name}"
        for module in (*modules(), *modules("docs"))
        if "migrations" not in module.place
        for node in module.nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno > LONGEST_FUNCTION
    ]
    assert not long


def test_no_module_without_a_noun() -> None:
    every = (*modules(), *modules("docs"))
    assert not [module.place for module in every if NO_SUCH_NAMES & set(re.split(r"[/._]", module.place))]


@pytest.mark.parametrize("package", ["store", "desk", "gateway", "worker"])
def test_asserts_do_not_guard(package: str) -> None:
    """`python -O` drops asserts: they may narrow a type or state an impossibility, never check a right."""
    guards = [
        f"{module.place}:{node.lineno}"
        for module in modules(package)
        for node in module.nodes
        if isinstance(node, ast.Assert) and not _narrows(node.test)
    ]
    assert not guards


def _narrows(test: ast.expr) -> bool:
    is_not_none = (
        isinstance(test, ast.Compare)
        and isinstance(test.ops[0], ast.IsNot)
        and isinstance(test.comparators[0], ast.Constant)
    )
    is_instance = isinstance(test, ast.Call) and getattr(test.func, "id", "") == "isinstance"
    impossible = isinstance(test, ast.Constant) and test.value is False
    return is_not_none or is_instance or impossible


def test_every_state_move_of_the_code_is_a_row_of_the_table() -> None:
    """Code names states only through JobState: no string stands for a state."""
    from domain.states import JobState

    names = {str(state) for state in JobState}
    # TES and rehearsals have states of the same names, tables.py lists all of them as a constraint
    exempt = {"domain/states.py", "domain/rehearsal.py", "store/tables.py", "dpgate/job.py"}
    literal = [
        f"{module.place}:{node.lineno} {node.value}"
        for module in modules("domain", "twins", "store", "desk", "gateway", "worker")
        if module.place not in exempt and "migrations" not in module.place
        for node in module.nodes
        if isinstance(node, ast.Constant) and node.value in names
    ]
    assert not literal


def test_text_names_no_machine_and_no_registry() -> None:
    tracked = [path.decode() for path in Repo(ROOT).open_index()]
    forbidden = re.compile(
        rb"(?<![\w.}])/(?:work|farm|root)/|pypi\.org|files\.pythonhosted|registry\.npmjs|deb\.debian\.org|docker\.io/|--(?:extra-)?index-url"
    )
    own = {"tests/architecture/test_house_rules.py", "deploy/check-lock.sh"}
    found = []
    for name in tracked:
        path = ROOT / name
        if name in own or name.startswith("examples/heights/data/") or not path.is_file():
            continue
        found += [f"{name}: {match.group()!r}" for match in forbidden.finditer(path.read_bytes())]
    assert not found


def test_no_two_files_of_tests_share_a_name() -> None:
    """They are imported by their bare names: of two, pytest collects one."""
    tests = Path(__file__).parents[1]
    names = [path.name for path in tests.rglob("*.py") if path.name not in {"conftest.py", "__init__.py"}]
    assert [name for name in names if names.count(name) > 1] == []
