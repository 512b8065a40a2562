"""The page of known mistakes names the tests that load them, all of them, and none that no longer does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from mutant_table import rows_on_page

TESTS = Path(__file__).parents[1]
LOADERS = {"mutant", "load_mutant"}
# these look at the loader itself
OF_THE_LOADER = {
    "statistical/test_mutants.py::test_a_mutation_must_be_found_exactly_once",
    "statistical/test_mutants.py::test_mutants_are_copies_of_the_real_source",
}


def test_the_page_names_every_test_that_loads_a_mutant() -> None:
    on_page = {test for _, test in rows_on_page()}
    loading = set(loading_tests())
    assert {"store/ledger.py", "domain/states.py"} < {file for file, _ in rows_on_page()}
    assert on_page | OF_THE_LOADER == loading | OF_THE_LOADER, (
        "run `make test PYTEST_OPTIONS=--record-mutants`"
    )


def test_what_is_mutated_is_there() -> None:
    missing = {file for file, _ in rows_on_page() if not (TESTS.parent / file).is_file()}
    assert not missing


def test_no_test_that_loads_a_mutant_is_deep() -> None:
    deep = [test for test in loading_tests() if "mark.deep" in _decorators(test)]
    assert not deep


def loading_tests() -> Iterator[str]:
    for path in sorted(TESTS.rglob("test_*.py")):
        place = path.relative_to(TESTS)
        text = path.read_text("utf-8")
        if not any(f"import {loader}" in text for loader in LOADERS) and "load_mutant" not in text:
            continue
        functions = _functions(place)
        yield from (
            f"{place}::{name}" for name in functions if name.startswith("test_") and _loads(name, functions)
        )


@cache
def _functions(place: Path) -> dict[str, ast.FunctionDef]:
    tree = ast.parse((TESTS / place).read_text("utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def _loads(name: str, functions: dict[str, ast.FunctionDef], seen: frozenset[str] = frozenset()) -> bool:
    """Itself, or by a function or fixture of the same file."""
    words = {node.id for node in ast.walk(functions[name]) if isinstance(node, ast.Name)}
    words |= {argument.arg for argument in functions[name].args.args}
    called = {
        node.func.id
        for node in ast.walk(functions[name])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    if called & LOADERS:
        return True
    return any(_loads(word, functions, seen | {name}) for word in words & functions.keys() - seen - {name})


def _decorators(test: str) -> str:
    place, _, name = test.partition("::")
    return " ".join(map(ast.unparse, _functions(Path(place))[name].decorator_list))
