"""Tests wait in one way. Text that is run elsewhere, in a sandbox or in a child, may sleep as it likes."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
WAITS = {
    *("time.sleep", "time.monotonic", "time.monotonic_ns", "time.perf_counter", "time.perf_counter_ns"),
    "asyncio.sleep",
}
# who may look at the clock, and why
MAY = {
    "waiting.py": "waits for all",
    "deep.py": "says how long each part took, and stops in time",
    "security/battery/record.py": "says how long a battery took",
    "security/battery/bare.py": "stands in the place of a sandbox, which ends runs in time",
    "security/supervised/gate/novel_senders.py": "runs in a sandbox",
    "fuzz/search.py": "searches for as long as it is told",
    "functional/faults/test_turns_of_a_host.py": "says when each run was seen",
    "faults.py": "has a fault last for as long as was drawn",
    "random_faults.py": "says how long jobs took to end after faults",
}
# what takes for how long it is waited; less than a second is a look
_BY_NAME = ("timeout", "timeout_s", "deadline")
_BY_PLACE = ("join", "result", "settimeout")
# without one of these words a text holds no look and no such number: it need not be read as a program
_SAYS_LOOK = re.compile("|".join({word.split(".")[1] for word in WAITS}))
_SAYS_NUMBER = re.compile(rf"{'|'.join(_BY_NAME)}|\.\s*({'|'.join(_BY_PLACE)})\s*\(\s*[\d(.]")
LAST_WORD = "wait_until and let_pass of tests/waiting.py are the only ways to wait"


def looks_at_the_clock(text: str) -> list[str]:
    """`line call` of each look and each sleep."""
    if not _SAYS_LOOK.search(text):
        return []
    tree = ast.parse(text)
    names = _names_of_the_clock(tree)
    called = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute | ast.Name))
    words = ((node.lineno, names.get(ast.unparse(node), ast.unparse(node))) for node in called)
    return [f"{line} {word}" for line, word in words if word in WAITS]


def deadlines_in(text: str) -> list[str]:
    """`line call` of each that is told a number of seconds: patience is PATIENCE_S."""
    if not _SAYS_NUMBER.search(text):
        return []
    calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return [f"{call.lineno} {ast.unparse(call.func)}" for call in calls if any(map(_is_long, _given(call)))]


def _given(call: ast.Call) -> list[ast.expr]:
    by_name = [word.value for word in call.keywords if word.arg in _BY_NAME]
    has_place = isinstance(call.func, ast.Attribute) and call.func.attr in _BY_PLACE
    return [*by_name, *(call.args[:1] if has_place else ())]


def _is_long(given: ast.expr) -> bool:
    return isinstance(given, ast.Constant) and isinstance(given.value, int | float) and given.value >= 1


def _names_of_the_clock(tree: ast.AST) -> dict[str, str]:
    """What `from time import sleep as rest` makes of the names."""
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in ("time", "asyncio")
        for alias in node.names
    }


def test_no_test_waits_by_itself() -> None:
    found = [
        f"tests/{path.relative_to(TESTS)}:{look}"
        for path in sorted(TESTS.rglob("*.py"))
        if str(path.relative_to(TESTS)) not in MAY
        for look in looks_at_the_clock(path.read_text("utf-8"))
    ]
    assert not found, LAST_WORD


def test_no_test_has_a_deadline_of_its_own() -> None:
    found = [
        f"tests/{path.relative_to(TESTS)}:{call}"
        for path in sorted(TESTS.rglob("*.py"))
        for call in deadlines_in(path.read_text("utf-8"))
    ]
    assert not found, LAST_WORD


@pytest.mark.parametrize(
    "text", ["child.join(30)", "run(command, timeout=60)", "ours.settimeout(5)", "running.result(10)"]
)
def test_each_deadline_is_found(text: str) -> None:
    assert deadlines_in(text)
    assert not deadlines_in(re.sub(r"\d+", "PATIENCE_S", text))
    assert not deadlines_in(re.sub(r"\d+", "0", text))


def test_whoever_may_look_at_the_clock_does() -> None:
    for place in MAY:
        assert looks_at_the_clock((TESTS / place).read_text("utf-8")), f"{place} need not be named"


@pytest.mark.parametrize(
    "text",
    [
        "import time\ntime.sleep(1)",
        "from time import sleep\nsleep(1)",
        "from time import monotonic as now\nend = now() + 9",
        "import time\nlook = time.perf_counter",
        "import asyncio\nasync def test(): await asyncio.sleep(1)",
    ],
)
def test_each_way_to_wait_is_found(text: str) -> None:
    assert looks_at_the_clock(text)


def test_scripts_for_elsewhere_are_left_alone() -> None:
    assert not looks_at_the_clock("SCRIPT = 'import time; time.sleep(600)'\nclock.sleep(1)")
