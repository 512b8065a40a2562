"""Names of messages stand once, and every one of them is somebody's work."""

from __future__ import annotations

import ast

import pytest
from source import ROOT, modules

from domain.messages import Message, kind_of
from domain.operation import WorkKind

HOME = "domain/messages.py"


def test_every_message_has_a_kind_and_every_kind_a_message() -> None:
    assert {message.kind for message in Message} == {*WorkKind, None}
    assert [message for message in Message if message.kind is None] == [Message.SWEEP]
    assert kind_of(Message.PROFILE.value) is WorkKind.PROFILES
    assert kind_of("dpgate.of_another_version") is None


def test_workers_have_a_task_for_every_message() -> None:
    tree = ast.parse((ROOT / "worker/tasks.py").read_text(encoding="utf-8"))
    decorators = (
        each for node in tree.body if isinstance(node, ast.FunctionDef) for each in node.decorator_list
    )
    names = [
        ast.unparse(keyword.value)
        for call in decorators if isinstance(call, ast.Call)
        for keyword in call.keywords if keyword.arg == "name"
    ]  # fmt: skip
    assert sorted(names) == sorted(f"Message.{message.name}.value" for message in Message)


@pytest.mark.parametrize("package", ["desk", "gateway", "worker", "store", "domain", "twins"])
def test_no_other_file_spells_the_name_of_a_message(package: str) -> None:
    names = set(Message)
    spelt = [
        f"{module.place} has {node.value!r}"
        for module in modules(package)
        if module.place != HOME
        for node in module.nodes
        if isinstance(node, ast.Constant) and node.value in names
    ]
    assert not spelt
