"""What the isolation of a run rests on is a short list, and the list is true."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import trusted_base
from source import PACKAGES, modules
from trusted_base import (
    CONFINED,
    CORE,
    known,
    lines_of,
    of_the_core,
    of_the_inputs,
    of_the_languages,
    reached,
    says_nothing,
)

CONTRACT = "worker.sandbox.protocol"
PARTS = {
    "Whatever a run is given": of_the_core,
    "What a run is given": of_the_inputs,
    "What a warm run in R begins with": of_the_languages,
}


@pytest.mark.parametrize("title", PARTS)
def test_security_lists_the_files_that_are_reached_and_no_more_lines_than_it_says(title: str) -> None:
    """To grow, say so there: somebody reads all of it."""
    files, most_lines, named = trusted_base.listed()[title]
    found = PARTS[title]()
    assert named == {place for place in found if not says_nothing(place)}
    assert len(found) == files
    assert lines_of(found) <= most_lines


def test_a_file_that_is_not_listed_or_too_long_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    page = trusted_base.PAGE.read_text(encoding="utf-8")
    files, most_lines, _ = trusted_base.listed()["Whatever a run is given"]
    changed = page.replace("`slot.py`, ", "").replace(f"{files} files", f"{files - 1} files")
    short = changed.replace(f"at most {most_lines:,} lines", "at most 10 lines")
    assert len({page, changed, short}) == 3
    monkeypatch.setattr(type(trusted_base.PAGE), "read_text", lambda *_, **__: short)
    found = trusted_base.listed()["Whatever a run is given"]
    assert found[:2] == (files - 1, 10)
    assert CORE + "slot.py" not in found[2]


OURS = set(PACKAGES)


def test_the_core_imports_itself_the_contract_and_what_lies_inside() -> None:
    """So no view or part, no store and no gateway, no engine, preflight or battery."""
    allowed = ("worker.sandbox.core.", f"{CONTRACT}.", "sandbox_images.")
    wrong = [
        f"{module.place} imports {name}"
        for module in modules("worker")
        if module.place.startswith(CORE)
        for name in module.imports
        if name.split(".")[0] in OURS and not f"{name}.".startswith(allowed)
    ]
    assert not wrong


LOOKS = ("docker_engine/", "battery/", "preflight.py", "host_features.py")


def test_what_isolates_knows_nothing_of_what_looks_at_it() -> None:
    everything = of_the_core() | of_the_inputs()
    assert not [place for place in everything if place.split("/")[0] not in ("worker", "sandbox_images")]
    asked = reached(["worker/sandbox/probed.py"])  # the control: it is the same backend, and looks
    for other in LOOKS[2:]:
        assert f"worker/sandbox/{other}" in asked
    for other in LOOKS:
        assert not [place for place in everything if place.startswith(f"worker/sandbox/{other}")]


def test_what_is_left_out_is_executed_by_runs_that_are_confined_and_by_nobody_before() -> None:
    """To import it defines functions and constants; a run's child calls them after its last step."""
    name = Path(CONFINED).stem
    head, *statements = known()[CONFINED].tree.body
    assert isinstance(head, ast.Expr)
    assert {type(each) for each in statements} <= {ast.Import, ast.ImportFrom, ast.Assign, ast.FunctionDef}
    done = [each for each in statements if isinstance(each, ast.Assign)]
    done += [
        part
        for each in statements
        if isinstance(each, ast.FunctionDef)
        for part in (*each.decorator_list, *each.args.defaults, *each.args.kw_defaults)
    ]
    assert not [each for part in done if part for each in ast.walk(part) if isinstance(each, ast.Call)]
    imported_by = [each.place for each in modules() if f"sandbox_images.supervisor.{name}" in each.imports]
    assert imported_by == ["sandbox_images/supervisor/zygote.py"]
    zygote = known()[imported_by[0]].tree
    child = next(each for each in ast.walk(zygote) if getattr(each, "name", "") == "_run")
    confined = [_names("say_ready", each) for each in child.body].index(1) + 1
    assert sum(_names(name, each) for each in child.body[confined:]) == _names(name, zygote) > 0


def _names(name: str, tree: ast.AST) -> int:
    """How often it is named in there: `name`, or something of it."""
    return sum(name in (getattr(each, "id", ""), getattr(each, "attr", "")) for each in ast.walk(tree))
