"""What a refusal tells somebody to type can be typed: the command is there, with all that it asks for.

Words in braces or in capitals stand for what the reader knows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from dpgate.cli.app import whole

ROOT = Path(__file__).parents[2]
ROOMS = ("domain", "store", "desk", "gateway", "worker", "twins", "dpgate")
WHOLE: Any = typer.main.get_command(whole())
STEP = re.compile(r"`(dpgate(?: [^`]+)?)`")


def steps() -> Iterator[tuple[str, str]]:
    """Every command in backticks of a text that is no docstring, and where it stands."""
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            if path.is_relative_to(ROOT / "dpgate" / "cli"):
                continue  # mostly help, which names a command without what it takes
            tree = ast.parse(path.read_text(encoding="utf-8"))
            docs = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
            joined = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
            inside = {id(part) for node in joined for part in node.values}
            for node in ast.walk(tree):
                if id(node) in docs or id(node) in inside:
                    continue
                for step in STEP.findall(_text(node)):
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", step


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or "{}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def lacking(step: str) -> list[str]:
    """What the command would still ask for; all of it where there is no such command."""
    command = WHOLE
    words = step.split()[1:]
    while words and hasattr(command, "commands"):
        if words[0] not in command.commands:
            return [f"there is no {words[0]}"]
        command = command.commands[words.pop(0)]
    given = [word for word in words if not word.startswith("-")]
    asked = []
    for parameter in command.params:
        if not parameter.required:
            continue
        if type(parameter).__name__.endswith("Argument"):
            asked += [] if given else [parameter.name.upper()]
            given = given[1:]
        elif not set(parameter.opts) & set(words):
            asked.append(parameter.opts[0])
    return asked


def test_a_step_can_be_typed_as_it_stands(subtests: pytest.Subtests) -> None:
    found = {step: place for place, step in steps()}
    assert len(found) > 30
    for step, place in found.items():
        with subtests.test(step):
            assert not lacking(step), f"{place}: `{step}` lacks {', '.join(lacking(step))}"
